/* RFC 1951 and 1952.  Codes are looked up: 11 bits at once, a second table for those that are longer. */
#include "cli/import/inflate.h"

#include <stdbool.h>
#include <string.h>

#include "trace/file.h"

#define MAIN_BITS  11u
#define DIST_BITS  8u
#define LONGEST    15u
#define TABLE_SIZE ((1u << MAIN_BITS) + 288u * (1u << (LONGEST - MAIN_BITS)))   /* a second table for each code, at worst */
#define REPORT     (256u << 10)
#define MARGIN     320u                 /* a literal or a match, and what copying writes behind it */

/* An entry: bits to take, then extra bits and what it is, then its number. */
#define TAKE(e)    ((e) & 0xff)
#define EXTRA(e)   ((e) >> 8 & 0x1f)
#define NUMBER(e)  ((e) >> 16)
#define LITERAL    0x8000u
#define END        0x4000u
#define SECOND     0x2000u              /* NUMBER: where its table begins; EXTRA: bits that it is looked up by */

struct state {
	const uint8_t *in, *end;
	uint64_t bits;
	unsigned n;                     /* bits in `bits` */
	unsigned beyond;                /* zero bits added behind the end of the input */
	uint8_t *out, *limit, *next_report, *reported;
	uint32_t crc;                   /* of the member's bytes up to reported */
	struct inflate_out *to;
	uint32_t lengths[TABLE_SIZE], dists[TABLE_SIZE];
};

static const uint16_t length_base[29] = { 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83,
					  99, 115, 131, 163, 195, 227, 258 };
static const uint8_t length_extra[29] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5,
					  5, 0 };
static const uint16_t dist_base[30] = { 1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769,
					1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577 };
static const uint8_t dist_extra[30] = { 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11,
					12, 12, 13, 13 };

/* At least 56 bits are there afterwards; behind the end of the input they are zeros, and counted. */
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

/* Bits were used that the input does not have. */
static inline bool overrun(const struct state *s)
{
	return s->beyond > s->n;
}

static unsigned reversed(unsigned code, unsigned n)
{
	unsigned r = 0;

	for (unsigned i = 0; i < n; i++)
		r |= (code >> i & 1) << (n - 1 - i);
	return r;
}

static uint32_t length_entry(unsigned symbol)
{
	if (symbol < 256)
		return symbol << 16 | LITERAL;
	if (symbol == 256)
		return END;
	return symbol - 257 < 29 ? (uint32_t)length_base[symbol - 257] << 16 | (uint32_t)length_extra[symbol - 257] << 8 : 0;
}

static uint32_t dist_entry(unsigned symbol)
{
	return symbol < 30 ? (uint32_t)dist_base[symbol] << 16 | (uint32_t)dist_extra[symbol] << 8 : 0;
}

static uint32_t plain_entry(unsigned symbol)
{
	return symbol << 16;
}

/* Codes of the given lengths into a table that is looked up by `bits` bits.  False: they are no code. */
static bool build(uint32_t *table, unsigned bits, const uint8_t *lengths, unsigned n, uint32_t (*entry)(unsigned))
{
	unsigned count[LONGEST + 1] = { 0 }, next[LONGEST + 2], used = 1u << bits, code = 0, left = 1;

	for (unsigned i = 0; i < n; i++)
		count[lengths[i]]++;
	count[0] = 0;
	for (unsigned l = 1; l <= LONGEST; l++) {
		next[l] = code = (code + count[l - 1]) << 1;
		left = left << 1;
		if (count[l] > left)
			return false;
		left -= count[l];
	}
	memset(table, 0, (size_t)used * sizeof *table);
	for (unsigned i = 0; i < n; i++) {
		unsigned l = lengths[i], r;
		uint32_t e = entry(i);

		if (!l)
			continue;
		r = reversed(next[l]++, l);
		if (!e && entry != plain_entry)
			continue;       /* a symbol that must not occur stays a hole */
		if (l <= bits) {
			for (unsigned at = r; at < 1u << bits; at += 1u << l)
				table[at] = e | l;
			continue;
		}
		uint32_t *main = &table[r & ((1u << bits) - 1)];
		unsigned second = LONGEST - bits;

		if (!*main) {
			*main = used << 16 | SECOND | second << 8 | bits;
			memset(table + used, 0, ((size_t)1 << second) * sizeof *table);
			used += 1u << second;
		}
		for (unsigned at = r >> bits; at < 1u << second; at += 1u << (l - bits))
			table[NUMBER(*main) + at] = e | (l - bits);
	}
	return true;
}

static inline uint32_t look_up(struct state *s, const uint32_t *table, unsigned bits)
{
	uint32_t e = table[s->bits & ((1u << bits) - 1)];

	if (e & SECOND) {
		take(s, bits);
		e = table[NUMBER(e) + (s->bits & ((1u << EXTRA(e)) - 1))];
	}
	s->bits >>= TAKE(e);
	s->n -= TAKE(e);
	return e;
}

static int report(struct state *s)
{
	/* Before they are handed on: afterwards they may be gone. */
	s->crc = crc32_of(s->crc, s->reported, (size_t)(s->out - s->reported));
	s->reported = s->out;
	s->to->done = (size_t)(s->out - s->to->base);
	s->next_report = s->out + REPORT;
	return s->to->progress(s->to->arg, s->to->done);
}

/* Writes up to 31 bytes behind the copy; MARGIN is there. */
static inline void copy_match(uint8_t *out, size_t dist, unsigned n)
{
	const uint8_t *from = out - dist;
	uint8_t *end = out + n;

	if (dist >= 16) {
		do {
			memcpy(out, from, 16);
			out += 16;
			from += 16;
		} while (out < end);
	} else if (dist == 1) {
		memset(out, *from, n);
	} else {
		while (out < end)
			*out++ = *from++;
	}
}

static enum inflate_result codes(struct state *s)
{
	for (;;) {
		uint32_t e;
		unsigned length;
		size_t dist;

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
		if (e & LITERAL) {
			*s->out++ = (uint8_t)NUMBER(e);
			e = look_up(s, s->lengths, MAIN_BITS);
			if (e & LITERAL) {
				*s->out++ = (uint8_t)NUMBER(e);
				continue;
			}
			refill(s);
		}
		if (e & END)
			return overrun(s) ? INFLATE_CUT : INFLATE_OK;
		if (!TAKE(e))
			return overrun(s) ? INFLATE_CUT : INFLATE_BAD;
		length = NUMBER(e) + take(s, EXTRA(e));
		e = look_up(s, s->dists, DIST_BITS);
		dist = NUMBER(e) + take(s, EXTRA(e));
		if (overrun(s))
			return INFLATE_CUT;
		if (!TAKE(e) || dist > (size_t)(s->out - s->to->base))
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
	s->in -= (s->n - s->beyond) / 8;        /* what was read ahead goes back */
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
	if (!build(s->lengths, MAIN_BITS, lengths, 288, length_entry))
		return false;
	memset(lengths, 5, 32);
	return build(s->dists, DIST_BITS, lengths, 32, dist_entry);
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
	if (n_lengths > 286 || n_dists > 30 || !build(s->dists, 7, small, 19, plain_entry))
		return INFLATE_BAD;
	while (i < n_lengths + n_dists) {
		unsigned symbol, again = 1, value = 0;
		uint32_t e;

		refill(s);
		e = look_up(s, s->dists, 7);
		symbol = NUMBER(e);
		if (!TAKE(e) || overrun(s))
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
	if (!lengths[256] || !build(s->lengths, MAIN_BITS, lengths, n_lengths, length_entry) ||
	    !build(s->dists, DIST_BITS, lengths + n_lengths, n_dists, dist_entry))
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

/* Behind the header of a member, or NULL: it is none, or not whole. */
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
	if (rc == INFLATE_BAD && s->beyond)     /* zeros behind the end were taken for what is missing */
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
