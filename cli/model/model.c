#include "cli/model/inside.h"

static int by_image(const void *a, const void *b)
{
	const struct process *p = a, *q = b;

	return p->image < q->image ? -1 : p->image > q->image;
}

uint32_t model_process_at(const struct model *m, uint32_t image)
{
	const struct process key = { .image = image };
	const struct process *p = bsearch(&key, m->processes, m->n_processes, sizeof key, by_image);

	return p ? (uint32_t)(p - m->processes) : 0;
}

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
	join_free(m->join);
	payloads_release(m->payloads);
	graph_nodes_free(m->graph_nodes);
	steps_release(m->steps);
	finder_free(m->windows.finder);
	free(m->windows.list);
	free(m->chosen.processes);
	stacks_release(m->stacks);
	symbol_tables_free(m->symbols);
	torch_release(m);
	defs_release(m);
	for (size_t i = 0; i < sizeof m->names / sizeof *m->names; i++)
		map_release(&m->names[i]);
	strings_release(m);
	processes_release(m);
	trace_close(&m->trace);
	free(m);
}

const char *model_path(const struct model *m)
{
	return m->trace.path;
}

struct trace *model_trace(const struct model *m)
{
	return &((struct model *)m)->trace;
}

int64_t model_start(const struct model *m)
{
	return m->trace.header.start_real;
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

size_t model_rows(const struct model *m, unsigned kind)
{
	return m->kinds[kind].n_rows;
}

static size_t first_part(const struct kind *k, uint32_t process)
{
	size_t low = 0, high = k->n_parts;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (k->parts[mid].process < process)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

size_t model_process_rows(const struct model *m, unsigned kind, uint32_t process)
{
	const struct kind *k = &m->kinds[kind];
	size_t n = 0;

	for (size_t i = first_part(k, process); i < k->n_parts && k->parts[i].process == process; i++)
		if (!k->parts[i].chunk->bad)
			n += k->parts[i].rows;
	return n;
}

bool model_process_has(const struct model *m, unsigned kind, uint32_t process)
{
	const struct kind *k = &m->kinds[kind];

	for (size_t i = first_part(k, process); i < k->n_parts && k->parts[i].process == process; i++)
		if (!k->parts[i].chunk->bad && k->parts[i].chunk->head.rows)
			return true;
	return false;
}

const char *model_damage(const struct model *m, size_t i)
{
	return i < m->trace.n_damage ? m->trace.damage[i].text : NULL;
}

const struct process *model_processes(const struct model *m, uint32_t *n)
{
	*n = m->n_processes;
	return m->processes;
}
