/*
 * RFC 1951 and 1952.  A table of 11 bits decodes most codes in one lookup; longer codes have a second-level table.
 * quick_codes() decodes without bounds checks and stops near the end of input or output; codes() does the rest symbol by
 * symbol, with checks.
 */
#include "cli/import/inflate.h"

#include <stdbool.h>
#include <string.h>

#include "cli/import/inflate_tables.h"
#include "trace/file.h"

#define REPORT     (128u << 10)         /* bytes between two calls of progress(); small, so that the checksum reads them from the cache */
#define MARGIN     384u                 /* bytes that one turn may write: two literals, a match, and what copy_match() writes behind it */
#define QUICK_MARGIN 32u                /* bytes that one turn of quick_codes() may read */

struct state {
	const uint8_t *in, *end;
	uint64_t bits;
	unsigned n;                     /* valid bits in `bits` */
	unsigned beyond;                /* zero bits appended after the end of the input */
	/* The next byte to write; where output stops, MARGIN before its end; where progress() is due; where it was called last. */
	uint8_t *out, *limit, *next_report, *reported;
	uint32_t crc;                   /* of the member's bytes up to `reported` */
	struct inflate_out *to;
	uint32_t lengths[TABLE_SIZE], dists[TABLE_SIZE];
};

/* Fills `bits` to at least 56.  After the end of the input it appends zeros and counts them in `beyond`. */
static inline void refill(struct state *s)
{
	if (s->end - s->in >= 8) {
		uint64_t v;

		memcpy(&v, s->in, 8);
		s->bits |= v << s->n;
		s->in += (63 - s->n) >> 3;
		s->n |= 56;
		return;
	}
	while (s->n < 56) {
		if (s->in < s->end)
			s->bits |= (uint64_t)*s->in++ << s->n;
		else
			s->beyond += 8;
		s->n += 8;
	}
}

static inline unsigned take(struct state *s, unsigned n)
{
	unsigned v = (unsigned)(s->bits & ((1u << n) - 1));

	s->bits >>= n;
	s->n -= n;
	return v;
}

/* Whether appended zero bits were consumed. */
static inline bool overrun(const struct state *s)
{
	return s->beyond > s->n;
}

/* Returns the entry of the next code.  The caller consumes its TAKE bits. */
static inline uint32_t look_up(struct state *s, const uint32_t *table, unsigned bits)
{
	uint32_t e = table[s->bits & ((1u << bits) - 1)];

	if (e & SECOND) {
		take(s, bits);
		e = table[NUMBER(e) + (s->bits & ((1u << CODE(e)) - 1))];
	}
	return e;
}

/* The value of an entry: NUMBER plus the extra bits. */
static inline unsigned value(uint32_t e, uint64_t bits)
{
	return NUMBER(e) + (unsigned)((bits & (((uint64_t)1 << TAKE(e)) - 1)) >> CODE(e));
}

static inline unsigned take_value(struct state *s, uint32_t e)
{
	unsigned v = value(e, s->bits);

	take(s, TAKE(e));
	return v;
}

static int report(struct state *s)
{
	/* Before progress(), after which the bytes may be gone. */
	s->crc = crc32_of(s->crc, s->reported, (size_t)(s->out - s->reported));
	s->reported = s->out;
	s->to->done = (size_t)(s->out - s->to->base);
	s->next_report = s->out + REPORT;
	return s->to->progress(s->to->arg, s->to->done);
}

/* Copies a match of n bytes, at least 3.  May write up to 61 bytes beyond it, which MARGIN allows. */
static inline void copy_match(uint8_t *out, size_t dist, unsigned n)
{
	const uint8_t *from = out - dist;
	uint8_t *end = out + n;

	if (__builtin_expect(dist >= 32, 1)) {
		memcpy(out, from, 32);
		memcpy(out + 32, from + 32, 32);
		for (out += 64, from += 64; out < end; out += 32, from += 32)
			memcpy(out, from, 32);
	} else if (dist == 1) {
		memset(out, *from, n);
	} else if (dist >= 8) {
		do {
			memcpy(out, from, 8);
			out += 8;
			from += 8;
		} while (out < end);
	} else {
		while (out < end)
			*out++ = *from++;
	}
}

/* State of quick_codes(), small enough for registers. */
struct quick {
	const uint8_t *in;
	uint64_t bits;
	unsigned n;
};

static inline void quick_refill(struct quick *q)
{
	uint64_t v;

	memcpy(&v, q->in, 8);
	q->bits |= v << q->n;
	q->in += (63 - q->n) >> 3;
	q->n |= 56;
}

static inline void quick_take(struct quick *q, unsigned n)
{
	q->bits >>= n;
	q->n -= n;
}

static inline uint32_t quick_second(struct quick *q, const uint32_t *table, uint32_t e)
{
	quick_take(q, TAKE(e));
	return table[NUMBER(e) + (q->bits & ((1u << CODE(e)) - 1))];
}

/*
 * Decodes until a symbol that codes() must handle: the end of the block, an invalid symbol, or one near the end of input or
 * output.  At the top of the loop there are 56 bits, enough for two literals and a length.  The next entry is looked up
 * before the copy of the last match, so that the two overlap.
 */
static void quick_codes(struct state *s)
{
	const uint8_t *in_end = s->end - QUICK_MARGIN, *base = s->to->base;
	uint8_t *out = s->out, *out_end = s->limit < s->next_report ? s->limit : s->next_report;
	struct quick q = { s->in, s->bits, s->n }, before;
	const uint32_t *lengths = s->lengths, *dists = s->dists;
	uint32_t e;

	quick_refill(&q);
	e = lengths[q.bits & ((1u << MAIN_BITS) - 1)];
	for (;;) {
		unsigned length;
		size_t dist;

		if (e & LITERAL) {
			quick_take(&q, TAKE(e));
			*out++ = (uint8_t)NUMBER(e);
			e = lengths[q.bits & ((1u << MAIN_BITS) - 1)];
			if (e & LITERAL) {
				quick_take(&q, TAKE(e));
				*out++ = (uint8_t)NUMBER(e);
				e = lengths[q.bits & ((1u << MAIN_BITS) - 1)];
			}
		}
		before = q;
		if (__builtin_expect(e & SPECIAL, 0)) {
			if (e & SECOND)
				e = quick_second(&q, lengths, e);
			if (e & SPECIAL)
				break;
		}
		length = value(e, q.bits);
		quick_take(&q, TAKE(e));
		if (e & LITERAL) {
			*out++ = (uint8_t)NUMBER(e);
			quick_refill(&q);
			e = lengths[q.bits & ((1u << MAIN_BITS) - 1)];
		} else {
			quick_refill(&q);
			e = dists[q.bits & ((1u << DIST_BITS) - 1)];
			if (__builtin_expect(e & SPECIAL, 0)) {
				if (e & SECOND)
					e = quick_second(&q, dists, e);
				if (e & SPECIAL)
					break;
			}
			dist = value(e, q.bits);
			quick_take(&q, TAKE(e));
			if (__builtin_expect(dist > (size_t)(out - base), 0))
				break;
			quick_refill(&q);
			e = lengths[q.bits & ((1u << MAIN_BITS) - 1)];
			copy_match(out, dist, length);
			out += length;
		}
		if (q.in >= in_end || out >= out_end) {
			before = q;
			break;
		}
	}
	s->out = out;
	s->in = before.in;
	s->bits = before.bits;
	s->n = before.n;
}

static enum inflate_result codes(struct state *s)
{
	for (;;) {
		uint32_t e;
		unsigned length;
		size_t dist;

		if (s->end - s->in > (ptrdiff_t)QUICK_MARGIN && s->out < s->limit && s->out < s->next_report)
			quick_codes(s);
		if (s->out >= s->next_report) {
			if (report(s) < 0)
				return INFLATE_STOPPED;
			if (overrun(s))
				return INFLATE_CUT;
		}
		if (s->out >= s->limit)
			return INFLATE_FULL;
		refill(s);
		e = look_up(s, s->lengths, MAIN_BITS);
		if (e & HOLE)
			return overrun(s) ? INFLATE_CUT : INFLATE_BAD;
		if (e & LITERAL) {
			take(s, TAKE(e));
			*s->out++ = (uint8_t)NUMBER(e);
			continue;
		}
		length = take_value(s, e);
		if (e & SPECIAL)
			return overrun(s) ? INFLATE_CUT : INFLATE_OK;
		refill(s);
		e = look_up(s, s->dists, DIST_BITS);
		dist = take_value(s, e);
		if (overrun(s))
			return INFLATE_CUT;
		if (e & HOLE || dist > (size_t)(s->out - s->to->base))
			return INFLATE_BAD;
		copy_match(s->out, dist, length);
		s->out += length;
	}
}

static enum inflate_result stored(struct state *s)
{
	unsigned length, check;
	size_t have;

	take(s, s->n & 7);
	refill(s);
	length = take(s, 16);
	check = take(s, 16);
	if (overrun(s))
		return INFLATE_CUT;
	if (length != (~check & 0xffff))
		return INFLATE_BAD;
	s->in -= (s->n - s->beyond) / 8;        /* returns the bytes that refill() read ahead */
	s->bits = 0;
	s->n = s->beyond = 0;
	have = (size_t)(s->end - s->in);
	if (s->out + length > s->limit)
		return INFLATE_FULL;
	memcpy(s->out, s->in, have < length ? have : length);
	s->out += have < length ? have : length;
	s->in += have < length ? have : length;
	if (have < length)
		return INFLATE_CUT;
	return s->out >= s->next_report && report(s) < 0 ? INFLATE_STOPPED : INFLATE_OK;
}

static bool fixed_tables(struct state *s)
{
	uint8_t lengths[288];

	memset(lengths, 8, 144);
	memset(lengths + 144, 9, 112);
	memset(lengths + 256, 7, 24);
	memset(lengths + 280, 8, 8);
	if (!inflate_table(s->lengths, MAIN_BITS, lengths, 288, SYMBOL_LENGTHS))
		return false;
	memset(lengths, 5, 32);
	return inflate_table(s->dists, DIST_BITS, lengths, 32, SYMBOL_DISTANCES);
}

static enum inflate_result read_tables(struct state *s)
{
	static const uint8_t order[19] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
	uint8_t lengths[320] = { 0 }, small[19] = { 0 };
	unsigned n_lengths, n_dists, n_small, i = 0;

	refill(s);
	n_lengths = take(s, 5) + 257;
	n_dists = take(s, 5) + 1;
	n_small = take(s, 4) + 4;
	for (unsigned k = 0; k < n_small; k++) {
		refill(s);
		small[order[k]] = (uint8_t)take(s, 3);
	}
	if (n_lengths > 286 || n_dists > 30 || !inflate_table(s->dists, 7, small, 19, SYMBOL_NUMBERS))
		return INFLATE_BAD;
	while (i < n_lengths + n_dists) {
		unsigned symbol, again = 1, value = 0;
		uint32_t e;

		refill(s);
		e = look_up(s, s->dists, 7);
		symbol = NUMBER(e);
		take(s, TAKE(e));
		if (e & HOLE || overrun(s))
			return overrun(s) ? INFLATE_CUT : INFLATE_BAD;
		if (symbol < 16) {
			value = symbol;
		} else if (symbol == 16) {
			if (!i)
				return INFLATE_BAD;
			value = lengths[i - 1];
			again = 3 + take(s, 2);
		} else {
			again = symbol == 17 ? 3 + take(s, 3) : 11 + take(s, 7);
		}
		if (again > n_lengths + n_dists - i)
			return INFLATE_BAD;
		memset(lengths + i, (int)value, again);
		i += again;
	}
	if (!lengths[256] || !inflate_table(s->lengths, MAIN_BITS, lengths, n_lengths, SYMBOL_LENGTHS) ||
	    !inflate_table(s->dists, DIST_BITS, lengths + n_lengths, n_dists, SYMBOL_DISTANCES))
		return INFLATE_BAD;
	return overrun(s) ? INFLATE_CUT : INFLATE_OK;
}

static enum inflate_result blocks(struct state *s)
{
	enum inflate_result rc = INFLATE_OK;
	bool last = false;

	while (!last && rc == INFLATE_OK) {
		unsigned type;

		refill(s);
		last = take(s, 1);
		type = take(s, 2);
		if (overrun(s))
			return INFLATE_CUT;
		if (type == 3)
			return INFLATE_BAD;
		if (type == 0)
			rc = stored(s);
		else if (type == 1)
			rc = fixed_tables(s) ? codes(s) : INFLATE_BAD;
		else if ((rc = read_tables(s)) == INFLATE_OK)
			rc = codes(s);
	}
	return rc;
}

/* Returns the first byte after the header of a member, or NULL: no header, or a truncated one. */
static const uint8_t *behind_header(const uint8_t *p, const uint8_t *end)
{
	unsigned flags;

	if (end - p < 10 || p[0] != 0x1f || p[1] != 0x8b || p[2] != 8)
		return NULL;
	flags = p[3];
	p += 10;
	if (flags & 4) {
		if (end - p < 2 || end - p - 2 < (p[0] | p[1] << 8))
			return NULL;
		p += 2 + (p[0] | p[1] << 8);
	}
	for (unsigned text = 8; text <= 16; text *= 2) {
		if (!(flags & text))
			continue;
		p = memchr(p, 0, (size_t)(end - p));
		if (!p)
			return NULL;
		p++;
	}
	if (flags & 2)
		p += 2;
	return p <= end ? p : NULL;
}

static enum inflate_result member(struct state *s)
{
	const uint8_t *body = behind_header(s->in, s->end);
	enum inflate_result rc;
	uint32_t crc;

	if (!body)
		return s->end - s->in < 20 ? INFLATE_CUT : INFLATE_BAD;
	s->in = body;
	s->bits = 0;
	s->n = s->beyond = 0;
	s->crc = 0;
	s->reported = s->out;
	rc = blocks(s);
	if (rc == INFLATE_BAD && s->beyond)     /* appended zeros were decoded as data: the input is truncated */
		rc = INFLATE_CUT;
	if (report(s) < 0)
		return INFLATE_STOPPED;
	if (rc != INFLATE_OK)
		return rc;
	s->in -= (s->n - s->beyond) / 8;
	if (s->end - s->in < 8)
		return INFLATE_CUT;
	memcpy(&crc, s->in, 4);
	s->in += 8;
	return crc == s->crc ? INFLATE_OK : INFLATE_CHECKSUM;
}

enum inflate_result inflate_gzip(const uint8_t *in, size_t size, struct inflate_out *out)
{
	struct state s = { .in = in, .end = in + size, .out = out->base + out->done, .to = out };
	enum inflate_result rc;

	if ((size_t)(out->end - out->base) < MARGIN)
		return INFLATE_FULL;
	s.limit = out->end - MARGIN;
	s.next_report = s.out + REPORT;
	do {
		rc = member(&s);
		while (rc == INFLATE_OK && s.in < s.end && !*s.in)
			s.in++;
	} while (rc == INFLATE_OK && s.in < s.end);
	return rc;
}
