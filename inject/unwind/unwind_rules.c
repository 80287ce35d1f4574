/*
 * Reads .eh_frame for one address: the search table of .eh_frame_hdr leads to the function's entry (FDE).  Its program, and that of the
 * entry it shares with other functions (CIE), are run up to the address.  All bytes are read through a reader that knows the end of the
 * segment: a file may contain anything.
 */
#include "inject/unwind/unwind.h"

#include <string.h>

#include "inject/core/scratch.h"
#include "inject/unwind/images.h"

#if defined(__x86_64__)

#define REG_RBX 3
#define REG_RBP 6
#define REG_RSP 7
#define REG_RA  16

#define SAVED_DEPTH 8           /* most nested DW_CFA_remember_state; compilers use one */

/* Reads bytes up to `end`.  Beyond it, reads give 0 and set `bad`. */
struct rule_reader {
	const uint8_t *p, *end;
	bool bad;
};

static inline __attribute__((always_inline)) uint64_t take_number(struct rule_reader *r, size_t n)
{
	uint64_t v = 0;

	if (r->bad || (size_t)(r->end - r->p) < n) {
		r->bad = true;
		return 0;
	}
	memcpy(&v, r->p, n);
	r->p += n;
	return v;
}

static void skip(struct rule_reader *r, uint64_t n)
{
	if (r->bad || (uint64_t)(r->end - r->p) < n)
		r->bad = true;
	else
		r->p += n;
}

static uint64_t uleb(struct rule_reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint64_t byte = take_number(r, 1);

		if (shift < 64)
			v |= (byte & 127) << shift;
		if (!(byte & 128))
			return v;
	}
}

static int64_t sleb(struct rule_reader *r)
{
	uint64_t v = 0, byte;
	unsigned shift = 0;

	do {
		byte = take_number(r, 1);
		if (shift < 64)
			v |= (byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	if (shift < 64 && (byte & 64))
		v |= ~0ull << shift;
	return (int64_t)v;
}

/* Reads a pointer in a DW_EH_PE encoding (`how`).  data: what encoding 0x30 is relative to. */
static uint64_t pointer(struct rule_reader *r, uint8_t how, uint64_t data)
{
	uint64_t at = (uint64_t)(uintptr_t)r->p, v;

	switch (how & 15) {
	case 0: case 4: case 12: v = take_number(r, 8); break;
	case 1: v = uleb(r); break;
	case 2: v = take_number(r, 2); break;
	case 3: v = take_number(r, 4); break;
	case 9: v = (uint64_t)sleb(r); break;
	case 10: v = (uint64_t)(int64_t)(int16_t)take_number(r, 2); break;
	case 11: v = (uint64_t)(int64_t)(int32_t)take_number(r, 4); break;
	default: r->bad = true; return 0;
	}
	switch (how & 0x70) {
	case 0x00: return v;
	case 0x10: return v + at;
	case 0x30: return v + data;
	default: r->bad = true; return 0;
	}
}

/* Returns a reader from `at` to the end of its segment. */
static struct rule_reader reader_at(const struct image *image, uint64_t at)
{
	for (uint32_t i = 0; i < image->n_segments; i++)
		if (at >= image->segments[i].low && at < image->segments[i].high)
			return (struct rule_reader){ .p = (const uint8_t *)(uintptr_t)at,
						.end = (const uint8_t *)(uintptr_t)image->segments[i].high };
	return (struct rule_reader){ .bad = true };
}

/* ---- entries: FDE of a function, CIE that several functions share ---- */

struct cie {
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t how;            /* DW_EH_PE encoding of pointers */
	bool signal, augmented;
	struct rule_reader program;
};

/* Returns a reader of the entry after its length.  64-bit lengths do not occur in .eh_frame of programs. */
static struct rule_reader entry_at(const struct image *image, uint64_t at)
{
	struct rule_reader r = reader_at(image, at);
	uint64_t length = take_number(&r, 4);

	if (!length || length == 0xffffffff || (uint64_t)(r.end - r.p) < length)
		r.bad = true;
	if (!r.bad)
		r.end = r.p + length;
	return r;
}

static void take_augmentation(struct cie *c, struct rule_reader *r, const char *letters)
{
	uint64_t length = uleb(r);
	struct rule_reader data = *r;

	skip(r, length);
	if (r->bad)
		return;
	data.end = data.p + length;
	for (; *letters; letters++) {
		if (*letters == 'R') {
			c->how = (uint8_t)take_number(&data, 1);
		} else if (*letters == 'P') {
			uint8_t how = (uint8_t)take_number(&data, 1);

			pointer(&data, how & 0x7f, 0);
		} else if (*letters == 'L') {
			take_number(&data, 1);
		} else if (*letters == 'S') {
			c->signal = true;
		} else if (*letters != 'B') {
			r->bad = true;
		}
	}
	r->bad |= data.bad;
}

static bool take_common(struct cie *c, const struct image *image, uint64_t at)
{
	struct rule_reader r = entry_at(image, at);
	char letters[8] = "";
	uint8_t version;
	size_t n = 0;

	*c = (struct cie){ 0 };
	if (take_number(&r, 4) != 0)
		return false;
	version = (uint8_t)take_number(&r, 1);
	while ((letters[n] = (char)take_number(&r, 1)) && ++n < sizeof letters)
		;
	if (r.bad || n == sizeof letters || (version != 1 && version != 3))
		return false;
	c->code_factor = uleb(&r);
	c->data_factor = sleb(&r);
	if ((version == 1 ? take_number(&r, 1) : uleb(&r)) != REG_RA)
		return false;
	if (letters[0] == 'z') {
		c->augmented = true;
		take_augmentation(c, &r, letters + 1);
	} else if (letters[0]) {
		return false;
	}
	c->program = r;
	return !r.bad;
}

/* ---- the programs of the entries ---- */

struct state {
	uint8_t kind;           /* enum rule_kind */
	bool bp_saved, bx_saved, outermost;
	int64_t offset, bp, bx, ra;
};

static void set_cfa(struct state *st, uint64_t reg, int64_t offset)
{
	st->offset = offset;
	st->kind = reg == REG_RSP ? RULE_SP : reg == REG_RBP ? RULE_BP : reg == REG_RBX ? RULE_BX : RULE_FAIL;
}

static void saved(struct state *st, uint64_t reg, int64_t at)
{
	if (reg == REG_RBP) {
		st->bp_saved = true;
		st->bp = at;
	} else if (reg == REG_RBX) {
		st->bx_saved = true;
		st->bx = at;
	} else if (reg == REG_RA) {
		st->ra = at;
	}
}

static void restored(struct state *st, uint64_t reg, const struct state *initial)
{
	if (reg == REG_RBP) {
		st->bp_saved = initial->bp_saved;
		st->bp = initial->bp;
	} else if (reg == REG_RBX) {
		st->bx_saved = initial->bx_saved;
		st->bx = initial->bx;
	} else if (reg == REG_RA) {
		st->ra = initial->ra;
	}
}

#define OP_DEREF       0x06
#define OP_PLUS_UCONST 0x23
#define OP_PLUS        0x22
#define OP_BREG_BP     0x76
#define OP_BREG_SP     0x77

/* The CFA as an expression: the three forms that occur in practice. */
static void cfa_expression(struct state *st, struct rule_reader *r)
{
	uint64_t length = uleb(r);
	struct rule_reader x = *r;
	uint8_t first;
	int64_t at, plus = 0;

	skip(r, length);
	st->kind = RULE_FAIL;
	if (r->bad)
		return;
	x.end = x.p + length;
	first = (uint8_t)take_number(&x, 1);
	if (first == OP_BREG_SP && length == 11 && x.end[-1] == OP_PLUS) {
		st->kind = RULE_PLT;    /* rsp + 8 + ((pc & 15) >= 11 ?  8 : 0): what ld writes for the PLT */
		st->offset = 8;
		return;
	}
	at = sleb(&x);
	if (take_number(&x, 1) != OP_DEREF)
		return;
	if (x.p < x.end && take_number(&x, 1) == OP_PLUS_UCONST)
		plus = (int64_t)uleb(&x);
	if (x.bad || x.p != x.end)
		return;
	if (first == OP_BREG_BP && !plus) {
		st->kind = RULE_AT_BP;
		st->offset = at;
	} else if (first == OP_BREG_SP && at >= 0 && at < 8192 && plus >= 0 && plus < 8192) {
		st->kind = RULE_AT_SP;
		st->offset = at << 13 | plus;
	}
}

/* A register's saved place as an expression.  The only form handled is rbp saved where rbp points, as with a realigned stack. */
static void saved_expression(struct state *st, struct rule_reader *r, bool value)
{
	uint64_t reg = uleb(r), length = uleb(r);
	struct rule_reader x = *r;

	skip(r, length);
	if (r->bad || (reg != REG_RBP && reg != REG_RA && reg != REG_RBX))
		return;
	x.end = x.p + length;
	if (reg == REG_RBP && !value && take_number(&x, 1) == OP_BREG_BP && sleb(&x) == 0 && x.p == x.end && !x.bad) {
		st->bp_saved = true;
		st->bp = 0;
		return;
	}
	if (reg == REG_RBX && st->kind == RULE_AT_BP)
		return;         /* rbx is then unknown; hardly any rule needs it */
	st->kind = RULE_FAIL;
}

/* Runs an opcode that has no operand in its first byte.  False: unknown opcode. */
static bool other_opcode(uint8_t op, struct rule_reader *r, const struct cie *c, struct state *st, const struct state *initial)
{
	uint64_t reg;

	switch (op) {
	case 0x05: reg = uleb(r); saved(st, reg, (int64_t)uleb(r) * c->data_factor); return true;       /* offset_extended */
	case 0x06: restored(st, uleb(r), initial); return true;
	case 0x07:                                                              /* undefined */
		reg = uleb(r);
		st->outermost |= reg == REG_RA;
		st->bp_saved &= reg != REG_RBP;
		return true;
	case 0x08: reg = uleb(r); st->bp_saved &= reg != REG_RBP; st->bx_saved &= reg != REG_RBX; return true;
	case 0x09:                                                              /* in another register */
		reg = uleb(r);
		uleb(r);
		if (reg == REG_RBP || reg == REG_RA)
			st->kind = RULE_FAIL;
		return true;
	case 0x0c: reg = uleb(r); set_cfa(st, reg, (int64_t)uleb(r)); return true;
	case 0x0d: set_cfa(st, uleb(r), st->offset); return true;
	case 0x0e: st->offset = (int64_t)uleb(r); return true;
	case 0x0f: cfa_expression(st, r); return true;
	case 0x10: saved_expression(st, r, false); return true;
	case 0x11: reg = uleb(r); saved(st, reg, sleb(r) * c->data_factor); return true;
	case 0x12: reg = uleb(r); set_cfa(st, reg, sleb(r) * c->data_factor); return true;
	case 0x13: st->offset = sleb(r) * c->data_factor; return true;
	case 0x14: case 0x15:                                                   /* the value itself, not where it is */
		reg = uleb(r);
		uleb(r);
		if (reg == REG_RBP || reg == REG_RA)
			st->kind = RULE_FAIL;
		return true;
	case 0x16: saved_expression(st, r, true); return true;
	case 0x2e: uleb(r); return true;                                        /* size of arguments */
	default: return false;
	}
}

/* Moves *at, from which the following opcodes apply.  False: this opcode does not. */
static bool advance(uint8_t op, struct rule_reader *r, const struct cie *c, uint64_t *at)
{
	if (op >> 6 == 1)
		*at += (op & 63) * c->code_factor;
	else if (op == 1)
		*at = pointer(r, c->how, 0);
	else if (op >= 2 && op <= 4)
		*at += (op == 2 ? take_number(r, 1) : op == 3 ? take_number(r, 2) : take_number(r, 4)) * c->code_factor;
	else
		return false;
	return true;
}

/* Runs a program up to pc.  initial NULL: the CIE's program, whose result is the initial state for the FDE's. */
static bool run(struct rule_reader r, const struct cie *c, uint64_t at, uint64_t pc, struct state *st, const struct state *initial,
		struct state kept[SAVED_DEPTH])
{
	const struct state none = { .ra = -8 };
	unsigned n_kept = 0;

	if (!initial)
		initial = &none;
	while (r.p < r.end && !r.bad) {
		uint8_t op = (uint8_t)take_number(&r, 1);

		if (advance(op, &r, c, &at)) {
			if (at > pc)
				return !r.bad;
		} else if (op >> 6 == 2) {
			saved(st, op & 63, (int64_t)uleb(&r) * c->data_factor);
		} else if (op >> 6 == 3) {
			restored(st, op & 63, initial);
		} else if (op == 0x0a) {
			if (n_kept == SAVED_DEPTH)
				return false;
			kept[n_kept++] = *st;
		} else if (op == 0x0b) {
			if (!n_kept)
				return false;
			*st = kept[--n_kept];
		} else if (op && !other_opcode(op, &r, c, st, initial)) {
			return false;
		}
	}
	return !r.bad;
}

/* ---- together ---- */

static uint64_t rule_of(unsigned kind, int64_t offset, int64_t bp, int64_t bx)
{
	return kind | ((uint64_t)offset & 0xfffffff) << 4 | (uint64_t)(uint16_t)bp << 32 | (uint64_t)(uint16_t)bx << 48;
}

static bool is_word(int64_t v)
{
	return !(v & 7) && v / 8 == (int16_t)(v / 8);
}

static uint64_t pack(const struct state *st)
{
	int64_t bp = st->bp_saved ? st->bp : 0, bx = st->bx_saved ? st->bx : 0;

	if (st->outermost)
		return RULE_END;
	if (st->kind == RULE_NONE || st->kind == RULE_FAIL || st->ra != -8 || st->offset < -(1 << 27) || st->offset >= 1 << 27 ||
	    !is_word(bp) || !is_word(bx))
		return RULE_FAIL;
	if (st->kind == RULE_AT_BP)
		return rule_of(RULE_AT_BP, st->offset, 0, 0);
	return rule_of(st->kind, st->offset, bp / 8, bx / 8);
}

/* Returns the address of the FDE of the last function that begins at or before pc; 0: none. */
static uint64_t search(const struct image *image, uint64_t pc)
{
	uint64_t hdr = (uint64_t)(uintptr_t)image->eh_hdr, n;
	struct rule_reader r = reader_at(image, hdr);
	uint8_t version = (uint8_t)take_number(&r, 1), frame_how = (uint8_t)take_number(&r, 1), count_how = (uint8_t)take_number(&r, 1);
	uint8_t table_how = (uint8_t)take_number(&r, 1);
	uint64_t low = 0, high;
	int32_t pair[2];

	/* Only tables of 4-byte offsets from the header, which every link editor writes. */
	if (r.bad || version != 1 || count_how != 3 || table_how != 0x3b)
		return 0;
	pointer(&r, frame_how, hdr);
	n = take_number(&r, 4);
	if (r.bad || (uint64_t)(r.end - r.p) / 8 < n)
		return 0;
	for (high = n; low < high;) {
		uint64_t middle = (low + high) / 2;

		memcpy(pair, r.p + 8 * middle, sizeof pair);
		if (hdr + (uint64_t)(int64_t)pair[0] <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	memcpy(pair, r.p + 8 * (low - 1), sizeof pair);
	return hdr + (uint64_t)(int64_t)pair[1];
}

uint64_t rule_make(const struct image *image, uint64_t pc)
{
	struct state st = { .ra = -8 }, initial, *kept;
	uint64_t entry, start, size;
	struct cie c;
	struct rule_reader r;
	uint32_t back;
	bool done;

	if (!image->eh_hdr || !(entry = search(image, pc)))
		return RULE_NONE;
	r = entry_at(image, entry);
	back = (uint32_t)take_number(&r, 4);
	if (r.bad || !back || !take_common(&c, image, entry + 4 - back))
		return RULE_FAIL;
	start = pointer(&r, c.how, 0);
	size = pointer(&r, c.how & 15, 0);
	if (r.bad || pc < start || pc - start >= size)
		return r.bad ? RULE_FAIL : RULE_NONE;
	if (c.signal)
		return RULE_SIGNAL;
	if (c.augmented)
		skip(&r, uleb(&r));
	if (!(kept = scratch_push(SAVED_DEPTH * sizeof *kept)))
		return RULE_FAIL;
	done = run(c.program, &c, 0, UINT64_MAX, &st, NULL, kept);
	initial = st;
	done = done && run(r, &c, start, pc, &st, &initial, kept);
	scratch_pop(kept);
	return done ? pack(&st) : RULE_FAIL;
}

#else

/* On other machines frame records are part of the calling convention: the frame pointer is used. */
uint64_t rule_make(const struct image *image, uint64_t pc)
{
	(void)image, (void)pc;
	return RULE_NONE;
}

#endif
