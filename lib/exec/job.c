/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job's memory, and how a count of elements is cut into pieces and slices.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "exec/job.h"

#include <stdlib.h>
#include <string.h>

/* Pieces and slices begin on this many bytes where they are long enough, so
 * that ranks do not write to one line. */
#define ALIGN_BYTES 128
/* From this many bytes over all ranks' outputs on, what is stored is out of
 * the cache before it is read. */
#define STREAM_BYTES ((size_t)16 << 20)

tuttiResult_t tutti_job_init(struct tutti_job *j, const struct tutti_exec *e)
{
	size_t n = (size_t)e->ranks;

	memset(j, 0, sizeof(*j));
	j->exec = e;
	j->in_of = calloc(n, sizeof(*j->in_of));
	j->out_of = calloc(n, sizeof(*j->out_of));
	j->in_region = calloc(n, sizeof(*j->in_region));
	j->out_region = calloc(n, sizeof(*j->out_region));
	if (j->in_of && j->out_of && j->in_region && j->out_region)
		return tuttiSuccess;
	tutti_job_fini(j);
	return tutti_fail(tuttiSystemError, "out of memory");
}

void tutti_job_init_mail(struct tutti_job *j, const struct tutti_exec *e)
{
	memset(j, 0, sizeof(*j));
	j->exec = e;
}

void tutti_job_fini(struct tutti_job *j)
{
	free(j->scratch);
	free(j->src);
	free(j->dst);
	free(j->mail);
	free(j->plain);
	free(j->temps);
	free(j->in_of);
	free(j->out_of);
	free(j->in_region);
	free(j->out_region);
	memset(j, 0, sizeof(*j));
}

static tuttiResult_t grow_refs(struct tutti_job *j, uint32_t n)
{
	free(j->src);
	free(j->dst);
	free(j->mail);
	free(j->plain);
	j->src = calloc(n, sizeof(*j->src));
	j->dst = calloc(n, sizeof(*j->dst));
	j->mail = calloc(n, sizeof(*j->mail));
	j->plain = calloc(n, sizeof(*j->plain));
	j->refs_max = j->src && j->dst && j->mail && j->plain ? n : 0;
	if (j->refs_max)
		return tuttiSuccess;
	return tutti_fail(tuttiSystemError, "out of memory");
}

static tuttiResult_t grow_scratch(struct tutti_job *j, size_t bytes)
{
	if (bytes <= j->scratch_bytes)
		return tuttiSuccess;
	free(j->scratch);
	j->scratch = aligned_alloc(4096, tutti_round_up(bytes, 4096));
	j->scratch_bytes = j->scratch ? bytes : 0;
	if (j->scratch)
		return tuttiSuccess;
	return tutti_fail(tuttiSystemError, "out of memory for %zu bytes of "
			  "scratch", bytes);
}

static tuttiResult_t grow_temps(struct tutti_job *j, uint32_t levels)
{
	if (levels <= j->levels)
		return tuttiSuccess;
	free(j->temps);
	j->temps = aligned_alloc(TUTTI_TEMP_BYTES,
				 (size_t)levels * TUTTI_TEMP_BYTES);
	j->levels = j->temps ? levels : 0;
	if (j->temps)
		return tuttiSuccess;
	return tutti_fail(tuttiSystemError, "out of memory");
}

/* Elements for `bytes` bytes, at least one, aligned if that is many. */
static size_t whole_elems(size_t bytes, size_t elem)
{
	if (bytes >= 4 * ALIGN_BYTES)
		bytes = bytes / ALIGN_BYTES * ALIGN_BYTES;
	return tutti_max(bytes / elem, 1);
}

static void cut(struct tutti_cut *c, const struct tutti_exec *e,
		const struct tutti_program *p, size_t count, size_t elem)
{
	size_t piece = (count + p->pieces - 1) / p->pieces;
	size_t slot = e->slot_bytes / p->chunks_max;

	if (piece * elem >= 4 * ALIGN_BYTES)
		piece = tutti_round_up(piece * elem, ALIGN_BYTES) / elem;
	if (e->slice_bytes && e->slice_bytes < slot)
		slot = e->slice_bytes;
	c->p = p;
	c->elem = c->wire = elem;
	c->piece_elems = piece;
	c->slice_elems = p->moves_mail ? whole_elems(slot, elem) : piece;
	c->slices = 1;
	if (piece > c->slice_elems)
		c->slices = (uint32_t)((piece + c->slice_elems - 1) /
				       c->slice_elems);
	c->segment_slices = tutti_min(c->slices, e->credits / 2);
	c->segments = (c->slices + c->segment_slices - 1) / c->segment_slices;
}

void tutti_recipe_cut(struct tutti_recipe *r, const struct tutti_exec *e,
		      const struct tutti_program *mail,
		      const struct tutti_program *mapped)
{
	size_t elem = tutti_type_size((int)r->type), wire = elem;

	r->wide = r->strict && tutti_type_is_short(r->type) &&
		  !r->made.fn;
	r->rounds = r->type >= tuttiFloat16 && r->redop != tuttiMax &&
		    r->redop != tuttiMin;
	if (r->wide)
		wire = sizeof(float);
	cut(&r->mail, e, mail, r->count, wire);
	r->mail.elem = elem;
	memset(&r->mapped, 0, sizeof(r->mapped));
	if (mapped)
		cut(&r->mapped, e, mapped, r->count, wire);
	r->mapped.elem = elem;
	r->reduce = e->kernels->fn[r->type][r->redop];
	r->stream = r->out_bytes * (size_t)e->ranks >= STREAM_BYTES;
}

tuttiResult_t tutti_job_follow(struct tutti_job *j, const struct tutti_cut *c)
{
	tuttiResult_t rc = tuttiSuccess;

	j->c = c;
	memset(j->lane, 0, sizeof(j->lane));
	if (c->p->refs_max > j->refs_max)
		rc = grow_refs(j, c->p->refs_max);
	if (!rc && c->p->scratch)
		rc = grow_scratch(j, c->p->scratch * c->piece_elems * c->wire);
	if (!rc && (j->special || c->p->trees))
		rc = grow_temps(j, tutti_combine_levels(c->p->refs_max));
	return rc;
}

/* What a call needs beyond plain kernels. */
static void prepare(struct tutti_job *j, const struct tutti_recipe *r)
{
	const struct tutti_redop *made = &r->made;
	const void *from = made->factor_at ? made->factor_at : made->factor;

	j->special = made->kind || r->wide;
	j->scaled = made->kind == TUTTI_REDOP_PREMUL;
	if (!j->scaled)
		return;
	if (tutti_type_is_short(r->type))
		j->exec->kernels->to_f32[r->type](j->factor, from, 1);
	else
		memcpy(j->factor, from, tutti_type_size((int)r->type));
}

tuttiResult_t tutti_job_start(struct tutti_job *j,
			      const struct tutti_recipe *r, const void *in,
			      void *out, uint32_t tag)
{
	j->r = r;
	j->in = in;
	j->out = out;
	j->tag = j->op_tag = tag;
	j->arriving = r->mapped.p != NULL;
	j->mapped = false;
	j->mismatch_peer = -1;
	j->waits_for = NULL;
	prepare(j, r);
	return tutti_job_follow(j, &r->mail);
}
