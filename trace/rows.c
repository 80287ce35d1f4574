/* Reads chunks: checks the checksum, decodes columns, converts times. */
#include "trace/reader_parts.h"

#include <errno.h>

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

/* The chunk's body in the mapping, checked on first use; NULL: damaged. */
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

/* Marks a chunk as damaged whose checksum is right but whose columns cannot be decoded; returns -1. */
static int chunk_unread(struct trace *t, struct chunk *c)
{
	return chunk_bad(t, c, errno == ENOMEM ? " (out of memory)" : " (its columns make no sense)");
}

/* Copies one field of all rows of a chunk in memory. */
static void gather(const struct chunk *c, const struct field *f, void *out)
{
	const uint8_t *from = c->rows + f->offset;
	size_t n = c->head.rows, stride = c->record->size;
	uint64_t *wide = out;
	uint32_t *narrow = out;

	if (f->size == 8)
		for (size_t i = 0; i < n; i++, from += stride)
			memcpy(&wide[i], from, 8);
	else
		for (size_t i = 0; i < n; i++, from += stride)
			memcpy(&narrow[i], from, 4);
}

static int raw_column(struct trace *t, struct chunk *c, unsigned f, void *out, const int64_t *lengths)
{
	const uint8_t *body;

	if (c->rows) {
		gather(c, &c->record->fields[f], out);
		return 0;
	}
	body = chunk_body(t, c);
	if (!body)
		return -1;
	errno = 0;
	if (column_decode_known(body, c->head.stored, c->head.columns, c->record, f, out, c->head.rows,
				(const uint64_t *)lengths) < 0)
		return chunk_unread(t, c);
	return 0;
}

static unsigned clock_of(const struct chunk *c, unsigned f)
{
	unsigned unit = c->record->fields[f].unit;

	return unit == UNIT_GTIME || unit == UNIT_GSPAN ? CLOCK_REAL : c->head.clock;
}

int trace_spans(struct trace *t, struct chunk *c, int64_t *starts, int64_t *lengths)
{
	int start = record_field(c->record, "start"), length = record_field(c->record, "duration");

	if (start < 0 || length < 0 || raw_column(t, c, (unsigned)length, lengths, NULL) < 0 ||
	    raw_column(t, c, (unsigned)start, starts, lengths) < 0)
		return -1;
	if (t->clock.n)
		clock_convert_spans(&t->clock, clock_of(c, (unsigned)length), starts, lengths, c->head.rows);
	return 0;
}

/* Reads a field that is a length, converted together with its start if the record has one. */
static int span_column(struct trace *t, struct chunk *c, unsigned f, int64_t *out)
{
	int64_t *starts;
	int rc;

	if (record_field(c->record, "start") < 0) {
		if (raw_column(t, c, f, out, NULL) < 0)
			return -1;
		for (uint32_t i = 0; i < c->head.rows; i++)
			out[i] = clock_span(&t->clock, clock_of(c, f), out[i]);
		return 0;
	}
	starts = malloc((c->head.rows + 1u) * sizeof *starts);
	rc = starts ? trace_spans(t, c, starts, out) : -1;
	free(starts);
	return rc;
}

int trace_column(struct trace *t, struct chunk *c, unsigned f, void *out)
{
	unsigned unit = c->record->fields[f].unit;

	if (t->clock.n && (unit == UNIT_SPAN || unit == UNIT_GSPAN))
		return span_column(t, c, f, out);
	if (raw_column(t, c, f, out, NULL) < 0)
		return -1;
	if (t->clock.n && (unit == UNIT_TIME || unit == UNIT_GTIME))
		clock_convert_all(&t->clock, clock_of(c, f), out, c->head.rows);
	return 0;
}

int trace_tails(struct trace *t, struct chunk *c, struct buf *out)
{
	const uint8_t *body;

	if (c->rows) {
		buf_put(out, c->tails, c->tail_bytes);
		return out->oom ? -1 : 0;
	}
	body = chunk_body(t, c);
	if (!body)
		return -1;
	errno = 0;
	if (column_tails(body, c->head.stored, c->head.columns, c->head.raw, out) < 0)
		return chunk_unread(t, c);
	return 0;
}

int trace_rows(struct trace *t, struct chunk *c, void *rows)
{
	const struct record *r = c->record;
	size_t n = c->head.rows;
	uint64_t *column;
	int rc = -1;

	if (c->rows) {
		memcpy(rows, c->rows, n * r->size);
		return 0;
	}
	column = malloc((n + 1) * sizeof *column);
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

		if (c->rows)
			continue;
		chunk_body(t, c);
		if (!c->head_checked && memcmp(t->map + c->offset, &c->head, sizeof c->head))
			trace_damaged(t, c->offset, sizeof c->head, 0,
				      "header of a %s (its rows are whole: the index has a copy)",
				      part_name(&c->head, name, sizeof name));
		c->head_checked = true;
	}
	return t->n_damage;
}
