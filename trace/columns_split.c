/* Converts rows to planes, a tile of rows at a time, all fields of it: rows are read once, and a tile's numbers stay in the L1 cache. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")              /* gcc 12 leaves loops of unknown length scalar at -O2; clang does not */
#endif

#include "trace/columns_parts.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define TILE         256u               /* rows at a time; a multiple of 16 */
#define MOST_WORDS   128u               /* of 8 bytes, of a row */
#define SAMPLE_EVERY 64                 /* every 64th row is sampled to choose between differences and gaps */

/* The numbers of a tile, each as wide as its field. */
union numbers {
	uint64_t wide[TILE];
	uint32_t narrow[TILE];
};

typedef uint64_t pair __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) uint64_t load(const char *p, unsigned size)
{
	uint64_t v;
	uint32_t u;

	if (size == 8) {
		memcpy(&v, p, 8);
		return v;
	}
	memcpy(&u, p, 4);
	return u;
}

/* zigzag(), with operations that every vector unit has. */
static inline uint64_t fold_wide(uint64_t v)
{
	return v << 1 ^ -(v >> 63);
}

static inline uint32_t fold_narrow(uint32_t v)
{
	return v << 1 ^ -(v >> 31);
}

static uint64_t fold(uint64_t v, unsigned size)
{
	return size == 8 ? fold_wide(v) : fold_narrow((uint32_t)v);
}

/* For each 8-byte word of a row: the bits in which any of n rows differs from the first row. */
static void compare(uint64_t *bits, const char *rows, size_t stride, size_t n)
{
	size_t at = 0;

	for (; at + sizeof(pair) <= stride; at += sizeof(pair)) {
		const char *p = rows + at;
		pair first, v, any = { 0 };

		memcpy(&first, p, sizeof first);
#pragma GCC unroll 4
		for (size_t i = 1; i < n; i++) {
			p += stride;
			memcpy(&v, p, sizeof v);
			any |= v ^ first;
		}
		memcpy(&bits[at / 8], &any, sizeof any);
	}
	if (at < stride) {
		const char *p = rows + at;
		uint64_t first = load(p, 8), any = 0;

		for (size_t i = 1; i < n; i++) {
			p += stride;
			any |= load(p, 8) ^ first;
		}
		bits[at / 8] = any;
	}
}

static void gather_wide(uint64_t *to, const char *at, size_t stride, size_t n)
{
#pragma GCC unroll 4
	for (size_t i = 0; i < n; i++)
		to[i] = load(at + i * stride, 8);
}

static void gather_narrow(uint32_t *to, const char *at, size_t stride, size_t n)
{
#pragma GCC unroll 4
	for (size_t i = 0; i < n; i++)
		to[i] = (uint32_t)load(at + i * stride, 4);
}

/* Computes the numbers of an 8-byte field in a tile; returns the bits in which any differs from the column's first number. */
static uint64_t wide_numbers(struct lane *l, uint64_t *restrict x, const char *at, size_t stride, size_t n)
{
	uint64_t v[TILE + 1], lengths[TILE + 1], bits = 0, first = l->x;

	v[0] = l->before;
	gather_wide(v + 1, at, stride, n);
	if (l->encoding == ENCODING_GAP) {
		lengths[0] = 0;
		gather_wide(lengths + 1, at + l->lengths, stride, n);
		l->before = v[n] + lengths[n];
		for (size_t i = 0; i < n; i++)
			bits |= x[i] = fold_wide(v[i + 1] - v[i] - lengths[i]);
	} else if (l->encoding == ENCODING_DELTA) {
		l->before = v[n];
		for (size_t i = 0; i < n; i++)
			bits |= x[i] = fold_wide(v[i + 1] - v[i]);
	} else {
		for (size_t i = 0; i < n; i++)
			bits |= (x[i] = fold_wide(v[i + 1])) ^ first;
	}
	return bits;
}

static uint32_t narrow_numbers(struct lane *l, uint32_t *restrict x, const char *at, size_t stride, size_t n)
{
	uint32_t v[TILE + 1], bits = 0, first = (uint32_t)l->x;

	v[0] = (uint32_t)l->before;
	gather_narrow(v + 1, at, stride, n);
	if (l->encoding == ENCODING_DELTA) {
		l->before = v[n];
		for (size_t i = 0; i < n; i++)
			bits |= x[i] = fold_narrow(v[i + 1] - v[i]);
	} else {
		for (size_t i = 0; i < n; i++)
			bits |= (x[i] = fold_narrow(v[i + 1])) ^ first;
	}
	return bits;
}

/* Computes the numbers of a field in a tile and updates l->bits.  differ: result of compare() for the field. */
static void gather(struct lane *l, union numbers *x, const char *at, size_t stride, size_t n, uint64_t differ)
{
	bool wide = l->field->size == 8;

	if (l->encoding != ENCODING_PLAIN) {
		l->bits |= wide ? wide_numbers(l, x->wide, at, stride, n) : narrow_numbers(l, x->narrow, at, stride, n);
		return;
	}
	l->bits |= differ | (load(at, l->field->size) ^ l->x);
	if (wide)
		gather_wide(x->wide, at, stride, n);
	else
		gather_narrow(x->narrow, at, stride, n);
}

#ifdef __SSE2__
/*
 * Transposes 16 numbers of `size` bytes into planes.  A perfect shuffle rotates the bits of each byte's position by one; four shuffles
 * turn 16 x `size` bytes into `size` x 16.
 */
static inline __attribute__((always_inline))
void turn(const void *from, uint8_t *const *planes, size_t at, unsigned width, unsigned size)
{
	__m128i a[8], b[8];

	for (unsigned i = 0; i < size; i++)
		a[i] = _mm_loadu_si128((const __m128i *)from + i);
	if (size == 8 && width <= 4) {  /* only the lower halves are needed */
		for (unsigned i = 0; i < 4; i++)
			a[i] = _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(a[2 * i]),
							       _mm_castsi128_ps(a[2 * i + 1]), 0x88));
		size = 4;
	}
	for (int k = 0; k < 4; k++) {
		for (unsigned i = 0; i < size / 2; i++) {
			b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + size / 2]);
			b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + size / 2]);
		}
		for (unsigned i = 0; i < size; i++)
			a[i] = b[i];
	}
	for (unsigned k = 0; k < width; k++)
		_mm_storeu_si128((__m128i *)(planes[k] + at), a[k]);
}

static inline __attribute__((always_inline))
void split_as(const union numbers *x, size_t n, uint8_t *const *planes, size_t at, unsigned width, unsigned size)
{
	for (size_t i = 0; i < n; i += 16)
		turn((const uint8_t *)x + i * size, planes, at + i, width, size);
}
#else
static inline __attribute__((always_inline))
void split_as(const union numbers *x, size_t n, uint8_t *const *planes, size_t at, unsigned width, unsigned size)
{
	for (unsigned k = 0; k < width; k++) {
		uint8_t *plane = planes[k] + at;

		for (size_t i = 0; i < n; i++)
			plane[i] = (uint8_t)((size == 8 ? x->wide[i] : x->narrow[i]) >> 8 * k);
	}
}
#endif

static void split(const struct lane *l, const union numbers *x, size_t n, size_t at)
{
	uint8_t *planes[PLANES];        /* a local copy: the compiler knows that stores to planes do not change these pointers */

	memcpy(planes, l->planes, sizeof planes);
	switch (l->width << 4 | l->field->size) {
	case 0x14: split_as(x, n, planes, at, 1, 4); break;
	case 0x24: split_as(x, n, planes, at, 2, 4); break;
	case 0x34: split_as(x, n, planes, at, 3, 4); break;
	case 0x44: split_as(x, n, planes, at, 4, 4); break;
	case 0x18: split_as(x, n, planes, at, 1, 8); break;
	case 0x28: split_as(x, n, planes, at, 2, 8); break;
	case 0x38: split_as(x, n, planes, at, 3, 8); break;
	case 0x48: split_as(x, n, planes, at, 4, 8); break;
	case 0x58: split_as(x, n, planes, at, 5, 8); break;
	case 0x68: split_as(x, n, planes, at, 6, 8); break;
	case 0x78: split_as(x, n, planes, at, 7, 8); break;
	case 0x88: split_as(x, n, planes, at, 8, 8); break;
	}
}

static unsigned bytes_of(uint64_t bits)
{
	return bits ? (unsigned)(71 - __builtin_clzll(bits)) / 8 : 0;
}

static unsigned bits_of(uint64_t v)
{
	return v ? (unsigned)(64 - __builtin_clzll(v)) : 0;
}

/* Whether starts are closer to the previous row's end than to its start: true for queued work, false for overlapping work. */
static bool gaps_are_smaller(const char *at, ptrdiff_t lengths, size_t stride, size_t n)
{
	uint64_t gap = 0, delta = 0;

	for (size_t i = 1; i < n; i += SAMPLE_EVERY) {
		const char *row = at + i * stride;
		uint64_t d = load(row, 8) - load(row - stride, 8);

		delta += bits_of(fold_wide(d));
		gap += bits_of(fold_wide(d - load(row - stride + lengths, 8)));
	}
	return gap < delta;
}

static enum encoding choose(const struct record *r, const struct field *f, const char *at, size_t n, ptrdiff_t *lengths)
{
	int duration;

	if (f->codec == CODEC_SIGNED)
		return ENCODING_SIGNED;
	if (f->codec == CODEC_PLAIN)
		return ENCODING_PLAIN;
	if (f->size != 8 || strcmp(f->name, "start"))
		return ENCODING_DELTA;
	duration = record_field(r, "duration");
	if (duration < 0 || r->fields[duration].size != 8)
		return ENCODING_DELTA;
	*lengths = (ptrdiff_t)r->fields[duration].offset - f->offset;
	return gaps_are_smaller(at, *lengths, r->size, n) ? ENCODING_GAP : ENCODING_DELTA;
}

static bool is_difference(const struct lane *l)
{
	return l->encoding == ENCODING_DELTA || l->encoding == ENCODING_GAP;
}

static void begin(struct lane *l, const struct record *r, const struct field *f, const char *rows, size_t n)
{
	const char *at = rows + f->offset;

	*l = (struct lane){ .field = f, .first = load(at, f->size) };
	l->encoding = choose(r, f, at, n, &l->lengths);
	if (is_difference(l))
		l->before = l->first;           /* the first number is 0 */
	else
		l->x = l->encoding == ENCODING_PLAIN ? l->first : fold(l->first, f->size);
}

/* Adds the planes that l->bits needs.  In a new plane, all rows before `at` have the byte of the first row. */
static uint8_t *widen(struct lane *l, size_t n, size_t at, uint8_t *room)
{
	for (; l->width < bytes_of(l->bits); l->width++, room += PLANE_STRIDE(n)) {
		l->planes[l->width] = room;
		memset(room, (int)(l->x >> 8 * l->width & 0xff), at);
	}
	return room;
}

/* Number of the first of several equal values.  The rest have the same number, or 0 in a column of differences. */
static uint64_t repeat(struct lane *l, uint64_t value)
{
	uint64_t number = l->encoding == ENCODING_PLAIN ? value : fold(value - l->before, l->field->size);

	if (is_difference(l))
		l->before = value;
	l->bits |= number ^ l->x;
	return number;
}

static void put_repeated(const struct lane *l, uint64_t number, size_t n, size_t at)
{
	for (unsigned k = 0; k < l->width; k++) {
		uint8_t byte = (uint8_t)(number >> 8 * k);

		memset(l->planes[k] + at, is_difference(l) ? 0 : byte, n);
		l->planes[k][at] = byte;
	}
}

void lanes_split(struct lane *lanes, const struct record *r, const void *rows, size_t n, uint8_t *room)
{
	const struct lane *end = lanes + r->n_fields;
	uint64_t words[MOST_WORDS];
	const char *row = rows;
	union numbers x;

	memset(&x, 0, sizeof x);        /* the last tile is transposed in units of 16 rows, beyond its end */
	for (unsigned i = 0; i < r->n_fields; i++)
		begin(&lanes[i], r, &r->fields[i], row, n);
	for (size_t at = 0; at < n; at += TILE, row += TILE * (size_t)r->size) {
		size_t m = n - at < TILE ? n - at : TILE;

		compare(words, row, r->size, m);
		for (struct lane *l = lanes; l < end; l++) {
			unsigned offset = l->field->offset, size = l->field->size;
			uint64_t value = load(row + offset, size), differ = load((const char *)words + offset, size);

			l->differs |= differ || value != l->first;
			if (!differ && l->encoding != ENCODING_GAP) {
				value = repeat(l, value);
				room = widen(l, n, at, room);
				put_repeated(l, value, m, at);
			} else {
				gather(l, &x, row + offset, r->size, m, differ);
				room = widen(l, n, at, room);
				split(l, &x, m, at);
			}
		}
	}
}
