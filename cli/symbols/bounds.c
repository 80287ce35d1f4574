#include "cli/symbols/bounds.h"

#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"

/* Pointer encodings: the low four bits are the form, the next three what the pointer is relative to. */
enum { FORM = 0x0f, RELATIVE = 0x70, TO_ITSELF = 0x10, INDIRECT = 0x80, OMITTED = 0xff };
enum { FORM_ABSOLUTE, FORM_ULEB, FORM_U16, FORM_U32, FORM_U64, FORM_SLEB = 9, FORM_S16, FORM_S32, FORM_S64 };

/* A range of the section being read; reading past its end returns 0 and sets `bad`. */
struct section_cursor {
	const uint8_t *at, *end;
	bool bad;
};

struct section {
	const uint8_t *bytes;
	uint64_t size, address;
	uint64_t common;                /* offset of the common entry (CIE) read last; UINT64_MAX: none */
	uint8_t encoding;               /* its encoding of addresses; OMITTED: unknown */
};

static uint64_t take_number(struct section_cursor *c, size_t n, bool is_signed)
{
	uint64_t v = 0;

	if ((size_t)(c->end - c->at) < n) {
		c->bad = true;
		c->at = c->end;
		return 0;
	}
	memcpy(&v, c->at, n);           /* the file is little endian too */
	c->at += n;
	if (is_signed && n < 8 && v >> (8 * n - 1))
		v |= ~0ull << 8 * n;
	return v;
}

static uint64_t take_leb(struct section_cursor *c, bool is_signed)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = take_number(c, 1, false);

		v |= (byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (is_signed && byte & 0x40 && shift + 7 < 64)
			v |= ~0ull << (shift + 7);
		return v;
	}
	c->bad = true;
	return 0;
}

static uint64_t take_form(struct section_cursor *c, uint8_t form)
{
	switch (form) {
	case FORM_ABSOLUTE:
	case FORM_U64:
	case FORM_S64:
		return take_number(c, 8, false);
	case FORM_ULEB:
	case FORM_SLEB:
		return take_leb(c, form == FORM_SLEB);
	case FORM_U16:
	case FORM_S16:
		return take_number(c, 2, form == FORM_S16);
	case FORM_U32:
	case FORM_S32:
		return take_number(c, 4, form == FORM_S32);
	}
	c->bad = true;
	return 0;
}

/* The contents of the entry at an offset, behind its length; `bad` if it does not lie in the section. */
static struct section_cursor entry_at(const struct section *s, uint64_t offset)
{
	struct section_cursor c = { s->bytes + offset, s->bytes + s->size, offset > s->size };
	uint64_t length;

	if (c.bad)
		return c;
	length = take_number(&c, 4, false);
	if (length == UINT32_MAX)
		length = take_number(&c, 8, false);
	if (length > (uint64_t)(c.end - c.at))
		c.bad = true;
	else
		c.end = c.at + length;
	return c;
}

/* Encoding of addresses in the entries that refer to this common entry. */
static uint8_t encoding_of(struct section_cursor c)
{
	const char *letters;
	uint8_t version, encoding = FORM_ABSOLUTE;

	if (take_number(&c, 4, false) != 0)
		return OMITTED;
	version = (uint8_t)take_number(&c, 1, false);
	letters = (const char *)c.at;
	if (!memchr(letters, '\0', (size_t)(c.end - c.at)))
		return OMITTED;
	c.at += strlen(letters) + 1;
	if (version == 4)
		take_number(&c, 2, false);
	take_leb(&c, false);
	take_leb(&c, true);
	if (version == 1)
		take_number(&c, 1, false);
	else
		take_leb(&c, false);
	if (*letters != 'z')
		return c.bad || *letters ? OMITTED : encoding;
	take_leb(&c, false);
	for (letters++; *letters && *letters != 'R' && !c.bad; letters++) {
		if (*letters == 'P')
			take_form(&c, (uint8_t)take_number(&c, 1, false) & FORM);
		else if (*letters == 'L')
			take_number(&c, 1, false);
		else if (*letters != 'S' && *letters != 'B')
			return OMITTED;
	}
	if (*letters == 'R')
		encoding = (uint8_t)take_number(&c, 1, false);
	return c.bad ? OMITTED : encoding;
}

/* Reads the function of an entry.  False: it describes no function, or in an unsupported encoding. */
static bool function_of(struct section *s, struct section_cursor c, struct bound *out)
{
	uint64_t here = (uint64_t)(c.at - s->bytes), back = take_number(&c, 4, false), where, length;

	if (c.bad || !back || back > here)
		return false;
	if (s->common != here - back) {
		struct section_cursor common = entry_at(s, here - back);

		s->common = here - back;
		s->encoding = common.bad ? OMITTED : encoding_of(common);
	}
	if (s->encoding & INDIRECT || ((s->encoding & RELATIVE) && (s->encoding & RELATIVE) != TO_ITSELF))
		return false;
	where = s->encoding & RELATIVE ? s->address + (uint64_t)(c.at - s->bytes) : 0;
	where += take_form(&c, s->encoding & FORM);
	length = take_form(&c, s->encoding & FORM);
	*out = (struct bound){ where, where + length };
	return !c.bad && where && length && out->end > where;
}

static int by_start(const void *a, const void *b)
{
	const struct bound *p = a, *q = b;

	return p->start != q->start ? (p->start < q->start ? -1 : 1) : (p->end > q->end) - (p->end < q->end);
}

void bounds_read(struct bounds *b, const struct elf *e)
{
	struct section s = { .common = UINT64_MAX };
	struct bound found;
	size_t cap = 0;
	Elf64_Shdr head;

	*b = (struct bounds){ 0 };
	if (!e->map || !elf_find(e, ".eh_frame", 0, &head) || !(s.bytes = elf_bytes(e, &head)))
		return;
	s.size = head.sh_size;
	s.address = head.sh_addr;
	for (uint64_t at = 0; at < s.size;) {
		struct section_cursor c = entry_at(&s, at);

		if (c.bad || c.at == c.end)     /* a length of 0 ends the section */
			break;
		at = (uint64_t)(c.end - s.bytes);
		if (!function_of(&s, c, &found))
			continue;
		if (!GROW(b->list, b->n + 1, cap)) {
			bounds_release(b);
			return;
		}
		b->list[b->n++] = found;
	}
	if (b->n)
		qsort(b->list, b->n, sizeof *b->list, by_start);
}

void bounds_release(struct bounds *b)
{
	free(b->list);
	*b = (struct bounds){ 0 };
}

const struct bound *bounds_at(const struct bounds *b, uint64_t address)
{
	size_t low = 0, high = b->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (b->list[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low && address < b->list[low - 1].end ? &b->list[low - 1] : NULL;
}
