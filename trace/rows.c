/* Reading a chunk: checksum, columns, trace time. */
#include "trace/reader_parts.h"

#include "trace/wire.h"

static int chunk_bad(struct trace *t, struct chunk *c, const char *why)
{
	char name[96];

	if (!c->bad)
		trace_damaged(t, c->offset, sizeof c->head + c->head.stored, c->head.rows, "%s%s",
			      part_name(&c->head, name, sizeof name), why);
	c->bad = true;
	return -1;
}

/* The body in place, checked once; NULL: bad. */
static const uint8_t *chunk_body(struct trace *t, struct chunk *c)
{
	const uint8_t *body = t->map + c->offset + sizeof c->head;

	if (c->bad)
		return NULL;
	if (!c->checked && crc32_of(0, body, c->head.stored) != c->head.body_crc) {
		chunk_bad(t, c, "");
		return NULL;
	}
	c->checked = true;
	return body;
}

static int raw_column(struct trace *t, struct chunk *c, unsigned f, void *out)
{
	const uint8_t *body = chunk_body(t, c);

	if (!body)
		return -1;
	if (column_decode(body, c->head.stored, c->head.columns, c->record, f, out, c->head.rows) < 0)
		return chunk_bad(t, c, " (its columns make no sense)");
	return 0;
}

/* The field of which a length is the rest: `start`; -1: the record has none. */
static int start_field(const struct record *r)
{
	for (unsigned i = 0; i < r->n_fields; i++)
		if (strcmp(r->fields[i].name, "start") == 0)
			return (int)i;
	return -1;
}

/* End and start are converted, not their distance, so that what lay inside each other still does. */
static int convert_spans(struct trace *t, struct chunk *c, unsigned clock, int64_t *out)
{
	struct clock_map own = t->clock;        /* a hint of our own: other threads read other chunks */
	int start = start_field(c->record), rc = -1;
	int64_t *starts = NULL;

	if (start >= 0) {
		starts = malloc(c->head.rows * sizeof *starts);
		if (!starts || raw_column(t, c, (unsigned)start, starts) < 0)
			goto out;
	}
	for (uint32_t i = 0; i < c->head.rows; i++) {
		int64_t from = starts ? starts[i] : 0;
		int64_t to = (int64_t)((uint64_t)from + (uint64_t)out[i]);

		if (from)
			out[i] = (int64_t)((uint64_t)clock_convert(&own, clock, to) -
					   (uint64_t)clock_convert(&own, clock, from));
		else
			out[i] = clock_span(&own, clock, out[i]);
	}
	rc = 0;
out:
	free(starts);
	return rc;
}

int trace_column(struct trace *t, struct chunk *c, unsigned f, void *out)
{
	unsigned unit = c->record->fields[f].unit;
	bool is_gpu = unit == UNIT_GTIME || unit == UNIT_GSPAN;
	unsigned clock = is_gpu ? CLOCK_REAL : c->head.clock;
	struct clock_map own;
	int64_t *times = out;

	if (raw_column(t, c, f, out) < 0)
		return -1;
	if (!t->clock.n)
		return 0;
	if (unit == UNIT_SPAN || unit == UNIT_GSPAN)
		return convert_spans(t, c, clock, times);
	if (unit != UNIT_TIME && unit != UNIT_GTIME)
		return 0;
	own = t->clock;
	for (uint32_t i = 0; i < c->head.rows; i++)
		times[i] = clock_convert(&own, clock, times[i]);
	return 0;
}

int trace_tails(struct trace *t, struct chunk *c, struct buf *out)
{
	const uint8_t *body = chunk_body(t, c);

	if (!body)
		return -1;
	if (column_tails(body, c->head.stored, c->head.columns, out) < 0)
		return chunk_bad(t, c, " (its columns make no sense)");
	return 0;
}

int trace_rows(struct trace *t, struct chunk *c, void *rows)
{
	const struct record *r = c->record;
	size_t n = c->head.rows;
	uint64_t *column = malloc((n + 1) * sizeof *column);
	int rc = -1;

	if (!column)
		return -1;
	for (unsigned i = 0; i < r->n_fields; i++) {
		const struct field *f = &r->fields[i];
		const char *from = (const char *)column;
		char *to = (char *)rows + f->offset;

		if (trace_column(t, c, i, column) < 0)
			goto out;
		for (size_t row = 0; row < n; row++, from += f->size, to += r->size)
			memcpy(to, from, f->size);
	}
	rc = 0;
out:
	free(column);
	return rc;
}

size_t trace_check(struct trace *t)
{
	for (struct chunk *c = t->chunks; c < t->chunks + t->n_chunks; c++) {
		char name[96];

		chunk_body(t, c);
		if (!c->head_checked && memcmp(t->map + c->offset, &c->head, sizeof c->head))
			trace_damaged(t, c->offset, sizeof c->head, 0, "header of a %s (its rows are whole: the index has a copy)",
				      part_name(&c->head, name, sizeof name));
		c->head_checked = true;
	}
	return t->n_damage;
}
