#include "collector/stage.h"

#include <stdarg.h>
#include <stdio.h>

#include "collector/clocks.h"
#include "trace/wire.h"

#define CHUNK_RAW (1u << 20)    /* smaller chunks cost more for zstd and headers; larger ones only need more memory */
#define FIRST_ROWS 32u

/*
 * Limit of the bytes staged by all processes: with hundreds of busy processes, chunks get smaller.  Each process may always stage its first
 * rows.
 */
#define MAX_STAGED (128ull << 20)
#define MAX_ATTRIBUTE (64u << 10)

int staging_init(struct staging *s, struct output *out, uint32_t process, unsigned clock)
{
	*s = (struct staging){ .out = out, .process = process, .clock = clock };
	s->stages = calloc(n_records, sizeof *s->stages);
	return s->stages ? 0 : -1;
}

static void stage_release(struct staging *s, struct stage *g)
{
	s->out->staged -= g->cap * records[g - s->stages].size;
	free(g->rows);
	g->rows = NULL;
	g->n = g->cap = 0;
	buf_free(&g->tails);
}

void staging_release(struct staging *s)
{
	for (size_t i = 0; s->stages && i < n_records; i++)
		stage_release(s, &s->stages[i]);
	free(s->stages);
	*s = (struct staging){ 0 };
}

static void lose(struct staging *s, struct stage *g, uint64_t n)
{
	g->lost_last = clocks_now(s->clock);
	if (!g->lost)
		g->lost_first = g->lost_last;
	g->lost += n;
	g->lost_changed = true;
}

static void write_stage(struct staging *s, struct stage *g)
{
	const struct record *r = &records[g - s->stages];

	if (g->n && output_rows(s->out, s->process, s->clock, r, g->rows, g->n, g->tails.data, g->tails.len) < 0)
		lose(s, g, g->n);
	g->n = 0;
	g->tails.len = 0;
}

/* Makes room for one more row: grows, or writes the chunk out when MAX_STAGED is reached. */
static bool grow(struct staging *s, struct stage *g, const struct record *r)
{
	size_t cap = g->cap ? g->cap * 2 : FIRST_ROWS;

	if (cap > CHUNK_RAW / r->size && g->cap < CHUNK_RAW / r->size)
		cap = CHUNK_RAW / r->size;
	if (g->n && s->out->staged + (cap - g->cap) * r->size > MAX_STAGED) {
		write_stage(s, g);
		return true;
	}

	uint8_t *rows = realloc(g->rows, cap * r->size);

	if (!rows)
		return false;
	s->out->staged += (cap - g->cap) * r->size;
	g->rows = rows;
	g->cap = cap;
	return true;
}

void *staging_put(struct staging *s, const struct record *r, const void *row, const void *tail, size_t n_tail)
{
	struct stage *g = &s->stages[r - records];
	uint8_t *place;

	if ((g->n + 1) * r->size + g->tails.len + n_tail > CHUNK_RAW)
		write_stage(s, g);
	if ((g->n == g->cap && !grow(s, g, r)) || (n_tail && !buf_room(&g->tails, n_tail))) {
		g->tails.oom = false;
		lose(s, g, 1);
		return NULL;
	}
	place = g->rows + g->n++ * r->size;
	memcpy(place, row, r->size);
	if (n_tail)
		buf_put(&g->tails, tail, n_tail);
	return place;
}

void *staging_room(struct staging *s, const struct record *r, size_t *n)
{
	struct stage *g = &s->stages[r - records];

	if ((g->n + 1) * r->size > CHUNK_RAW)
		write_stage(s, g);
	if (g->n == g->cap && !grow(s, g, r)) {
		lose(s, g, 1);
		return NULL;
	}
	*n = g->cap - g->n;
	return g->rows + g->n * r->size;
}

void staging_add(struct staging *s, const struct record *r, size_t n)
{
	s->stages[r - records].n += n;
}

static void tell_losses(struct staging *s)
{
	for (size_t i = 0; i < n_records; i++) {
		struct stage *g = &s->stages[i];
		struct drop_row row = {
			.first = g->lost_first, .last = g->lost_last, .count = g->lost, .kind = records[i].id,
			.where = 1,
		};

		if (!g->lost_changed)
			continue;
		g->lost_changed = false;
		staging_put(s, record_by_kind(ROW_drop), &row, NULL, 0);
	}
}

void staging_write(struct staging *s)
{
	for (size_t i = 0; i < n_records; i++) {
		struct stage *g = &s->stages[i];
		bool idle = g->n == 0;

		if (records[i].id == ROW_drop)
			continue;
		write_stage(s, g);
		if (idle && g->idle)
			stage_release(s, g);       /* hundreds of quiet processes hold no memory */
		g->idle = idle;
	}
	tell_losses(s);
	write_stage(s, &s->stages[record_by_kind(ROW_drop) - records]);
}

void staging_attribute(struct staging *s, uint32_t of, const char *key, const char *fmt, ...)
{
	struct attribute_row row = { .process = of };
	char *text = NULL, *fact = NULL;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0)
		return;
	n = asprintf(&fact, "%s=%s", key, text);
	free(text);
	if (n < 0)
		return;
	row.bytes = (uint32_t)n < MAX_ATTRIBUTE ? (uint32_t)n : MAX_ATTRIBUTE;
	staging_put(s, record_by_kind(ROW_attribute), &row, fact, row.bytes);
	free(fact);
}
