/* Decodes the bytes of a payload to names and values. */
#include "cli/model/nvtx/payload_inside.h"

#include "cli/model/inside.h"
#include "trace/payload.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEEPEST 8u              /* limit of nested schemas; a schema could contain itself */
#define MOST    64u             /* limit of shown elements of an array */
#define WORK    20000u          /* limit of entries decoded per payload; schemas that contain each other could be endless */

struct decode {
	struct model *m;
	const struct payloads *p;
	uint32_t process, domain;
	const uint8_t *data;            /* of the schema being walked */
	const char *text, *texts_end;   /* next text behind the bytes; end of the texts */
	const struct entry_def *entries;
	const char *prefix;             /* "outer." */
	unsigned depth;
	unsigned *left;                 /* entries left of WORK */
	const uint8_t *begin;           /* of the payload */
	uint8_t *numbers;               /* copy numbers to this buffer instead of calling fn; NULL: call fn */
	void (*fn)(void *arg, const struct payload_shown *f);
	void *arg;
};

/* ---- one value as text ---- */

struct line {
	char bytes[2048];
	size_t n;
};

static void __attribute__((format(printf, 2, 3))) line_append(struct line *l, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(l->bytes + l->n, sizeof l->bytes - l->n, fmt, args);
	va_end(args);
	l->n += n < 0 ? 0 : (size_t)n;
	if (l->n >= sizeof l->bytes)
		l->n = sizeof l->bytes - 1;
}

static uint64_t load(const uint8_t *at, size_t size)
{
	uint64_t v = 0;

	memcpy(&v, at, size < 8 ? size : 8);
	return v;
}

static int64_t extend(uint64_t v, size_t size)
{
	unsigned bits = 64 - 8 * (unsigned)(size < 8 ? size : 8);

	return (int64_t)(v << bits) >> bits;
}

static bool is_signed(uint64_t type)
{
	return type == PAYLOAD_SHORT || type == PAYLOAD_INT || type == PAYLOAD_LONG || type == PAYLOAD_LONGLONG ||
	       type == PAYLOAD_INT8 || type == PAYLOAD_INT16 || type == PAYLOAD_INT32 || type == PAYLOAD_INT64 ||
	       type == PAYLOAD_WCHAR;
}

static double half(uint16_t bits)
{
	int exponent = bits >> 10 & 31, fraction = bits & 1023;
	double v = exponent == 31 ? (fraction ? NAN : INFINITY)
		 : exponent ? (double)((int64_t)(1024 + fraction) << exponent) / (1 << 25) : (double)fraction / (1 << 24);

	return bits >> 15 ? -v : v;
}

/* Converts a value of a floating point type to double; false: not such a type. */
static bool real(const uint8_t *at, uint64_t type, double *v)
{
	union { uint32_t bits; float f; } narrow;
	union { uint64_t bits; double d; } wide;
	long double longest;

	switch (type) {
	case PAYLOAD_FLOAT: case PAYLOAD_FLOAT32: case PAYLOAD_TF32:
		narrow.bits = (uint32_t)load(at, 4);
		return *v = (double)narrow.f, true;
	case PAYLOAD_DOUBLE: case PAYLOAD_FLOAT64:
		wide.bits = load(at, 8);
		return *v = wide.d, true;
	case PAYLOAD_FLOAT16:
		return *v = half((uint16_t)load(at, 2)), true;
	case PAYLOAD_BF16:
		narrow.bits = (uint32_t)load(at, 2) << 16;
		return *v = (double)narrow.f, true;
	case PAYLOAD_LONGDOUBLE:
		memcpy(&longest, at, sizeof longest);
		return *v = (double)longest, true;
	default:
		return false;
	}
}

/* Appends one element.  Returns true if the text is not a JSON number. */
static bool add_number(struct line *l, const uint8_t *at, uint64_t type, size_t size)
{
	double v;

	if (real(at, type, &v)) {
		bool narrow = type != PAYLOAD_DOUBLE && type != PAYLOAD_FLOAT64 && type != PAYLOAD_LONGDOUBLE;

		if (v - v != 0)
			line_append(l, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
		else
			line_append(l, narrow ? "%.9g" : "%.17g", v);
		return v - v != 0;
	}
	if (type == PAYLOAD_ADDRESS || type == PAYLOAD_COLOR) {
		line_append(l, "0x%llx", (unsigned long long)load(at, size));
		return true;
	}
	if (size > 8) {
		line_append(l, "0x%016llx%016llx", (unsigned long long)load(at + 8, 8), (unsigned long long)load(at, 8));
		return true;
	}
	if (is_signed(type))
		line_append(l, "%lld", (long long)extend(load(at, size), size));
	else
		line_append(l, "%llu", (unsigned long long)load(at, size));
	return false;
}

/* Appends the name of an enumeration's value, or the names of all its bits.  Returns true if the text is not a JSON number. */
static bool add_enum(const struct decode *d, struct line *l, const struct schema_def *s, const uint8_t *at, size_t size)
{
	size_t n, start = l->n;
	const struct entry_def *e = payload_entries_of(d->p, s, &n);
	uint64_t mask = size < 8 ? (1ull << size * 8) - 1 : ~0ull, v = load(at, size);

	for (size_t i = 0; i < n; i++)
		if (!(e[i].row.flags & 1) && (e[i].row.type & mask) == v)
			return line_append(l, "%s", model_string(d->m, e[i].row.name)), true;
	for (size_t i = 0; i < n; i++)
		if (e[i].row.flags & 1 && e[i].row.type && (v & e[i].row.type) == e[i].row.type)
			line_append(l, "%s%s", l->n > start ? "|" : "", model_string(d->m, e[i].row.name));
	if (l->n > start)
		return true;
	return add_number(l, at, PAYLOAD_UINT64, size);
}

static bool is_chars(uint64_t type)
{
	return type == PAYLOAD_CHAR || type == PAYLOAD_UCHAR || type == PAYLOAD_CHAR8 ||
	       (type >= PAYLOAD_CSTRING && type <= PAYLOAD_UTF8);
}

static bool is_wide(uint64_t type)
{
	return type == PAYLOAD_UTF16 || type == PAYLOAD_UTF32 || type == PAYLOAD_WCHAR || type == PAYLOAD_CHAR16 ||
	       type == PAYLOAD_CHAR32;
}

static void add_utf8(struct line *l, uint32_t c)
{
	if (c < 0x80)
		line_append(l, "%c", (int)c);
	else if (c < 0x800)
		line_append(l, "%c%c", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 0x3f)));
	else if (c < 0x10000)
		line_append(l, "%c%c%c", (int)(0xe0 | c >> 12), (int)(0x80 | (c >> 6 & 0x3f)), (int)(0x80 | (c & 0x3f)));
	else
		line_append(l, "%c%c%c%c", (int)(0xf0 | c >> 18), (int)(0x80 | (c >> 12 & 0x3f)), (int)(0x80 | (c >> 6 & 0x3f)),
			    (int)(0x80 | (c & 0x3f)));
}

static void add_wide(struct line *l, const uint8_t *at, size_t count, size_t size)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t c = (uint32_t)load(at + i * size, size);

		if (!c)
			return;
		/* A surrogate pair. */
		if (size == 2 && c >= 0xd800 && c < 0xdc00 && i + 1 < count)
			c = 0x10000 + ((c - 0xd800) << 10 | ((uint32_t)load(at + ++i * size, size) & 0x3ff));
		add_utf8(l, c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c);
	}
}

/* ---- fields ---- */

static void emit(struct decode *d, size_t position, uint32_t name, const struct line *l, bool text)
{
	const char *called = name == STRING_NONE ? "" : model_string(d->m, name);
	char full[512];

	if (*called)
		snprintf(full, sizeof full, "%s%s", d->prefix, called);
	else
		snprintf(full, sizeof full, "%s#%zu", d->prefix, position);
	d->fn(d->arg, &(struct payload_shown){ full, l->bytes, text });
}

static void walk(struct decode *d, const struct schema_def *s, const uint8_t *data, size_t len);

static bool is_text(uint64_t type, const struct payload_value *v)
{
	return type >= PAYLOAD_CSTRING ? is_chars(type) || is_wide(type) : (is_chars(type) && (v->array || v->count != 1)) || (is_wide(type) && v->array);
}

static void copy_numbers(const struct decode *d, uint64_t type, const struct payload_value *v)
{
	const uint8_t *at = d->data + v->offset;

	if (!is_text(type, v))
		memcpy(d->numbers + (at - d->begin), at, v->count * v->size);
}

static void emit_inner(struct decode *d, const struct entry_def *e, const struct schema_def *inner,
		       const struct payload_value *v)
{
	const char *called = e->row.name == STRING_NONE ? "" : model_string(d->m, e->row.name);

	for (size_t i = 0; i < v->count && i < MOST; i++) {
		struct decode deeper = *d;
		char prefix[256], at[32] = "";

		if (v->array)
			snprintf(at, sizeof at, "[%zu]", i);
		if (*called)
			snprintf(prefix, sizeof prefix, "%s%s%s.", d->prefix, called, at);
		else
			snprintf(prefix, sizeof prefix, "%s#%zu%s.", d->prefix, v->entry, at);
		deeper.prefix = prefix;
		deeper.depth++;
		walk(&deeper, inner, d->data + v->offset + i * v->size, v->size);
	}
}

/* Appends the next text behind the bytes.  The guest wrote one text for each entry that points to a string, in the order of entries. */
static void next_text(struct decode *d, struct line *l)
{
	if (d->depth || d->text >= d->texts_end)
		return;
	line_append(l, "%s", d->text);
	d->text += strlen(d->text) + 1;
}

static void value(void *arg, const struct payload_value *v)
{
	struct decode *d = arg;
	const struct entry_def *e = &d->entries[v->entry];
	const struct schema_def *inner = e->row.type >= PAYLOAD_STATIC_ID && !v->pointer
		? payload_schema_of(d->p, d->process, d->domain, e->row.type) : NULL;
	const uint8_t *at = d->data + v->offset;
	struct line l = { .n = 0 };
	bool text = false;

	l.bytes[0] = '\0';
	if (!*d->left)
		return;
	--*d->left;
	if (v->pointer && d->numbers)
		return;
	if (v->pointer) {
		next_text(d, &l);
		if (!l.n && e->row.type != PAYLOAD_REGISTERED)
			line_append(&l, "0x%llx", (unsigned long long)load(at, 8));
		emit(d, v->entry, e->row.name, &l, true);
		return;
	}
	if (inner && inner->row.type != PAYLOAD_IS_ENUM) {
		if (d->depth < DEEPEST)
			emit_inner(d, e, inner, v);
		return;
	}
	if (d->numbers) {
		copy_numbers(d, e->row.type, v);
		return;
	}
	if (is_chars(e->row.type) && (v->array || v->count != 1 || e->row.type >= PAYLOAD_CSTRING)) {
		line_append(&l, "%.*s", (int)strnlen((const char *)at, v->count), (const char *)at);
		text = true;
	} else if (is_wide(e->row.type) && (v->array || e->row.type >= PAYLOAD_CSTRING)) {
		add_wide(&l, at, v->count, v->size);
		text = true;
	} else {
		if (v->array)
			line_append(&l, "[");
		for (size_t i = 0; i < v->count && i < MOST; i++, at += v->size) {
			if (i)
				line_append(&l, ", ");
			text |= inner ? add_enum(d, &l, inner, at, v->size) : add_number(&l, at, e->row.type, v->size);
		}
		if (v->array)
			line_append(&l, v->count > MOST ? ", ...]" : "]");
		text |= v->count > MOST;
	}
	if (!(e->row.flags & PAYLOAD_HIDE))
		emit(d, v->entry, e->row.name, &l, text);
}

static struct payload_shape shape_at(const struct decode *d, uint64_t id, unsigned depth);

struct nested {
	const struct decode *d;
	unsigned depth;
};

static struct payload_shape shape(void *arg, uint64_t id)
{
	const struct nested *n = arg;

	return shape_at(n->d, id, n->depth + 1);
}

/* The entries of a schema for payload_walk(); the caller frees them.  NULL: out of memory. */
static struct payload_entry *layout_of(const struct decode *d, const struct schema_def *s, size_t *n,
				       const struct entry_def **defs)
{
	struct payload_entry *entries;

	*defs = payload_entries_of(d->p, s, n);
	entries = malloc(*n * sizeof *entries + 1);
	for (size_t i = 0; entries && i < *n; i++) {
		const struct schema_entry_row *row = &(*defs)[i].row;

		entries[i] = (struct payload_entry){ row->flags, row->type, row->detail, row->offset };
	}
	return entries;
}

static struct payload_shape shape_at(const struct decode *d, uint64_t id, unsigned depth)
{
	const struct schema_def *s =
		depth < DEEPEST && *d->left ? payload_schema_of(d->p, d->process, d->domain, id) : NULL;
	struct payload_shape found = { 0, 0 };
	const struct entry_def *defs;
	struct payload_entry *entries;
	size_t n;

	if (!s)
		return found;
	--*d->left;
	if (s->row.type == PAYLOAD_IS_ENUM)
		return (struct payload_shape){ (uint32_t)s->row.size, (uint32_t)s->row.size };
	entries = layout_of(d, s, &n, &defs);
	if (entries) {
		struct nested deeper = { d, depth };

		found = payload_shape_of(&(struct payload_layout){ entries, n, s->row.pack, shape, &deeper });
		if (s->row.size)
			found.size = (uint32_t)s->row.size;
	}
	free(entries);
	return found;
}

static void walk(struct decode *d, const struct schema_def *s, const uint8_t *data, size_t len)
{
	struct nested top = { d, d->depth };
	size_t n;
	struct payload_entry *entries = layout_of(d, s, &n, &d->entries);

	d->data = data;
	if (entries)
		payload_walk(&(struct payload_layout){ entries, n, s->row.pack, shape, &top }, data, len, value, d);
	free(entries);
}

/* Decodes a payload without a known schema, or of a single predefined type. */
static void plain(struct decode *d, uint64_t type, const uint8_t *data, size_t len)
{
	size_t size = payload_predefined(type).size;
	struct line l = { .n = 0 };
	bool text = true;

	l.bytes[0] = '\0';
	if (size && size <= len) {
		text = add_number(&l, data, type, size);
	} else if (is_chars(type)) {
		line_append(&l, "%.*s", (int)strnlen((const char *)data, len), (const char *)data);
	} else {
		for (size_t i = 0; i < len && i < MOST; i++)
			line_append(&l, "%s%02x", i && i % 4 == 0 ? " " : "", data[i]);
		if (len > MOST)
			line_append(&l, " ...");
	}
	d->fn(d->arg, &(struct payload_shown){ size || is_chars(type) ? "value" : "bytes", l.bytes, text });
}

void model_payload_decode(struct model *m, uint32_t process, const struct payload_row *row, const char *tail,
			  void (*fn)(void *arg, const struct payload_shown *f), void *arg)
{
	const struct payloads *p = payloads_of(m);
	const struct schema_def *s = p ? payload_schema_of(p, process, row->domain, row->schema) : NULL;
	size_t kept = row->kept < row->bytes ? row->kept : row->bytes;
	unsigned left = WORK;
	struct decode d = {
		.m = m, .p = p, .process = process, .domain = row->domain, .prefix = "", .left = &left, .fn = fn, .arg = arg,
		.text = tail + kept, .texts_end = tail + row->bytes,
	};

	if (s && s->row.type != PAYLOAD_IS_ENUM && s->row.type != PAYLOAD_IS_UNION &&
	    s->row.type != PAYLOAD_IS_UNION_INSIDE)
		walk(&d, s, (const uint8_t *)tail, kept);
	else
		plain(&d, row->schema, (const uint8_t *)tail, kept);
}

void model_payload_numbers(struct model *m, uint32_t process, const struct payload_row *row, const char *tail, uint8_t *out)
{
	const struct payloads *p = payloads_of(m);
	const struct schema_def *s = p ? payload_schema_of(p, process, row->domain, row->schema) : NULL;
	size_t kept = row->kept < row->bytes ? row->kept : row->bytes, size = payload_predefined(row->schema).size;
	unsigned left = WORK;
	struct decode d = {
		.m = m, .p = p, .process = process, .domain = row->domain, .prefix = "", .left = &left, .begin = (const uint8_t *)tail,
		.numbers = out,
	};

	memset(out, 0, row->bytes);
	if (s && s->row.type != PAYLOAD_IS_ENUM && s->row.type != PAYLOAD_IS_UNION && s->row.type != PAYLOAD_IS_UNION_INSIDE)
		walk(&d, s, (const uint8_t *)tail, kept);
	else if (size && size <= kept && !is_chars(row->schema) && !is_wide(row->schema))
		memcpy(out, tail, size);
}

void model_payload_fields(struct model *m, size_t i, void (*fn)(void *arg, const struct payload_shown *f), void *arg)
{
	const struct payload_one *one = &payloads_of(m)->all[i];

	model_payload_decode(m, one->process, &one->row, one->data, fn, arg);
}
