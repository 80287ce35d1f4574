/* Reads and sorts schemas, entries and payload rows; payload_value.c decodes them. */
#include "cli/model/nvtx/payload_inside.h"

#include "cli/model/inside.h"

static int by_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* ---- definitions ---- */

static int compare_entries(const void *a, const void *b)
{
	const struct entry_def *x = a, *y = b;
	int order = by_u64((uint64_t)x->process << 32 | x->row.domain, (uint64_t)y->process << 32 | y->row.domain);

	if (!order)
		order = by_u64(x->row.schema, y->row.schema);
	if (!order)
		order = by_u64(x->row.position, y->row.position);
	return order ? order : by_u64(x->order, y->order);
}

static int compare_schemas(const void *a, const void *b)
{
	const struct schema_def *x = a, *y = b;
	int order = by_u64((uint64_t)x->process << 32 | x->row.domain, (uint64_t)y->process << 32 | y->row.domain);

	if (!order)
		order = by_u64(x->row.id, y->row.id);
	return order ? order : by_u64(x->order, y->order);
}

/* Reads the rows of a kind, chunk by chunk, and passes them to fn. */
static int read_rows(struct model *m, unsigned kind, struct payloads *p,
		     int (*fn)(struct model *, struct payloads *, const struct part *, const void *rows))
{
	struct kind *k = &m->kinds[kind];
	const struct record *r = record_by_kind(kind);
	int rc = 0;

	for (size_t i = 0; i < k->n_parts && rc == 0; i++) {
		struct part *part = &k->parts[i];
		uint8_t *rows = malloc((size_t)part->chunk->head.rows * r->size + 1);

		if (!rows)
			return -1;
		if (trace_rows(&m->trace, part->chunk, rows) == 0)
			rc = fn(m, p, part, rows);      /* damaged chunks are skipped; model_damage() lists them */
		free(rows);
	}
	return rc;
}

static int take_schemas(struct model *m, struct payloads *p, const struct part *part, const void *rows)
{
	const struct schema_row *row = rows;

	for (uint32_t i = 0; i < part->chunk->head.rows; i++, p->n_schemas++) {
		p->schemas[p->n_schemas] = (struct schema_def){ row[i], part->process, (uint32_t)p->n_schemas };
		p->schemas[p->n_schemas].row.name = string_id(m, part->process, row[i].name);
	}
	return 0;
}

static int take_entries(struct model *m, struct payloads *p, const struct part *part, const void *rows)
{
	const struct schema_entry_row *row = rows;

	for (uint32_t i = 0; i < part->chunk->head.rows; i++, p->n_entries++) {
		p->entries[p->n_entries] = (struct entry_def){ row[i], part->process, (uint32_t)p->n_entries };
		p->entries[p->n_entries].row.name = string_id(m, part->process, row[i].name);
	}
	return 0;
}

/* Keeps the last of the definitions with equal keys, which are sorted by order. */
static void keep_last(struct payloads *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_entries; i++) {
		const struct entry_def *e = &p->entries[i], *next = e + 1;
		bool again = i + 1 < p->n_entries && next->process == e->process && next->row.domain == e->row.domain &&
			     next->row.schema == e->row.schema && next->row.position == e->row.position;

		if (!again)
			p->entries[n++] = *e;
	}
	p->n_entries = n;
}

const struct schema_def *payload_schema_of(const struct payloads *p, uint32_t process, uint32_t domain, uint64_t id)
{
	const struct schema_def key = { .row = { .id = id, .domain = domain }, .process = process, .order = UINT32_MAX };
	size_t low = 0, high = p->n_schemas;

	/* The last entry that is not above the key: the newest definition of the id. */
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (compare_schemas(&p->schemas[mid], &key) <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;

	const struct schema_def *s = &p->schemas[low - 1];

	return s->process == process && s->row.domain == domain && s->row.id == id ? s : NULL;
}

const struct entry_def *payload_entries_of(const struct payloads *p, const struct schema_def *s, size_t *n)
{
	const struct entry_def key = { .row = { .schema = s->row.id, .domain = s->row.domain }, .process = s->process };
	size_t low = 0, high = p->n_entries;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (compare_entries(&p->entries[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*n = 0;
	while (*n < s->row.entries && low + *n < p->n_entries && p->entries[low + *n].process == s->process &&
	       p->entries[low + *n].row.domain == s->row.domain && p->entries[low + *n].row.schema == s->row.id &&
	       p->entries[low + *n].row.position == *n)
		++*n;
	return &p->entries[low];
}

/* ---- rows ---- */

static int compare_seen(const void *a, const void *b)
{
	const struct payload_one *x = a, *y = b;
	int order = by_u64(x->process, y->process);

	if (!order)
		order = by_u64(x->row.range, y->row.range);
	if (!order && !x->row.range)
		order = by_u64(x->row.thread, y->row.thread);
	if (!order && !x->row.range)
		order = by_u64((uint64_t)x->row.start, (uint64_t)y->row.start);
	return order ? order : by_u64(x->order, y->order);
}

static int take_payloads(struct model *m, struct payloads *p, const struct part *part, const void *rows)
{
	const struct payload_row *row = rows;
	struct buf tails = { 0 };
	size_t at = 0;
	int rc = trace_tails(&m->trace, part->chunk, &tails) == 0 ? 0 : 1;

	for (uint32_t i = 0; rc == 0 && i < part->chunk->head.rows && row[i].bytes <= tails.len - at;
	     at += row[i++].bytes) {
		const char *data;

		if (part->keep && !part->keep[i])
			continue;
		data = strings_keep(m, tails.data ? (const char *)tails.data + at : "", row[i].bytes);
		if (!data)
			rc = -1;
		else
			p->all[p->n] = (struct payload_one){ row[i], data, part->process, (uint32_t)p->n };
		p->n += data != NULL;
	}
	buf_free(&tails);
	return rc < 0 ? -1 : 0;         /* 1: a damaged chunk, which model_damage() lists */
}

static int fill(struct model *m, struct payloads *p)
{
	p->schemas = malloc(m->kinds[ROW_schema].n_rows * sizeof *p->schemas + 1);
	p->entries = malloc(m->kinds[ROW_schema_entry].n_rows * sizeof *p->entries + 1);
	p->all = malloc(m->kinds[ROW_payload].n_rows * sizeof *p->all + 1);
	if (!p->schemas || !p->entries || !p->all || strings_load(m) < 0)
		return -1;
	if (read_rows(m, ROW_schema, p, take_schemas) < 0 || read_rows(m, ROW_schema_entry, p, take_entries) < 0 ||
	    read_rows(m, ROW_payload, p, take_payloads) < 0)
		return -1;
	qsort(p->schemas, p->n_schemas, sizeof *p->schemas, compare_schemas);
	qsort(p->entries, p->n_entries, sizeof *p->entries, compare_entries);
	keep_last(p);
	qsort(p->all, p->n, sizeof *p->all, compare_seen);
	return 0;
}

static void payloads_free(struct payloads *p)
{
	if (!p)
		return;
	free(p->schemas);
	free(p->entries);
	free(p->all);
	free(p);
}

static void payloads_release(struct model *m, bool rows_only)
{
	(void)rows_only;        /* payloads are rows */
	payloads_free(m->payloads);
	m->payloads = NULL;
}

const struct payloads *payloads_of(struct model *m)
{
	struct payloads *p = m->payloads;

	if (p)
		return p;
	p = calloc(1, sizeof *p);
	if (p && fill(m, p) < 0) {
		payloads_free(p);
		p = NULL;
	}
	m->payloads = p;
	m->release[FROM_PAYLOADS] = payloads_release;
	return p;
}

size_t model_payloads(struct model *m)
{
	const struct payloads *p = payloads_of(m);

	return p ? p->n : 0;
}

struct payload_seen model_payload(struct model *m, size_t i)
{
	const struct payloads *p = m->payloads;
	const struct payload_one *one = &p->all[i];
	const struct schema_def *s = payload_schema_of(p, one->process, one->row.domain, one->row.schema);

	return (struct payload_seen){ &one->row, one->process, s ? model_string(m, s->row.name) : "" };
}

static size_t find(struct model *m, const struct payload_one *key, size_t *first)
{
	const struct payloads *p = payloads_of(m);
	size_t low = 0, high = p ? p->n : 0, n = 0;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (compare_seen(&p->all[mid], key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*first = low;
	for (; p && low + n < p->n; n++) {
		struct payload_one same = p->all[low + n];

		same.order = key->order;
		if (compare_seen(&same, key) != 0)
			break;
	}
	return n;
}

size_t model_range_payloads(struct model *m, uint32_t process, uint64_t range, size_t *first)
{
	return range ? find(m, &(struct payload_one){ .row = { .range = range }, .process = process }, first) : 0;
}

size_t model_mark_payloads(struct model *m, uint32_t process, uint32_t thread, int64_t start, size_t *first)
{
	return find(m, &(struct payload_one){ .row = { .thread = thread, .start = start }, .process = process }, first);
}
