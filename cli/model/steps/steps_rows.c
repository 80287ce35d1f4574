/* Assigns rows to steps and windows. */
#include "cli/model/steps/steps_inside.h"

#include "cli/model/join.h"

/* An interval of correlation ids or of times, and its item. */
struct id_span {
	uint64_t low, high;             /* low <= x < high */
	uint64_t most;                  /* maximum `high` of this span and all before it */
	uint32_t item;
};

struct spots {
	struct id_span *list;           /* by low */
	size_t n;
	bool apart;                     /* no two spans overlap */
	size_t last;                    /* position of the last result; rows are nearly sorted */
};

/* A step or a window. */
struct step_item {
	int64_t start, end;
	uint64_t range;
	uint32_t process, thread, first, last;  /* correlation ids first <= id < last */
	bool crowded;
};

struct group {                          /* of one process */
	struct spots corr, time;
};

struct finder {
	struct model *m;
	struct step_item *items;
	size_t n, base;                 /* base: position of the first item in the model's list */
	struct group *groups;           /* by process */
	uint32_t n_groups;
	bool by_time;                   /* assign calls by time: the trace has no ids for the items */
	int32_t *api;                   /* by API row: its item, or -1 */
};

static void finder_free(struct finder *f)
{
	if (!f)
		return;
	for (uint32_t p = 0; f->groups && p < f->n_groups; p++) {
		free(f->groups[p].corr.list);
		free(f->groups[p].time.list);
	}
	free(f->groups);
	free(f->items);
	free(f->api);
	free(f);
}

static void finders_release(struct model *m, bool rows_only)
{
	struct steps_derived *s = m->steps;

	(void)rows_only;        /* finders know rows of calls */
	for (size_t i = 0; s && s->of_kind && i < s->public.n_kinds; i++)
		finder_free(s->of_kind[i]);
	if (s)
		free(s->of_kind);
	if (s)
		s->of_kind = NULL;
	finder_free(m->windows.finder);
	m->windows.finder = NULL;
}

/* Maps a time to an unsigned number with the same order. */
static uint64_t ordered(int64_t time)
{
	return (uint64_t)time ^ 1ull << 63;
}

/* ---- looking up ---- */

static int by_low(const void *a, const void *b)
{
	const struct id_span *p = a, *q = b;

	if (p->low != q->low)
		return p->low < q->low ? -1 : 1;
	return p->item < q->item ? -1 : p->item > q->item;
}

static void spots_finish(struct spots *s)
{
	uint64_t most = 0;

	if (s->n)
		qsort(s->list, s->n, sizeof *s->list, by_low);
	s->apart = true;
	for (size_t i = 0; i < s->n; i++) {
		if (s->list[i].low < most)
			s->apart = false;
		if (s->list[i].high > most)
			most = s->list[i].high;
		s->list[i].most = most;
	}
}

/* Number of spans that begin at or before x. */
static size_t begun(const struct spots *s, uint64_t x)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->list[mid].low <= x)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

#define ANY_THREAD UINT32_MAX           /* unknown thread */

/*
 * The item that contains x, or -1.  A crowded item contains only rows of its thread.  Of several items, the last one begun by `when` is
 * taken: the inner one or, if correlation ids wrapped around, the one of that time.
 */
static int32_t spot(const struct finder *f, struct spots *s, uint64_t x, uint32_t thread, int64_t when)
{
	const struct step_item *best = NULL;

	if (s->apart && s->last < s->n && s->list[s->last].low <= x && x < s->list[s->last].high)
		best = &f->items[s->list[s->last].item];
	for (size_t i = best ? 0 : begun(s, x); i-- > 0 && s->list[i].most > x;) {
		const struct step_item *item = &f->items[s->list[i].item];

		if (s->list[i].high <= x || (item->crowded && item->thread && item->thread != thread))
			continue;
		s->last = i;
		if (!best || (item->start <= when && (best->start > when || item->start > best->start)))
			best = item;
	}
	return best && !(best->crowded && best->thread && best->thread != thread) ? (int32_t)(best - f->items) : -1;
}

static int32_t spot_of_time(const struct finder *f, uint32_t process, int64_t time, uint32_t thread)
{
	return spot(f, &f->groups[process].time, ordered(time), thread, time);
}

static int32_t spot_of_corr(const struct finder *f, uint32_t process, uint32_t corr, uint32_t thread, int64_t when)
{
	return spot(f, &f->groups[process].corr, corr, thread, when);
}

/* ---- building a finder ---- */

static void put_span(struct spots *s, uint64_t low, uint64_t high, size_t item)
{
	if (low < high)
		s->list[s->n++] = (struct id_span){ .low = low, .high = high, .item = (uint32_t)item };
}

/* Length of an interval of ids without an end, as of the last step; no step makes more calls. */
#define MOST_CALLS (1u << 31)

static void put_corr(struct spots *s, const struct step_item *item, size_t at)
{
	uint32_t calls = item->last ? item->last - item->first : MOST_CALLS;
	uint64_t high = (uint64_t)item->first + calls;

	if (!item->first && !item->last)
		return;
	if (high <= 1ull << 32) {
		put_span(s, item->first, high, at);
	} else {                        /* the ids wrap around in it */
		put_span(s, item->first, 1ull << 32, at);
		put_span(s, 0, high - (1ull << 32), at);
	}
}

static int fill_spots(struct finder *f, bool corr)
{
	size_t *n = calloc(f->n_groups + 1, sizeof *n);

	if (!n)
		return -1;
	for (size_t i = 0; i < f->n; i++)
		n[f->items[i].process] += 2;
	for (uint32_t p = 0; p < f->n_groups; p++) {
		struct spots *s = corr ? &f->groups[p].corr : &f->groups[p].time;

		free(s->list);
		*s = (struct spots){ .list = malloc(n[p] * sizeof *s->list + 1) };
		if (!s->list) {
			free(n);
			return -1;
		}
	}
	free(n);
	for (size_t i = 0; i < f->n; i++) {
		const struct step_item *item = &f->items[i];

		if (corr)
			put_corr(&f->groups[item->process].corr, item, i);
		else
			put_span(&f->groups[item->process].time, ordered(item->start), ordered(item->end), i);
	}
	for (uint32_t p = 0; p < f->n_groups; p++)
		spots_finish(corr ? &f->groups[p].corr : &f->groups[p].time);
	return 0;
}

static int fill_api(struct finder *f)
{
	struct model *m = f->m;
	const int64_t *start = MODEL_I64(m, api, start);
	const uint32_t *corr = MODEL_U32(m, api, corr), *thread = MODEL_U32(m, api, thread),
		       *process = model_row_process(m, ROW_api);
	size_t n = model_rows(m, ROW_api);

	f->api = malloc(n * sizeof *f->api + 1);
	if (!start || !corr || !thread || !process || !f->api)
		return -1;
	for (size_t i = 0; i < n; i++)
		f->api[i] = !f->by_time && corr[i] && f->groups[process[i]].corr.n
				    ? spot_of_corr(f, process[i], corr[i], thread[i], start[i])
				    : spot_of_time(f, process[i], start[i], thread[i]);
	return 0;
}

/*
 * After calls were assigned by time: gives each item the ids from its first to its last call, to assign GPU rows whose call is missing.
 * Not for imported traces, whose ids need not rise with time.
 */
static int learn_corr(struct finder *f)
{
	const uint32_t *corr = MODEL_U32(f->m, api, corr);

	if (!corr)
		return -1;
	for (size_t i = 0, n = model_rows(f->m, ROW_api); i < n; i++) {
		struct step_item *item = f->api[i] >= 0 && corr[i] ? &f->items[f->api[i]] : NULL;

		if (!item)
			continue;
		if (!item->first && !item->last)
			item->first = corr[i], item->last = corr[i] + 1;
		else if ((int32_t)(corr[i] - item->first) < 0)
			item->first = corr[i];
		else if ((int32_t)(corr[i] - item->last) >= 0)
			item->last = corr[i] + 1;
	}
	return fill_spots(f, true);
}

static struct finder *finder_make(struct model *m, struct step_item *items, size_t n, size_t base, bool by_time)
{
	struct finder *f = calloc(1, sizeof *f);

	if (!f || !items) {
		free(items);
		free(f);
		return NULL;
	}
	f->m = m;
	f->items = items;
	m->release[FROM_FINDERS] = finders_release;
	f->n = n;
	f->base = base;
	f->by_time = by_time;
	f->groups = calloc(m->n_processes, sizeof *f->groups);
	f->n_groups = m->n_processes;
	if (!f->groups || model_join(m) < 0 || fill_spots(f, false) < 0 || fill_spots(f, true) < 0 || fill_api(f) < 0 ||
	    (by_time && !model_imported(m) && learn_corr(f) < 0)) {
		finder_free(f);
		return NULL;
	}
	return f;
}

static struct finder *finder_of_kind(struct model *m, size_t kind)
{
	struct steps_derived *s = m->steps;
	const struct step_kind *k = &s->public.kinds[kind];
	struct step_item *items;
	bool by_time;

	if (!s->of_kind)
		s->of_kind = calloc(s->public.n_kinds + 1, sizeof *s->of_kind);
	if (!s->of_kind || s->of_kind[kind])
		return s->of_kind ? s->of_kind[kind] : NULL;
	/* Ids are known only for recorded steps, and rise with time only in recorded traces. */
	by_time = s->public.source != STEPS_RECORDED || model_imported(m);
	items = malloc(k->n * sizeof *items + 1);
	for (size_t i = 0; items && i < k->n; i++) {
		const struct step *step = &s->public.list[k->first + i];

		items[i] = (struct step_item){ step->start, step->end, step->range, step->process, step->thread,
					  by_time ? 0 : step->first_corr, by_time ? 0 : step->end_corr, step->crowded };
	}
	s->of_kind[kind] = finder_make(m, items, k->n, k->first, by_time);
	return s->of_kind[kind];
}

static struct finder *finder_of_window(struct model *m)
{
	struct step_item *items;
	size_t n;
	const struct window *list = model_windows(m, &n);

	if (!list || m->windows.finder)
		return m->windows.finder;
	items = malloc(n * sizeof *items + 1);
	for (size_t i = 0; items && i < n; i++) {
		const struct window *w = &list[i];

		items[i] = (struct step_item){ w->start, w->end, 0, w->process, 0, w->first_corr, w->end_corr, false };
	}
	return m->windows.finder = finder_make(m, items, n, 0, false);
}

/* ---- rows ---- */

struct row_columns {
	const int64_t *start;
	const uint32_t *corr, *thread, *process;
};

static bool row_columns(struct model *m, unsigned record, struct row_columns *c)
{
	const struct record *r = record_by_kind(record);
	int start = r ? record_field(r, "start") : -1, corr = r ? record_field(r, "corr") : -1,
	    thread = r ? record_field(r, "thread") : -1;

	c->start = start < 0 ? NULL : model_column(m, record, (unsigned)start);
	c->corr = corr < 0 ? NULL : model_column(m, record, (unsigned)corr);
	c->thread = thread < 0 ? NULL : model_column(m, record, (unsigned)thread);
	c->process = model_row_process(m, record);
	return c->process && (start < 0 || c->start) && (corr < 0 || c->corr) && (thread < 0 || c->thread);
}

static int32_t item_of(const struct finder *f, const struct row_columns *c, size_t row)
{
	uint32_t process = c->process[row], thread = c->thread ? c->thread[row] : ANY_THREAD;
	int64_t start = c->start ? c->start[row] : 0;
	size_t call;

	if (!c->corr || !c->corr[row])
		return start ? spot_of_time(f, process, start, thread) : -1;
	call = model_api_of(f->m, process, c->corr[row]);
	if (call != NO_ROW)
		return f->api[call];
	return spot_of_corr(f, process, c->corr[row], thread, start ? start : INT64_MAX);
}

/* Assigns each range that marks a step to that step; their recorded begins may differ slightly. */
static void put_marking(const struct finder *f, int32_t *of)
{
	for (size_t i = 0; i < f->n; i++) {
		size_t row = model_range_of(f->m, f->items[i].process, f->items[i].range);

		if (row != NO_ROW)
			of[row] = (int32_t)(f->base + i);
	}
}

static int32_t *rows_of(struct finder *f, unsigned record)
{
	struct row_columns c;
	int32_t *of;
	size_t n;

	if (!f || !row_columns(f->m, record, &c))
		return NULL;
	n = model_rows(f->m, record);
	of = column_memory(n * sizeof *of + 1);
	for (size_t i = 0; of && i < n; i++) {
		int32_t item = record == ROW_api ? f->api[i] : item_of(f, &c, i);

		of[i] = item < 0 ? -1 : (int32_t)f->base + item;
	}
	if (of && record == ROW_range)
		put_marking(f, of);
	return of;
}

int32_t *model_row_steps(struct model *m, unsigned record, size_t step_kind)
{
	return model_steps(m) ? rows_of(finder_of_kind(m, step_kind), record) : NULL;
}

int32_t *model_row_windows(struct model *m, unsigned record)
{
	return rows_of(finder_of_window(m), record);
}
