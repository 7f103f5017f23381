/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checks.  Buffers end at, or a few elements before, a page that cannot be
 * touched, so reading past the end is caught without a sanitizer, and starts
 * have every alignment.  An element of the result depends on nothing but the
 * same element of the sources, so one reference serves all lengths.
 */
#include "unit/reduce_check.h"

#include "unit/reduce_reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define SRC_MAX 17
#define DST_MAX 3
#define AREA ((size_t)128 << 10)
#define LONGEST 5003		/* beyond a block of every type */
#define LONGEST_THIN 1361	/* beyond a block of most */
#define GUARD 64		/* bytes checked on each side of a target */
#define PAGE_MAX ((size_t)64 << 10)

static int faults_told;

static int fault(const struct tutti_kernels *k, int type, int op,
		 const char *what, size_t n, int nsrc, int ndst, size_t where)
{
	if (faults_told++ < 10)
		fprintf(stderr,
			"%s type %d op %d: %s, n=%zu k=%d m=%d at %zu\n",
			k->name, type, op, what, n, nsrc, ndst, where);
	return 1;
}

/* ---- Buffers ----------------------------------------------------------- */

/* AREA bytes, then a page that faults; `end` is where it begins. */
static char *guarded(void)
{
	char *p = mmap(NULL, AREA + PAGE_MAX, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + AREA, PAGE_MAX, PROT_NONE)) {
		perror("mmap");
		exit(2);
	}
	return p + AREA;
}

/* What one type and number of sources need. */
struct bench {
	int type;
	size_t size, longest;
	char *src_end[SRC_MAX], *dst_end[DST_MAX];
	char *data[SRC_MAX];	/* what the sources hold */
	uint64_t scale_bits[SRC_MAX];
	const void *scale[SRC_MAX];
	char *want;
};

static void *need(size_t bytes)
{
	void *p = malloc(bytes);

	if (!p) {
		perror("malloc");
		exit(2);
	}
	return p;
}

static void bench_open(struct bench *b, int type, size_t longest)
{
	b->type = type;
	b->size = ref_size(type);
	b->longest = longest;
	for (int s = 0; s < SRC_MAX; s++) {
		b->src_end[s] = guarded();
		b->data[s] = need(b->longest * b->size);
		ref_fill(type, b->data[s], b->longest, (uint64_t)s + 1);
		ref_fill(type, &b->scale_bits[s], 1, (uint64_t)s + 100);
		b->scale[s] = &b->scale_bits[s];
	}
	for (int t = 0; t < DST_MAX; t++)
		b->dst_end[t] = guarded();
	b->want = need(b->longest * b->size);
}

static void bench_close(struct bench *b)
{
	for (int s = 0; s < SRC_MAX; s++) {
		munmap(b->src_end[s] - AREA, AREA + PAGE_MAX);
		free(b->data[s]);
	}
	for (int t = 0; t < DST_MAX; t++)
		munmap(b->dst_end[t] - AREA, AREA + PAGE_MAX);
	free(b->want);
}

/* ---- Shapes ------------------------------------------------------------ */

struct shape {
	int op, k, m;
	size_t n;
	bool stream, in_place, scaled;
	int divisor;
	uint64_t seed;		/* of the alignments */
};

/* A place for `bytes` before `end`: half of them right at it. */
static char *place(char *end, size_t bytes, size_t size, uint64_t *seed)
{
	uint64_t r = ref_random(seed);

	return end - bytes - (r & 1 ? 0 : (r >> 1) % 80 * size);
}

static int check_target(const struct tutti_kernels *kern,
			const struct bench *b, const struct shape *s,
			const char *d, const char *end)
{
	size_t bytes = s->n * b->size;
	size_t before = (size_t)(d - (end - AREA)), i;

	if (memcmp(d, b->want, bytes)) {
		for (i = 0; d[i] == b->want[i]; i++)
			;
		return fault(kern, b->type, s->op, "wrong", s->n, s->k, s->m,
			     i / b->size);
	}
	for (i = 1; i <= GUARD && i <= before; i++)
		if (d[-(ptrdiff_t)i] != 0x5a)
			return fault(kern, b->type, s->op, "wrote before",
				     s->n, s->k, s->m, i);
	for (i = bytes; i < bytes + GUARD && d + i < end; i++)
		if (d[i] != 0x5a)
			return fault(kern, b->type, s->op, "wrote after",
				     s->n, s->k, s->m, i);
	return 0;
}

/* Fill the bytes around a buffer that is about to be written. */
static void paint(char *d, size_t bytes, const char *end)
{
	char *stop = d + bytes + GUARD < end ? d + bytes + GUARD : (char *)end;

	memset(d - GUARD, 0x5a, (size_t)(stop - (d - GUARD)));
}

static int check_shape(const struct tutti_kernels *kern,
		       const struct bench *b, const struct shape *s)
{
	const void *src[SRC_MAX];
	void *dst[DST_MAX];
	const char *end[DST_MAX];
	size_t bytes = s->n * b->size;
	uint64_t seed = s->seed;
	int faults = 0;
	const struct tutti_reduce_args a = {
		.dst = dst, .ndst = s->m, .src = src, .nsrc = s->k,
		.count = s->n, .divisor = s->divisor, .stream = s->stream,
		.scale = s->scaled ? b->scale : NULL
	};

	for (int i = 0; i < s->k; i++) {
		char *p = place(b->src_end[i], bytes, b->size, &seed);

		paint(p, bytes, b->src_end[i]);
		memcpy(p, b->data[i], bytes);
		src[i] = p;
	}
	for (int t = 0; t < s->m; t++) {
		end[t] = b->dst_end[t];
		dst[t] = place(b->dst_end[t], bytes, b->size, &seed);
		paint(dst[t], bytes, end[t]);
		if (s->in_place && t < s->k) {
			int same = (int)((s->seed + (uint64_t)t) %
					 (uint64_t)s->k);

			dst[t] = (void *)src[same];
			end[t] = b->src_end[same];
		}
	}
	kern->fn[b->type][s->op](&a);
	for (int t = 0; t < s->m; t++)
		faults += check_target(kern, b, s, dst[t], end[t]);
	for (int i = 0; i < s->k; i++)
		if (!s->in_place && memcmp(src[i], b->data[i], bytes))
			faults += fault(kern, b->type, s->op, "source written",
					s->n, s->k, s->m, (size_t)i);
	return faults;
}

/* All shapes of one length. */
static int check_length(const struct tutti_kernels *kern,
			const struct bench *b, struct shape *s, int thin,
			uint64_t *seed)
{
	int faults = 0;

	for (s->m = 1; s->m <= DST_MAX; s->m++)
		for (int bits = 0; bits < 4; bits++) {
			s->stream = bits & 1;
			s->in_place = bits & 2;
			s->seed = ref_random(seed) | 1;
			if (s->seed / 2 % (uint64_t)thin == 0)
				faults += check_shape(kern, b, s);
		}
	return faults;
}

/* The reference for k sources, then every length against it. */
static int check_sources(const struct tutti_kernels *kern,
			 const struct bench *b, struct shape *s, int thin,
			 uint64_t *seed)
{
	static const size_t longer[] = { 509, LONGEST_THIN, 2053, LONGEST };
	const void *src[SRC_MAX];
	int faults = 0;

	for (int i = 0; i < s->k; i++)
		src[i] = b->data[i];
	ref_reduce(b->type, s->op, b->longest, s->k, src,
		   s->scaled ? b->scale : NULL, s->divisor, b->want);
	for (s->n = 0; s->n <= 257; s->n++)
		faults += check_length(kern, b, s, thin, seed);
	for (size_t i = 0; i < sizeof(longer) / sizeof(*longer); i++) {
		s->n = longer[i];
		if (s->n > b->longest)
			break;
		faults += check_length(kern, b, s, thin, seed);
	}
	return faults;
}

int check_shapes(const struct tutti_kernels *kern, int type, int thin)
{
	static const int ks[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17 };
	uint64_t seed = 0x1234567 + (uint64_t)type;
	struct bench b;
	int faults = 0;

	bench_open(&b, type, thin < 64 ? LONGEST : LONGEST_THIN);
	for (int op = 0; op < tuttiNumOps; op++)
		for (size_t i = 0; i < sizeof(ks) / sizeof(*ks); i++) {
			struct shape s = { .op = op, .k = ks[i] };

			s.divisor = op == tuttiAvg ? s.k : 0;
			faults += check_sources(kern, &b, &s, thin, &seed);
			/* Scaled; and an average that is not divided. */
			s.scaled = true;
			s.divisor = 0;
			faults += check_sources(kern, &b, &s, 8 * thin, &seed);
		}
	bench_close(&b);
	return faults;
}

/* ---- Long buffers, against scalar -------------------------------------- */

static int check_long_one(const struct tutti_kernels *kern, int type, int op,
			  size_t n, int k, int m, char *const *mem)
{
	const size_t bytes = n * ref_size(type);
	const void *src[SRC_MAX];
	void *dst[2] = { mem[0], mem[1] }, *ref[1] = { mem[2] };
	struct tutti_reduce_args a = {
		.dst = ref, .ndst = 1, .src = src, .nsrc = k, .count = n,
		.divisor = k
	};
	int faults = 0;

	for (int s = 0; s < k; s++)
		src[s] = mem[3 + s];
	tutti_kernels_all[0]->fn[type][op](&a);
	a.dst = dst;
	a.ndst = m;
	for (int stream = 0; stream < 2; stream++) {
		a.stream = stream;
		for (int t = 0; t < m; t++)
			memset(dst[t], 0x5a, bytes);
		kern->fn[type][op](&a);
		for (int t = 0; t < m; t++)
			if (memcmp(dst[t], ref[0], bytes))
				faults += fault(kern, type, op,
						"not as scalar", n, k, m, 0);
	}
	return faults;
}

/* A place from `base` on that is `off` bytes further from a line than `other`
 * is. */
static char *align_as(char *base, const char *other, size_t off)
{
	return base + ((uintptr_t)other + off - (uintptr_t)base) % 64;
}

int check_long(const struct tutti_kernels *kern, int type, int thin)
{
	const size_t primes[] = { 10007, thin < 64 ? 65537 : 4099,
				  thin < 64 ? 100003 : 6007 };
	static const int ks[] = { 2, 3, 9 };
	char *base[6 + 9], *mem[6 + 9];
	int faults = 0;

	for (int i = 0; i < 3 + 9; i++) {
		base[i] = need(100003 * 8 + 128);
		mem[i] = base[i] + (size_t)i * 3 * ref_size(type) % 64;
		ref_fill(type, mem[i], 100003, (uint64_t)i + 50);
	}
	for (int op = 0; op < tuttiNumOps; op++)
		for (int i = 0; i < 6; i++) {
			/* Two targets that reach cache lines together, and
			 * two that do not. */
			mem[1] = align_as(base[1], mem[0], i & 1 ? 8 : 0);
			for (int m = 1; m <= 2; m++)
				faults += check_long_one(kern, type, op,
							 primes[i / 2],
							 ks[i / 2], m, mem);
		}
	for (int i = 0; i < 3 + 9; i++)
		free(base[i]);
	return faults;
}

/* ---- Every value ------------------------------------------------------- */

/* Reduce k small buffers and compare with the reference. */
static int check_values(const struct tutti_kernels *kern, int type, int op,
			size_t n, int k, const void *const *src,
			const void *const *scale, const char *what)
{
	void *want = need(n * ref_size(type)), *got = need(n * ref_size(type));
	const struct tutti_reduce_args a = {
		.dst = &got, .ndst = 1, .src = src, .nsrc = k, .count = n,
		.scale = scale, .divisor = k
	};
	int faults = 0;

	ref_reduce(type, op, n, k, src, scale, op == tuttiAvg ? k : 0, want);
	kern->fn[type][op](&a);
	for (size_t i = 0; i < n; i++)
		if (ref_get(type, got, i) != ref_get(type, want, i))
			faults += fault(kern, type, op, what, n, k, 1, i);
	free(want);
	free(got);
	return faults;
}

int check_exhaustive(const struct tutti_kernels *kern, int type, int thin)
{
	const size_t n = 65536, size = ref_size(type);
	char *x = need(n * size), *y = need(n * size);
	const void *src[2] = { x, y };
	int faults = 0;

	for (size_t i = 0; size <= 2 && i < n; i++) {
		ref_put(type, x, i, i);
		ref_put(type, y, i, size == 1 ? i >> 8 : (i * 40503) & 0xffff);
	}
	for (int op = 0; size <= 2 && op < tuttiNumOps; op++)
		for (int k = 1; k <= (thin < 64 ? 2 : 1); k++)
			faults += check_values(kern, type, op, n, k, src, NULL,
					       "value");
	free(x);
	free(y);
	return faults;
}

/* ---- Chosen pairs of 16 bits ------------------------------------------- */

#define VALUES 65536
#define CHOSEN_MAX 1024

/* Of every exponent three mantissas, whose last bits make ties with other
 * exponents, of either sign in turn; every power among the subnormals; and
 * what is special. */
static int choose(int type, uint16_t *to)
{
	const int mantissa = type == tuttiFloat16 ? 10 : 7;
	const uint32_t exponents = 0x8000u >> mantissa;
	int n = 0;

	for (uint32_t e = 0; e < exponents; e++) {
		uint32_t sign = e % 2 << 15, at = e << mantissa;

		to[n++] = (uint16_t)(sign | at);
		if (type == tuttiBfloat16 && e % 4)
			continue;
		to[n++] = (uint16_t)((sign ^ 0x8000u) | at | 1);
		to[n++] = (uint16_t)(sign | (at + (1u << mantissa) - 1));
		to[n++] = (uint16_t)((sign ^ 0x8000u) | at |
				     1u << (mantissa - 1));
	}
	for (int i = 0, half = n; type == tuttiFloat16 && i < half; i++)
		to[n++] = to[i] ^ 0x8000u;
	for (int bit = 0; bit < mantissa; bit++)
		to[n++] = (uint16_t)(1u << bit | (uint32_t)(bit % 2) << 15);
	to[n++] = 0x8000;
	to[n++] = (uint16_t)ref_nan(type);
	to[n++] = (uint16_t)(ref_nan(type) | 0x8001);
	to[n++] = (uint16_t)(((exponents - 1) << mantissa) | 0x8000);
	return n;
}

/* All implementations, one chosen value. */
static int check_chosen_one(int type, int op, uint16_t y, const uint16_t *x,
			    const uint16_t *want)
{
	static uint16_t ys[VALUES], got[VALUES];
	const void *src[2] = { x, ys }, *scale[1] = { &y };
	void *dst[1] = { got };
	struct tutti_reduce_args a = {
		.dst = dst, .ndst = 1, .src = src, .nsrc = 2, .count = VALUES,
		.divisor = 2
	};
	int faults = 0;

	if (op == tuttiNumOps) {
		a.nsrc = 1;
		a.scale = scale;
	}
	for (size_t i = 0; i < VALUES; i++)
		ys[i] = y;
	for (int k = 0; tutti_kernels_all[k]; k++) {
		const struct tutti_kernels *kern = tutti_kernels_all[k];

		if (!kern->supported())
			continue;
		kern->fn[type][op == tuttiNumOps ? tuttiSum : op](&a);
		for (size_t i = 0; i < VALUES; i++)
			if (got[i] != want[i])
				faults += fault(kern, type, op, "pair", y,
						a.nsrc, 1, i);
	}
	return faults;
}

int check_chosen(int type, int op, int thin)
{
	static uint16_t x[VALUES], want[VALUES], chosen[CHOSEN_MAX];
	static double value[VALUES];
	const int how = op == tuttiNumOps ? tuttiProd : op;
	int n = choose(type, chosen), faults = 0;

	for (uint32_t i = 0; i < VALUES; i++) {
		x[i] = (uint16_t)i;
		value[i] = ref_decode(type, i);
	}
	for (int c = 0; c < n; c += thin) {
		for (uint32_t i = 0; i < VALUES; i++)
			want[i] = (uint16_t)ref_pair(type, how, value[i],
						     value[chosen[c]], 2);
		faults += check_chosen_one(type, op, chosen[c], x, want);
	}
	return faults;
}

/* ---- Conversions of blocks --------------------------------------------- */

static uint32_t float_bits(float x)
{
	uint32_t u;

	memcpy(&u, &x, sizeof(u));
	return u;
}

/* A float32 of these bits: every value of the type, the ties between
 * neighbours, and what lies just beside them. */
static float interesting(int type, size_t i)
{
	const uint64_t end = 1ull << (8 * ref_size(type));
	uint64_t bits = i / 4 % end;
	float x = (float)ref_decode(type, bits), tie;
	float y = (float)ref_decode(type, (bits + 1) % end);
	uint32_t u;

	if (i % 4 == 0 || !(x - x == 0) || !(y - y == 0))
		return x;
	tie = x / 2 + y / 2;
	u = float_bits(tie) + (uint32_t)(i % 4) - 2;
	memcpy(&tie, &u, sizeof(tie));
	return tie;
}

/* n elements from `first` on. */
static int check_convert_part(const struct tutti_kernels *k, int type,
			      size_t first, size_t n)
{
	const size_t size = ref_size(type);
	float wide[300], back[301];
	char some[300 * 2], got[301 * 2];
	int faults = 0;

	memset(got, 0x5a, sizeof(got));
	memset(back, 0x5a, sizeof(back));
	for (size_t i = 0; i < n; i++) {
		wide[i] = interesting(type, first + i);
		ref_put(type, some, i, first + i);
	}
	k->from_f32[type](got, wide, n);
	k->to_f32[type](back, some, n);
	for (size_t i = 0; i < n; i++) {
		float want = (float)ref_decode(type, ref_get(type, some, i));

		if (ref_get(type, got, i) != ref_encode(type, wide[i]))
			faults += fault(k, type, -1, "from float32", n, 1, 1,
					first + i);
		if (want != want ? float_bits(back[i]) != 0x7fc00000 :
				   float_bits(back[i]) != float_bits(want))
			faults += fault(k, type, -1, "to float32", n, 1, 1,
					first + i);
	}
	if (got[n * size] != 0x5a || ((char *)&back[n])[0] != 0x5a)
		faults += fault(k, type, -1, "converted beyond the end", n, 1,
				1, n);
	return faults;
}

int check_convert(const struct tutti_kernels *k, int type)
{
	size_t values, n;
	int faults = 0;

	if (!ref_is_float(type) || ref_size(type) > 2)
		return k->to_f32[type] || k->from_f32[type];
	values = (size_t)4 << (8 * ref_size(type));
	for (n = 0; n <= 300; n++)
		faults += check_convert_part(k, type, n * 37, n);
	for (size_t at = 0; at < values; at += 300)
		faults += check_convert_part(k, type, at, 300);
	return faults;
}

/* ---- NaN, zeros, state ------------------------------------------------- */

int check_nan(const struct tutti_kernels *kern, int type)
{
	static const int ks[] = { 2, 3, 4, 7 };
	const size_t n = 67, size = ref_size(type);
	char buf[7][67 * 8];
	const void *src[7];
	int faults = 0;

	if (!ref_is_float(type))
		return 0;
	for (int i = 0; i < 4 * 7 * 67; i++) {
		int k = ks[i % 4], who = i / 4 % 7;
		size_t where = (size_t)i / 28;

		if (who >= k)
			continue;
		for (int s = 0; s < k; s++) {
			for (size_t e = 0; e < n; e++)
				ref_put(type, buf[s], e,
					ref_encode(type, s - 1.5));
			src[s] = buf[s];
		}
		/* Any payload, either sign, must come out canonical. */
		ref_put(type, buf[who], where,
			ref_nan(type) | (i & 1 ? 1ull << (8 * size - 1) : 0) |
			(i & 2 ? 1 : 0));
		for (int op = 0; op < tuttiNumOps; op++)
			faults += check_values(kern, type, op, n, k, src, NULL,
					       "NaN");
	}
	return faults;
}

int check_zeros(const struct tutti_kernels *kern, int type)
{
	char x[67 * 8], y[67 * 8];
	const void *src[2] = { x, y }, *scale[2];
	const uint64_t factor[2] = { ref_encode(type, -0.0),
				     ref_encode(type, 1) };
	int faults = 0;

	if (!ref_is_float(type))
		return 0;
	for (size_t i = 0; i < 67; i++) {
		ref_put(type, x, i, ref_encode(type, i & 1 ? -0.0 : 0.0));
		ref_put(type, y, i, ref_encode(type, i & 2 ? -0.0 : 0.0));
	}
	scale[0] = &factor[0];
	scale[1] = &factor[1];
	for (int op = 0; op < tuttiNumOps; op++) {
		faults += check_values(kern, type, op, 67, 2, src, NULL,
				       "zeros");
		faults += check_values(kern, type, op, 67, 2, src, scale,
				       "scaled zeros");
	}
	return faults;
}

/* The control register, and values of it that change results: the other
 * rounding modes, and flushing of subnormal results and operands. */
#if defined(__SSE2__)

static const uint64_t modes[] = { 0x2000, 0x4000, 0x6000, 0x8000, 0x0040 };

static uint64_t state_get(void)
{
	return _mm_getcsr() & 0xffc0;
}

static void state_turn(uint64_t bits)
{
	_mm_setcsr((uint32_t)(_mm_getcsr() ^ bits));
}

#elif defined(__aarch64__)

static const uint64_t modes[] = { 1 << 22, 2 << 22, 3 << 22, 1 << 24 };

static uint64_t state_get(void)
{
	uint64_t state;

	__asm__ __volatile__("mrs %0, fpcr" : "=r"(state));
	return state;
}

static void state_turn(uint64_t bits)
{
	__asm__ __volatile__("msr fpcr, %0" :: "r"(state_get() ^ bits)
			     : "memory");
}

#else

static const uint64_t modes[] = { 0 };

static uint64_t state_get(void)
{
	return 0;
}

static void state_turn(uint64_t bits)
{
}

#endif

/* One kernel in every mode, compared with what it gave in the plain one. */
static int check_modes(const struct tutti_kernels *kern, int type, int op,
		       struct tutti_reduce_args *a, const char *want,
		       const char *got)
{
	uint64_t before;
	int faults = 0;

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		state_turn(modes[i]);
		before = state_get();
		kern->fn[type][op](a);
		if (state_get() != before)
			faults += fault(kern, type, op, "state changed",
					a->count, 2, 1, i);
		state_turn(modes[i]);
		if (memcmp(got, want, a->count * ref_size(type)))
			faults += fault(kern, type, op, "state used", a->count,
					2, 1, i);
	}
	return faults;
}

int check_fp_state(const struct tutti_kernels *kern, int type)
{
	const size_t n = 4099, size = ref_size(type);
	char *x = need(n * size), *y = need(n * size);
	char *want = need(n * size), *got = need(n * size);
	const void *src[2] = { x, y };
	void *dst[1];
	struct tutti_reduce_args a = {
		.dst = dst, .ndst = 1, .src = src, .nsrc = 2, .count = n,
		.divisor = 3
	};
	int faults = 0;

	ref_fill(type, x, n, 7);
	ref_fill(type, y, n, 8);
	for (int op = 0; op < tuttiNumOps; op++) {
		dst[0] = want;
		kern->fn[type][op](&a);
		dst[0] = got;
		faults += check_modes(kern, type, op, &a, want, got);
	}
	free(x);
	free(y);
	free(want);
	free(got);
	return faults;
}

/* ---- Copy -------------------------------------------------------------- */

static int check_copy_one(const struct tutti_kernels *kern, size_t n, int m,
			  bool stream, bool self, uint64_t seed)
{
	static char *end[DST_MAX + 1];
	static char data[20000];
	void *dst[DST_MAX];
	char *src;
	int faults = 0;

	for (int i = 0; i <= DST_MAX && !end[DST_MAX]; i++)
		end[i] = guarded();
	ref_fill(tuttiUint8, data, n, seed);
	src = place(end[DST_MAX], n, 1, &seed);
	memcpy(src, data, n);
	for (int t = 0; t < m; t++) {
		dst[t] = place(end[t], n, 1, &seed);
		paint(dst[t], n, end[t]);
	}
	if (self)
		dst[0] = src;
	kern->copy(dst, m, src, n, stream);
	for (int t = 0; t < m; t++) {
		const char *d = dst[t];

		if (memcmp(d, data, n))
			faults += fault(kern, -1, -1, "copy", n, 1, m, 0);
		if (d != src && (d[-1] != 0x5a ||
				 (d + n < end[t] && d[n] != 0x5a)))
			faults += fault(kern, -1, -1, "copy wrote outside", n,
					1, m, 0);
	}
	return faults;
}

int check_copy(const struct tutti_kernels *kern, int thin)
{
	uint64_t seed = 99;
	int faults = 0;

	for (size_t n = 0; n < 20000; n += n < 300 ? 1 : 61)
		for (int bits = 0; bits < 4; bits++)
			for (int m = 1; m <= DST_MAX; m++)
				if (ref_random(&seed) / 2 %
				    (uint64_t)thin == 0)
					faults += check_copy_one(kern, n, m,
							bits & 1, bits & 2,
							seed);
	return faults;
}

int check_all(const struct tutti_kernels *kern, int thin)
{
	int faults = check_copy(kern, thin);

	for (int type = 0; type < tuttiNumTypes; type++) {
		faults += check_shapes(kern, type, thin);
		faults += check_long(kern, type, thin);
		faults += check_exhaustive(kern, type, thin);
		faults += check_convert(kern, type);
		faults += check_nan(kern, type);
		faults += check_zeros(kern, type);
		faults += check_fp_state(kern, type);
	}
	return faults;
}
