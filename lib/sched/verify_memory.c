/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks' buffers hold while the verifier runs, and who touched them.
 *
 * A clock counts operations of every lane that can reach the same memory: all
 * ranks' lanes in a mapped schedule, one rank's own lanes otherwise; with one
 * lane and own memory only, order is given and nothing is kept.  Slices never
 * meet in memory, so each slice has clocks of its own, which notifications
 * join all at once.  Time 1 is the begin of a rank, operation k is time k + 2.
 *
 * In place and apart at once (v->both).  The run is the one in place, where
 * chunks of IN are cells of OUT, and every value is kept the same in both:
 *  - IN is read only while it holds what it began with, and OUT only once an
 *    operation has written it, as it must be when they are apart;
 *  - a copy of IN onto itself changes nothing in place, and apart it makes the
 *    cell one that was written, to what it holds;
 *  - all other stores are the same, and so are messages and SCRATCH.
 * The accesses to OUT alone are ordered a second time (m->apart), where that
 * copy counts as a store.  What breaks one of these may still be sound, as two
 * runs would tell; what does not is sound in place and apart.
 */
#include "config.h"

#include "sched/verify_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t lane_index(const struct tutti_verifier *v, int rank,
			 uint32_t lane)
{
	return (size_t)rank * v->lanes + lane;
}

uint32_t *tutti_clock(struct tutti_verifier *v, int rank, uint32_t lane,
		      uint32_t slice)
{
	size_t i = lane_index(v, tutti_home(v, rank), lane) * v->slices + slice;

	return v->mem.clocks + i * v->mem.width;
}

void tutti_clock_join(struct tutti_verifier *v, uint32_t *a,
		      const uint32_t *b)
{
	for (uint32_t i = 0; i < v->mem.width; i++)
		a[i] = a[i] > b[i] ? a[i] : b[i];
}

void tutti_clock_learn(struct tutti_verifier *v, uint32_t *a,
		       const uint32_t *b, int from)
{
	uint32_t n = v->mem.width, by;

	if (!v->turn.on) {
		tutti_clock_join(v, a, b);
		return;
	}
	by = (uint32_t)from * v->lanes;
	for (uint32_t i = 0; i < n - by; i++)
		a[i + by] = a[i + by] > b[i] ? a[i + by] : b[i];
	for (uint32_t i = n - by; i < n; i++)
		a[i + by - n] = a[i + by - n] > b[i] ? a[i + by - n] : b[i];
}

/* The entry of a lane in a clock of its own rank or of all. */
static uint32_t who(const struct tutti_verifier *v, int rank, uint32_t lane)
{
	return v->mem.global ? (uint32_t)lane_index(v, rank, lane) : lane;
}

/* ---- Set up ------------------------------------------------------------ */

static bool init_clocks(struct tutti_verifier *v)
{
	struct tutti_memory *m = &v->mem;
	size_t lanes = (size_t)v->homes * v->lanes;

	m->global = v->any->mapped || v->any->coll == TUTTI_BARRIER;
	m->width = m->global ? (uint32_t)v->ranks * v->lanes : v->lanes;
	m->access = calloc(m->ncells + 1, sizeof(*m->access));
	m->clocks = calloc(lanes * v->slices, m->width * sizeof(*m->clocks));
	if (v->both)
		m->apart = calloc(m->ncells + 1, sizeof(*m->apart));
	if (!m->access || !m->clocks || (v->both && !m->apart))
		return false;
	if (m->global) {
		m->touched = calloc((size_t)v->homes * v->slices,
				    m->width * sizeof(*m->touched));
		if (!m->touched)
			return false;
	}
	for (int r = 0; r < v->homes; r++)
		for (uint32_t l = 0; l < v->lanes; l++)
			for (uint32_t s = 0; s < v->slices; s++)
				for (uint32_t o = 0; o < v->lanes; o++)
					tutti_clock(v, r, l, s)[who(v, r, o)] = 1;
	return true;
}

/* Room to keep the clock of every operation that a wait may name. */
static bool init_seen(struct tutti_verifier *v)
{
	struct tutti_memory *m = &v->mem;
	size_t lanes = (size_t)v->homes * v->lanes, n = 0;

	m->seen_base = calloc(lanes, sizeof(*m->seen_base));
	if (!m->seen_base)
		return false;
	for (size_t i = 0; i < lanes; i++) {
		m->seen_base[i] = n;
		n += (size_t)v->state[i].nops * v->slices;
	}
	m->seen = calloc(n + 1, m->width * sizeof(*m->seen));
	v->depth_seen = calloc(n + 1, sizeof(*v->depth_seen));
	return m->seen && v->depth_seen;
}

/* IN and OUT are one memory: OUT begins with this rank's contribution. */
static void fill_in_place(struct tutti_verifier *v, int rank)
{
	uint32_t chunks = tutti_sched_chunks(v->scheds[rank], TUTTI_IN);

	for (uint32_t c = 0; c < chunks; c++) {
		struct tutti_cell *cell = tutti_cell(v, rank, TUTTI_IN, c);

		for (uint32_t s = 0; cell && s < v->slices * v->parts; s++)
			cell[s].value = tutti_expr_leaf(&v->exprs,
							(uint32_t)rank, c);
	}
}

bool tutti_memory_init(struct tutti_verifier *v)
{
	struct tutti_memory *m = &v->mem;
	size_t n = 0;

	m->base = calloc((size_t)v->homes, sizeof(*m->base));
	if (!m->base)
		return false;
	for (int r = 0; r < v->homes; r++) {
		m->base[r] = n;
		if (v->scheds[r])
			n += ((size_t)tutti_sched_chunks(v->scheds[r],
							 TUTTI_OUT) +
			      v->scheds[r]->scratch) * v->slices * v->parts;
	}
	m->ncells = n;
	m->cells = calloc(n + 1, sizeof(*m->cells));
	if (!m->cells)
		return false;
	if (v->any->mapped || v->any->coll == TUTTI_BARRIER || v->lanes > 1)
		if (!init_clocks(v))
			return false;
	if (v->lanes > 1 && !init_seen(v))
		return false;
	for (int r = 0; v->in_place && r < v->homes; r++)
		fill_in_place(v, r);
	return true;
}

static void free_access(struct tutti_access *a, size_t n)
{
	for (size_t i = 0; a && i < n; i++)
		free(a[i].readers);
	free(a);
}

void tutti_memory_fini(struct tutti_verifier *v)
{
	struct tutti_memory *m = &v->mem;

	free_access(m->access, m->ncells);
	free_access(m->apart, m->ncells);
	free(m->base);
	free(m->cells);
	free(m->clocks);
	free(m->touched);
	free(m->seen);
	free(m->seen_base);
}

/* ---- Cells ------------------------------------------------------------- */

/* In place: which chunk of OUT is this chunk of IN?  False if none. */
static bool in_is_out(const struct tutti_verifier *v, int rank, uint32_t chunk,
		      uint32_t *out)
{
	const struct tutti_sched *s = v->any;

	*out = chunk;
	switch (v->in_place ? s->coll : TUTTI_COLLS) {
	case TUTTI_ALL_REDUCE:
		return true;
	case TUTTI_REDUCE:
	case TUTTI_BROADCAST:
		return rank == s->root;
	case TUTTI_ALL_GATHER:
		*out = (uint32_t)rank * s->pieces + chunk;
		return true;
	case TUTTI_REDUCE_SCATTER:
		*out = chunk % s->pieces;
		return chunk / s->pieces == (uint32_t)rank;
	/* The root's own block lies in its full buffer. */
	case TUTTI_GATHER:
		*out = (uint32_t)rank * s->pieces + chunk;
		return rank == s->root;
	case TUTTI_SCATTER:
		*out = chunk % s->pieces;
		return rank == s->root &&
		       chunk / s->pieces == (uint32_t)rank;
	default:
		return false;
	}
}

struct tutti_cell *tutti_cell(struct tutti_verifier *v, int rank, int place,
			      uint32_t chunk)
{
	const struct tutti_sched *s = v->scheds[rank];
	size_t i;

	if (place == TUTTI_IN) {
		if (!in_is_out(v, rank, chunk, &chunk))
			return NULL;
		place = TUTTI_OUT;
	}
	if (v->turn.on)
		chunk = tutti_turn_chunk(&v->turn, s, place, chunk, -rank);
	i = chunk;
	if (place == TUTTI_SCRATCH)
		i += tutti_sched_chunks(s, TUTTI_OUT);
	i *= (size_t)v->slices * v->parts;
	return &v->mem.cells[v->mem.base[tutti_home(v, rank)] + i];
}

/* The one that fires now: all parts go through the same SCRATCH. */
static struct tutti_cell *cell_now(struct tutti_verifier *v,
				   struct tutti_spot spot)
{
	struct tutti_cell *cells = tutti_cell(v, spot.rank, spot.place,
					      spot.chunk);
	uint32_t part = spot.place == TUTTI_SCRATCH ? 0 : v->part;

	return cells ? cells + part * v->slices + v->slice : NULL;
}

/* ---- Order of accesses ------------------------------------------------- */

/* What is kept about a rank's memory names other ranks' lanes as that rank
 * sees them: turned, by so many entries less. */
static uint32_t turned_by(const struct tutti_verifier *v,
			  struct tutti_spot spot)
{
	return v->turn.on && v->mem.global ? (uint32_t)spot.rank * v->lanes : 0;
}

/* The entry of a clock for what was kept. */
static uint32_t entry(const struct tutti_verifier *v, struct tutti_spot spot,
		      uint32_t kept)
{
	uint32_t i = kept + turned_by(v, spot);

	return i >= v->mem.width ? i - v->mem.width : i;
}

/* And what to keep for an entry. */
static uint32_t kept(const struct tutti_verifier *v, struct tutti_spot spot,
		     uint32_t i)
{
	uint32_t by = turned_by(v, spot);

	return i >= by ? i - by : i + v->mem.width - by;
}

/* Other ranks' memory: only once its owner has begun. */
static bool touch(struct tutti_verifier *v, struct tutti_spot spot,
		  const uint32_t *clock, uint32_t me)
{
	char text[64];
	size_t i;

	if (spot.rank == v->rank)
		return true;
	if (!clock[who(v, spot.rank, 0)])
		return tutti_breach_op(v, "touches %s before that rank is known to have begun",
				       tutti_spot_text(text, sizeof(text),
						       spot));
	i = (size_t)tutti_home(v, spot.rank) * v->slices + v->slice;
	v->mem.touched[i * v->mem.width + kept(v, spot, me)] = clock[me];
	return true;
}

static bool race(struct tutti_verifier *v, struct tutti_spot spot,
		 const char *what, const char *before, uint32_t other,
		 uint32_t when)
{
	char text[64];
	int rank;

	other = entry(v, spot, other);
	rank = v->mem.global ? (int)(other / v->lanes) : v->rank;

	return tutti_breach_op(v, "%s %s, unordered with operation %u of rank %d, lane %u, which %s it",
			       what, tutti_spot_text(text, sizeof(text), spot),
			       when - 2, rank, other % v->lanes, before);
}

static bool order_read(struct tutti_verifier *v, struct tutti_spot spot,
		       struct tutti_access *a, const uint32_t *clock,
		       uint32_t me)
{
	uint32_t own = kept(v, spot, me);

	if (a->write_when > clock[entry(v, spot, a->write_who)])
		return race(v, spot, "reads", "writes", a->write_who,
			    a->write_when);
	if (a->readers) {
		a->readers[own] = clock[me];
		return true;
	}
	if (a->read_when > clock[entry(v, spot, a->read_who)]) {
		a->readers = calloc(v->mem.width, sizeof(*a->readers));
		if (!a->readers)
			return tutti_verify_no_memory(v);
		a->readers[a->read_who] = a->read_when;
		a->readers[own] = clock[me];
		return true;
	}
	a->read_who = own;
	a->read_when = clock[me];
	return true;
}

static bool order_write(struct tutti_verifier *v, struct tutti_spot spot,
			struct tutti_access *a, const uint32_t *clock,
			uint32_t me)
{
	if (a->write_when > clock[entry(v, spot, a->write_who)])
		return race(v, spot, "writes", "writes", a->write_who,
			    a->write_when);
	if (!a->readers &&
	    a->read_when > clock[entry(v, spot, a->read_who)])
		return race(v, spot, "writes", "reads", a->read_who,
			    a->read_when);
	for (uint32_t i = 0; a->readers && i < v->mem.width; i++)
		if (a->readers[i] > clock[entry(v, spot, i)])
			return race(v, spot, "writes", "reads", i,
				    a->readers[i]);
	free(a->readers);
	*a = (struct tutti_access){ .write_who = kept(v, spot, me),
				    .write_when = clock[me] };
	return true;
}

static bool order_one(struct tutti_verifier *v, struct tutti_spot spot,
		      struct tutti_access *a, bool write)
{
	const uint32_t *clock = tutti_clock(v, v->rank, v->lane, v->slice);
	uint32_t me = who(v, v->rank, v->lane);

	return write ? order_write(v, spot, a, clock, me) :
		       order_read(v, spot, a, clock, me);
}

/* Check and note one access; `cell` may be NULL for IN. */
static bool order(struct tutti_verifier *v, struct tutti_spot spot,
		  const struct tutti_cell *cell, bool write)
{
	struct tutti_memory *m = &v->mem;
	size_t i;

	if (!m->access)
		return true;
	if (!touch(v, spot, tutti_clock(v, v->rank, v->lane, v->slice),
		   who(v, v->rank, v->lane)))
		return false;
	if (!cell)
		return true;
	i = (size_t)(cell - m->cells);
	if (m->apart && spot.place == TUTTI_OUT &&
	    !order_one(v, spot, &m->apart[i], write))
		return false;
	return order_one(v, spot, &m->access[i], write);
}

/* ---- Reading and writing ------------------------------------------------ */

/* IN that holds data: not of those whose send buffer counts for nothing. */
static bool has_in(const struct tutti_verifier *v, int rank)
{
	return !tutti_coll_from_root(v->any->coll) || rank == v->any->root;
}

/* OUT that the collective promises. */
static bool has_out(const struct tutti_verifier *v, int rank)
{
	return !tutti_coll_to_root(v->any->coll) || rank == v->any->root;
}

static bool check_spot(struct tutti_verifier *v, struct tutti_spot spot,
		       uint32_t piece)
{
	const struct tutti_sched *owner = v->scheds[spot.rank];
	char text[64];

	if (spot.rank != v->rank && !v->any->mapped)
		return tutti_breach_op(v, "touches %s in a schedule that is not mapped",
				       tutti_spot_text(text, sizeof(text),
						       spot));
	if (!owner || spot.chunk >= tutti_sched_chunks(owner, spot.place))
		return tutti_breach_op(v, "names %s, which does not exist",
				       tutti_spot_text(text, sizeof(text),
						       spot));
	if (spot.place != TUTTI_SCRATCH && spot.chunk % owner->pieces != piece)
		return tutti_breach_op(v, "takes %s for a chunk of piece %u",
				       tutti_spot_text(text, sizeof(text),
						       spot), piece);
	return true;
}

static bool breach_at(struct tutti_verifier *v, struct tutti_spot spot,
		      const char *fmt)
{
	char text[64], why[160];
	const char *at = strstr(fmt, "%s");

	tutti_spot_text(text, sizeof(text), spot);
	snprintf(why, sizeof(why), "%.*s%s%s", (int)(at - fmt), fmt, text,
		 at + 2);
	return tutti_breach_op(v, "%s", why);
}

/* The number that a piece has in the cells of spot's owner. */
static uint32_t home_piece(const struct tutti_verifier *v,
			   struct tutti_spot spot, uint32_t piece)
{
	return v->turn.on ? tutti_turn_piece(&v->turn, v->any, piece,
					     -spot.rank) : piece;
}

/* Whether a cell holds what it would hold if IN and OUT were apart. */
static bool same_apart(const struct tutti_verifier *v, struct tutti_spot spot,
		       const struct tutti_cell *cell)
{
	if (spot.place == TUTTI_IN)
		return tutti_expr_turn(&v->exprs, cell->value, spot.rank) ==
		       tutti_expr_leaf(&v->exprs, (uint32_t)spot.rank,
				       spot.chunk);
	return spot.place != TUTTI_OUT || cell->written;
}

uint32_t tutti_memory_read(struct tutti_verifier *v, struct tutti_spot spot,
			   uint32_t piece, uint32_t at)
{
	struct tutti_cell *cell;

	if (!check_spot(v, spot, piece))
		return 0;
	if (spot.place == TUTTI_IN && !has_in(v, spot.rank))
		return breach_at(v, spot, "reads %s, which holds nothing");
	cell = cell_now(v, spot);
	if (!cell)
		return !order(v, spot, NULL, false) ? 0 :
		       tutti_expr_leaf(&v->exprs, (uint32_t)spot.rank,
				       spot.chunk);
	if (!cell->value || (spot.place == TUTTI_SCRATCH &&
			     cell->part != v->part))
		return breach_at(v, spot, "reads %s before it is written");
	if (v->both && !same_apart(v, spot, cell))
		return breach_at(v, spot, "reads in %s what is not there if IN and OUT are apart");
	if (spot.place == TUTTI_SCRATCH &&
	    cell->piece != home_piece(v, spot, piece))
		return breach_at(v, spot, "reads %s as another piece than it holds");
	if (cell->read_by == v->firing && cell->read_at != at)
		at = UINT32_MAX;
	cell->read_by = v->firing;
	cell->read_at = at;
	return order(v, spot, cell, false) ?
	       tutti_expr_turn(&v->exprs, cell->value, spot.rank) : 0;
}

static bool is_partial_sum(const struct tutti_verifier *v, uint32_t value)
{
	struct tutti_expr x = tutti_expr_get(&v->exprs, value);

	return x.kind == TUTTI_EXPR_ADD || x.kind == TUTTI_EXPR_STEP;
}

bool tutti_memory_write(struct tutti_verifier *v, struct tutti_spot spot,
			uint32_t piece, uint32_t at, uint32_t value)
{
	struct tutti_cell *cell;

	if (!check_spot(v, spot, piece))
		return false;
	if (spot.place == TUTTI_IN)
		return breach_at(v, spot, "writes %s");
	if (spot.place == TUTTI_OUT && !has_out(v, spot.rank))
		return breach_at(v, spot, "writes %s, which is not promised");
	cell = cell_now(v, spot);
	if (cell->written_by == v->firing)
		return breach_at(v, spot, "writes %s twice");
	if (cell->read_by == v->firing && cell->read_at != at)
		return breach_at(v, spot, "writes %s while it reads it for another target");
	if (!order(v, spot, cell, true))
		return false;
	if (spot.place == TUTTI_OUT && v->reduces &&
	    is_partial_sum(v, value))
		v->report->sums_in_out = true;
	value = tutti_expr_turn(&v->exprs, value, -spot.rank);
	piece = home_piece(v, spot, piece);
	if (cell->value == value &&
	    (spot.place != TUTTI_SCRATCH || cell->part == v->part))
		return breach_at(v, spot, "writes to %s what is there already");
	cell->written_by = v->firing;
	cell->written = true;
	cell->value = value;
	cell->piece = piece;
	cell->part = v->part;
	return true;
}

bool tutti_memory_stay(struct tutti_verifier *v, struct tutti_spot from,
		       struct tutti_spot spot, uint32_t piece, uint32_t at)
{
	struct tutti_memory *m = &v->mem;
	struct tutti_cell *cell;

	if (!check_spot(v, from, piece) || !check_spot(v, spot, piece))
		return false;
	cell = spot.place == TUTTI_OUT ? cell_now(v, spot) : NULL;
	if (!cell || cell != cell_now(v, from) || !has_out(v, spot.rank) ||
	    spot.rank != v->rank || cell->written ||
	    cell->written_by == v->firing ||
	    (cell->read_by == v->firing && cell->read_at != at))
		return breach_at(v, spot, "copies IN to %s, which cannot be both stay and store");
	if (m->apart &&
	    !order_one(v, spot, &m->apart[cell - m->cells], true))
		return false;
	cell->written_by = v->firing;
	cell->written = true;
	return true;
}

/* ---- The end ----------------------------------------------------------- */

/* What a rank knows of a slice when all its lanes have ended. */
static void end_clock(struct tutti_verifier *v, int rank, uint32_t slice,
		      uint32_t *end)
{
	memset(end, 0, v->mem.width * sizeof(*end));
	for (uint32_t l = 0; l < v->lanes; l++)
		tutti_clock_join(v, end, tutti_clock(v, rank, l, slice));
}

static bool check_rank_end(struct tutti_verifier *v, int rank, uint32_t slice,
			   const uint32_t *end)
{
	size_t row = (size_t)rank * v->slices + slice;
	const uint32_t *touched = v->mem.touched + row * v->mem.width;

	for (uint32_t i = 0; i < v->mem.width; i++) {
		if (touched[i] > end[i])
			return tutti_breach(v, "rank %d ends before operation %u of rank %u, lane %u has left its memory",
					    rank, touched[i] - 2, i / v->lanes,
					    i % v->lanes);
		if (v->any->coll == TUTTI_BARRIER && !end[i])
			return tutti_breach(v, "rank %d ends before it knows that rank %u has begun",
					    rank, i / v->lanes);
	}
	return true;
}

bool tutti_memory_check_end(struct tutti_verifier *v)
{
	uint32_t *end;
	bool ok = true;

	if (!v->mem.global)
		return true;
	end = malloc(v->mem.width * sizeof(*end));
	if (!end)
		return tutti_verify_no_memory(v);
	for (int r = 0; ok && r < v->homes; r++)
		for (uint32_t s = 0; ok && s < v->slices; s++) {
			end_clock(v, r, s, end);
			ok = check_rank_end(v, r, s, end);
		}
	free(end);
	return ok;
}
