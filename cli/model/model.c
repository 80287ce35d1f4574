#include "cli/model/inside.h"

static int by_process(const void *a, const void *b)
{
	const struct part *p = a, *q = b;

	if (p->process != q->process)
		return p->process < q->process ? -1 : 1;
	return p->chunk->offset < q->chunk->offset ? -1 : p->chunk->offset > q->chunk->offset;
}

/* Lists the chunks of each kind, by process. */
static int list_parts(struct model *m)
{
	struct trace *t = &m->trace;

	for (size_t i = 0; i < t->n_chunks; i++)
		if (t->chunks[i].record && !t->chunks[i].bad)
			m->kinds[t->chunks[i].head.kind].n_parts++;
	for (size_t k = 0; k < ROW_KINDS; k++) {
		struct kind *kind = &m->kinds[k];

		if (!kind->n_parts)
			continue;
		kind->parts = calloc(kind->n_parts, sizeof *kind->parts);
		if (!kind->parts)
			return -1;
		kind->n_parts = 0;
	}
	for (size_t i = 0; i < t->n_chunks; i++) {
		struct chunk *c = &t->chunks[i];

		if (!c->record || c->bad)
			continue;
		struct kind *kind = &m->kinds[c->head.kind];

		kind->parts[kind->n_parts++] = (struct part){ .chunk = c, .process = model_process_at(m, c->head.process),
							       .rows = c->head.rows };
		kind->n_rows += c->head.rows;
	}
	for (size_t k = 0; k < ROW_KINDS; k++)
		if (m->kinds[k].n_parts)
			qsort(m->kinds[k].parts, m->kinds[k].n_parts, sizeof *m->kinds[k].parts, by_process);
	return 0;
}

struct model *model_of(struct trace *t)
{
	struct model *m = calloc(1, sizeof *m);

	if (!m) {
		trace_close(t);
		return NULL;
	}
	m->trace = *t;
	*t = (struct trace)TRACE_INIT;
	if (processes_load(m) == 0 && list_parts(m) == 0)
		return m;
	model_close(m);
	return NULL;
}

static struct model *open_as(const char *path, unsigned flags, struct trace_error *err)
{
	struct trace t = TRACE_INIT;
	struct model *m;

	if (trace_open(&t, path, flags, err) < 0)
		return NULL;
	m = model_of(&t);
	if (!m)
		trace_fail(err, 0, "out of memory");
	return m;
}

struct model *model_open(const char *path, struct trace_error *err)
{
	return open_as(path, 0, err);
}

struct model *model_open_any_size(const char *path, struct trace_error *err)
{
	return open_as(path, TRACE_ANY_SIZE, err);
}

void model_release(struct model *m, bool rows_only)
{
	join_free(m->join);
	m->join = NULL;
	for (size_t i = 0; i < DERIVED; i++)
		if (m->release[i])
			m->release[i](m, rows_only);
}

void model_close(struct model *m)
{
	if (!m)
		return;
	for (size_t k = 0; k < ROW_KINDS; k++) {
		for (size_t f = 0; f < MAX_COLUMNS && m->kinds[k].columns; f++)
			free(m->kinds[k].columns[f]);
		free(m->kinds[k].columns);
		free(m->kinds[k].process);
		free(m->kinds[k].keep);
		free(m->kinds[k].parts);
	}
	model_release(m, false);
	free(m->chosen.processes);
	defs_release(m);
	for (size_t i = 0; i < sizeof m->names / sizeof *m->names; i++)
		map_release(&m->names[i]);
	strings_release(m);
	processes_release(m);
	trace_close(&m->trace);
	free(m);
}

/* The largest value of a chunk's first time field, in trace time; 0: its rows have no time. */
static int64_t chunk_last(struct trace *t, const struct chunk *c)
{
	for (unsigned f = 0; c->record && f < c->record->n_fields; f++) {
		unsigned unit = c->record->fields[f].unit;

		if (unit == UNIT_GTIME)
			return c->head.last ? clock_convert(&t->clock, CLOCK_REAL, c->head.last) : 0;
		if (unit == UNIT_TIME)
			return c->head.last ? clock_convert(&t->clock, c->head.clock, c->head.last) : 0;
	}
	return 0;
}

int64_t model_end(const struct model *m)
{
	struct trace *t = model_trace(m);
	const char *end = model_attribute(m, "end");
	int64_t last = model_start(m);

	if (end)
		return clock_convert(&t->clock, CLOCK_REAL, strtoll(end, NULL, 10));
	for (uint32_t p = 0; p < m->n_processes; p++)
		if (m->processes[p].end > last)
			last = m->processes[p].end;
	for (size_t i = 0; i < t->n_chunks; i++) {
		int64_t at = t->chunks[i].bad ? 0 : chunk_last(t, &t->chunks[i]);

		if (at > last)
			last = at;
	}
	return last;
}
