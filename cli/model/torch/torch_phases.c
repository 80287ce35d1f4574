/* Phases from the rows of a trace. */
#include "cli/model/inside.h"
#include "cli/model/join.h"
#include "cli/model/torch/torch_inside.h"
#include "trace/rules/torchsteps.h"

/* Meaning of ranges with a name. */
struct meaning {
	bool known, node;
	bool workers;                   /* a loader with worker processes */
	bool evaluates;                 /* the engine's range around a node, not an operator of a forward */
	enum phase_mark mark;
};

static const struct meaning *meaning_of(struct model *m, struct map *names, struct buf *meanings, const struct torch_range *r)
{
	bool node = r->scope == TORCH_BACKWARD, new;
	uint32_t *at = map_put(names, (uint64_t)node << 32 | r->name, (uint32_t)names->n, &new);

	if (at && new) {
		const char *name = model_string(m, r->name);
		struct meaning made = { .known = false };

		made.evaluates = strncmp(name, TORCH_EVALUATE, sizeof TORCH_EVALUATE - 1) == 0;
		/* torch.profiler writes this node like an operator (old versions write every scope so), also in imported traces. */
		made.node = !made.evaluates && (node || strcmp(name, "torch::autograd::AccumulateGrad") == 0);
		made.known = phase_mark_of(name, made.node, &made.mark);
		made.workers = torchsteps_has_workers(name);
		buf_put(meanings, &made, sizeof made);
	}
	return at && !meanings->oom ? (const struct meaning *)meanings->data + (*at - 1) : NULL;
}

/* ---- operators ---- */

/* The event of all outermost operators of a thread between two ranges with a meaning. */
struct running {
	struct phase_event event;
	bool open;
};

struct collecting {
	struct model *m;
	const struct torch_ranges *t;
	struct buf events, meanings;    /* struct phase_event, struct meaning */
	struct map names;
	const uint8_t *linked;          /* by position: an operator with an autograd node, or around one; NULL: no operators */
	uint8_t *inside;                /* by position: is, or lies in, an operator, a node or a range with a meaning */
	struct map threads;             /* thread -> position in running */
	struct buf running;             /* struct running */
};

static struct running *running_of(struct collecting *c, uint32_t thread)
{
	const struct running none = { .open = false };
	bool new;
	uint32_t *at = map_put(&c->threads, thread, (uint32_t)c->threads.n, &new);

	if (at && new)
		buf_put(&c->running, &none, sizeof none);
	return at && !c->running.oom ? (struct running *)c->running.data + (*at - 1) : NULL;
}

static void flush(struct collecting *c, struct running *r)
{
	if (r->open)
		buf_put(&c->events, &r->event, sizeof r->event);
	r->open = false;
}

/* Ends the event of operators of a thread; all: of every thread, for autograd nodes, which may run on the engine's threads. */
static int interrupt(struct collecting *c, uint32_t thread, bool all)
{
	struct running *list, *r = all ? NULL : running_of(c, thread);

	if (r)
		flush(c, r);
	list = (struct running *)c->running.data;
	for (size_t i = 0; all && i < c->running.len / sizeof *list; i++)
		flush(c, &list[i]);
	return r || all ? 0 : -1;
}

static int run_operator(struct collecting *c, const struct torch_range *range, bool linked)
{
	struct running *r = running_of(c, range->thread);

	if (!r)
		return -1;
	if (!r->open)
		r->event = (struct phase_event){ .start = range->start, .end = range->end, .sequence = -1, .thread = range->thread,
						 .mark = MARK_OPERATORS, .linked = NO_TIME };
	r->open = true;
	if (range->end > r->event.end)
		r->event.end = range->end;
	if (linked && r->event.linked == NO_TIME)
		r->event.linked = range->start;
	return 0;
}

/* ---- all ranges of a process ---- */

static int collect_range(struct collecting *c, size_t i)
{
	const struct torch_ranges *t = c->t;
	const struct torch_range *r = &t->list[i];
	const struct meaning *meaning = meaning_of(c->m, &c->names, &c->meanings, r);
	bool is_operator = r->op != NO_TORCH && r->scope != TORCH_USER, inside = r->parent != NO_TORCH && c->inside[r->parent], bounds;
	struct phase_event e = {
		.start = r->start, .end = r->end, .thread = r->thread, .sequence = r->op == NO_TORCH ? -1 : t->sequence[r->op],
		.fwd_thread = r->op == NO_TORCH ? 0 : t->fwd_thread[r->op],
	};

	if (!meaning)
		return -1;
	bounds = meaning->evaluates || (meaning->known && meaning->mark <= MARK_BACKWARD);
	c->inside[i] = inside || is_operator || bounds;
	if (c->linked && bounds && !inside && interrupt(c, r->thread, meaning->evaluates || meaning->mark == MARK_BACKWARD) < 0)
		return -1;
	if (c->linked && is_operator && !inside && !bounds)
		return run_operator(c, r, c->linked[i]);
	/* An incomplete range is not an event. */
	if (!meaning->known || r->flags & RANGE_INCOMPLETE)
		return 0;
	e.mark = meaning->mark;
	e.workers = meaning->workers;
	buf_put(&c->events, &e, sizeof e);
	return 0;
}

static int by_start(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorted begins of the calls that launched a process's kernels. */
static int64_t *launches_of(struct model *m, uint32_t process, size_t *n)
{
	const uint32_t *corr = MODEL_U32(m, kernel, corr), *of = model_row_process(m, ROW_kernel);
	const int64_t *start = MODEL_I64(m, api, start);
	int64_t *list = malloc(model_process_rows(m, ROW_kernel, process) * sizeof *list + 1);
	size_t rows = model_rows(m, ROW_kernel);

	*n = 0;
	if (!list || !corr || !of || !start || model_join(m) < 0) {
		free(list);
		return NULL;
	}
	for (size_t i = 0; i < rows; i++) {
		size_t call = of[i] == process ? model_api_of(m, process, corr[i]) : NO_ROW;

		if (call != NO_ROW)
			list[(*n)++] = start[call];
	}
	qsort(list, *n, sizeof *list, by_start);
	return list;
}

/* Makes the phases of a process; reads launches only if the forward is ambiguous without them. */
static int make_phases(struct collecting *c, uint32_t process, struct phases *out)
{
	struct phase_event *events = (struct phase_event *)c->events.data;
	size_t n = c->events.len / sizeof *events, n_launches;
	int64_t *launches;
	int rc = phases_make(events, n, NULL, 0, out);

	if (rc < 0 || !out->doubts || !model_process_rows(c->m, ROW_kernel, process))
		return rc;
	phases_release(out);
	launches = launches_of(c->m, process, &n_launches);
	rc = launches ? phases_make(events, n, launches, n_launches, out) : -1;
	free(launches);
	return rc;
}

static int collect(struct model *m, const struct torch_ranges *t, const uint8_t *linked, uint8_t *inside, size_t from, size_t to,
		   struct phases *out)
{
	struct collecting c = { .m = m, .t = t, .linked = linked, .inside = inside };
	int rc = 0;

	for (size_t i = from; i < to && rc == 0; i++)
		rc = collect_range(&c, i);
	interrupt(&c, 0, true);
	if (c.events.oom)
		rc = -1;
	if (rc == 0)
		rc = make_phases(&c, t->list[from].process, out);
	buf_free(&c.events);
	buf_free(&c.meanings);
	buf_free(&c.running);
	map_release(&c.names);
	map_release(&c.threads);
	return rc;
}

/* By position: whether an operator has an autograd node, or is around such an operator. */
static uint8_t *linked_make(struct model *m, const struct torch_ranges *t)
{
	uint32_t *forwards = torch_forwards(m, t);
	uint8_t *linked = calloc(t->n + 1, 1);

	for (size_t i = 0; forwards && linked && i < t->n; i++)
		for (uint32_t up = forwards[i]; up != NO_TORCH && !linked[up]; up = t->list[up].parent)
			linked[up] = 1;
	free(forwards);
	if (!forwards) {
		free(linked);
		return NULL;
	}
	return linked;
}

static struct phases *phases_of_all(struct model *m, const struct torch_ranges *t)
{
	struct phases *all = calloc(m->n_processes + 1, sizeof *all);
	uint8_t *linked = t->operators ? linked_make(m, t) : NULL, *inside = calloc(t->n + 1, 1);
	bool ok = all && inside && (linked || !t->operators);
	size_t to;

	for (size_t from = 0; ok && from < t->n; from = to) {
		uint32_t process = t->list[from].process;

		for (to = from + 1; to < t->n && t->list[to].process == process; to++)
			;
		ok = collect(m, t, linked, inside, from, to, &all[process]) == 0;
	}
	free(linked);
	free(inside);
	if (ok)
		return all;
	for (uint32_t p = 0; all && p < m->n_processes; p++)
		phases_release(&all[p]);
	free(all);
	return NULL;
}

const struct phases *model_phases(struct model *m)
{
	struct torch_derived *made = torch_derived(m);
	const struct torch_ranges *t = made && !made->phases ? model_torch(m) : NULL;

	if (t)
		made->phases = phases_of_all(m, t);
	return made ? made->phases : NULL;
}
