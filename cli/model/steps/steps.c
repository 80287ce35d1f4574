/* Reads recorded steps and windows, or finds steps, and sorts them. */
#include "cli/model/steps/steps_inside.h"
#include "trace/rules/schedule.h"

/* ---- windows ---- */

static int by_window(const void *a, const void *b)
{
	const struct window *p = a, *q = b;

	if (p->process != q->process)
		return p->process < q->process ? -1 : 1;
	return p->number < q->number ? -1 : p->number > q->number;
}

static int windows_read(struct model *m, struct windows *w)
{
	const int64_t *start = MODEL_I64(m, window, start), *duration = MODEL_I64(m, window, duration);
	const uint32_t *number = MODEL_U32(m, window, number), *first = MODEL_U32(m, window, first_corr);
	const uint32_t *end = MODEL_U32(m, window, end_corr), *cause = MODEL_U32(m, window, cause),
		       *name = MODEL_U32(m, window, name);
	const uint32_t *flags = MODEL_U32(m, window, flags), *process = model_row_process(m, ROW_window);
	size_t n = model_rows(m, ROW_window);

	if (!start || !duration || !number || !first || !end || !cause || !name || !flags || !process)
		return -1;
	w->list = calloc(n + 1, sizeof *w->list);
	if (!w->list)
		return -1;
	for (size_t i = 0; i < n; i++)
		w->list[i] = (struct window){
			.start = start[i], .end = span_end(start[i], duration[i]), .process = process[i],
			.number = number[i],
			.cause = cause[i], .name = name[i], .first_corr = first[i], .end_corr = end[i],
			.flags = flags[i],
			.selected = true,
		};
	w->n = n;
	qsort(w->list, n, sizeof *w->list, by_window);
	return 0;
}

static void steps_free(struct steps_derived *s)
{
	if (!s)
		return;
	free(s->public.list);
	free(s->public.kinds);
	free(s);
}

static void steps_release(struct model *m, bool rows_only)
{
	if (rows_only)
		return;
	steps_free(m->steps);
	m->steps = NULL;
	free(m->windows.list);
	m->windows.list = NULL;
}

struct window *model_windows(struct model *m, size_t *n)
{
	m->release[FROM_STEPS] = steps_release;
	if (!m->windows.list && windows_read(m, &m->windows) < 0)
		return NULL;
	*n = m->windows.n;
	return m->windows.list;
}

bool steps_recorded_whole(const struct steps *s, uint32_t process)
{
	for (size_t i = 0; i < s->n_windows; i++)
		if (s->windows[i].process == process)
			return false;
	return !s->windowed;
}

bool step_was_kept(const struct steps *s, const struct step *step)
{
	return !(step->flags & STEP_WARMUP) && (step->window || steps_recorded_whole(s, step->process));
}

bool model_schedule(const struct model *m, uint64_t *first, uint64_t *active)
{
	const char *setting = model_attribute(m, "setting.schedule");
	struct schedule s;
	char why[200];

	if (!setting || schedule_parse(&s, setting, why, sizeof why) < 0)
		return false;
	*first = s.skip_first + (s.skip_first_wait ? 0 : s.wait) + s.warmup;
	*active = s.active;
	return true;
}

/* Whether recording waited for a window: for an order, a capture range or a schedule. */
static bool windows_asked(const struct model *m)
{
	static const char *const settings[] = {
		"setting.start_later", "setting.delay_ms", "setting.capture_range", "setting.schedule",
	};

	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		const char *value = model_attribute(m, settings[i]);

		if (value && *value && strcmp(value, "0") != 0)
			return true;
	}
	return false;
}

/* Assigns a step that was found in the trace to the window it overlaps; incomplete if it reaches outside the window. */
static void put_into_window(const struct steps *s, struct step *step)
{
	for (size_t i = 0; i < s->n_windows; i++) {
		const struct window *w = &s->windows[i];

		if (w->process != step->process || step->start >= w->end || step->end <= w->start)
			continue;
		step->window = w->number;
		if (step->start < w->start || step->end > w->end)
			step->flags |= STEP_INCOMPLETE;
		return;
	}
	step->window = steps_recorded_whole(s, step->process);
}

/*
 * Corrects the window of a step that the guest found late in the launches.  The window that such steps opened can begin after the step
 * (then nothing of it was kept) or inside it (then it is incomplete).
 */
static void cut_at_window(const struct steps *s, struct step *step)
{
	for (size_t i = 0; i < s->n_windows; i++) {
		const struct window *w = &s->windows[i];

		if (w->process != step->process || w->number != step->window || !w->first_corr || !step->end_corr)
			continue;
		if ((int32_t)(step->end_corr - w->first_corr) <= 0)
			step->window = 0;
		else if ((int32_t)(step->first_corr - w->first_corr) < 0)
			step->flags |= STEP_INCOMPLETE;
		return;
	}
}

/* ---- steps ---- */

static uint32_t kind_named(struct finding *f, struct map *names, uint32_t name)
{
	bool new;
	uint32_t *at = map_put(names, name, (uint32_t)names->n, &new);

	if (!at || (new && finding_kind(f, name) == UINT32_MAX))
		return UINT32_MAX;
	return *at - 1;
}

static int steps_read(struct finding *f)
{
	struct model *m = f->m;
	const int64_t *start = MODEL_I64(m, step, start), *duration = MODEL_I64(m, step, duration);
	const uint64_t *range = MODEL_U64(m, step, range);
	const uint32_t *number = MODEL_U32(m, step, number), *kind = MODEL_U32(m, step, kind),
		       *name = MODEL_U32(m, step, name);
	const uint32_t *anchor = MODEL_U32(m, step, anchor), *thread = MODEL_U32(m, step, thread),
		       *window = MODEL_U32(m, step, window);
	const uint32_t *first = MODEL_U32(m, step, first_corr), *end = MODEL_U32(m, step, end_corr);
	const uint32_t *confidence = MODEL_U32(m, step, confidence), *flags = MODEL_U32(m, step, flags);
	const uint32_t *process = model_row_process(m, ROW_step);
	struct map names = { 0 };
	int rc = 0;

	if (!start || !duration || !range || !number || !kind || !name || !anchor || !thread || !window || !first ||
	    !end || !confidence || !flags || !process)
		return -1;
	for (size_t i = 0; i < model_rows(m, ROW_step) && rc == 0; i++) {
		const struct step step = {
			.start = start[i], .end = span_end(start[i], duration[i]), .range = range[i],
			.process = process[i],
			.kind = kind_named(f, &names, kind[i]), .number = number[i], .name = name[i],
			.anchor = anchor[i],
			.thread = thread[i], .window = window[i], .first_corr = first[i], .end_corr = end[i],
			.confidence = confidence[i], .flags = flags[i],
		};

		if (step.kind == UINT32_MAX)
			rc = -1;
		buf_put(&f->steps, &step, sizeof step);
	}
	map_release(&names);
	f->source = model_rows(m, ROW_step) ? STEPS_RECORDED : STEPS_NONE;
	return rc;
}

/*
 * Removes provisional steps: batches recorded before the program was known to train (STEP_BATCH).  If any process has another step of the
 * kind, the batches of that kind are not steps in any process.  steps_find_torch() has the same rule.
 */
static void drop_batches(struct finding *f)
{
	struct step *list = (struct step *)f->steps.data;
	size_t n = f->steps.len / sizeof *list, kept = 0;
	const struct step_kind *kinds = (const struct step_kind *)f->kinds.data;
	bool *trains = calloc(f->kinds.len / sizeof *kinds + 1, sizeof *trains);

	for (size_t i = 0; trains && i < n; i++)
		trains[list[i].kind] |= !(list[i].flags & STEP_BATCH);
	for (size_t i = 0; trains && i < n; i++)
		if (!(list[i].flags & STEP_BATCH) || !trains[list[i].kind])
			list[kept++] = list[i];
	f->steps.oom |= !trains;
	f->steps.len = trains ? kept * sizeof *list : 0;
	free(trains);
}

static int by_kind(const void *a, const void *b)
{
	const struct step *p = a, *q = b;

	if (p->kind != q->kind)
		return p->kind < q->kind ? -1 : 1;
	if (p->process != q->process)
		return p->process < q->process ? -1 : 1;
	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	return p->number < q->number ? -1 : p->number > q->number;
}

/* Sets `crowded` for the steps of one kind and process, sorted by start. */
static void find_crowded(struct step *list, size_t n)
{
	int64_t latest = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		list[i].crowded = latest > list[i].start || (i + 1 < n && list[i + 1].start < list[i].end);
		if (list[i].end > latest)
			latest = list[i].end;
	}
}

/* Sorts the steps and numbers found ones; recorded steps keep their recorded number. */
static void put_in_order(struct steps *s)
{
	size_t to;

	if (s->n)
		qsort(s->list, s->n, sizeof *s->list, by_kind);
	for (size_t from = 0; from < s->n; from = to) {
		for (to = from; to < s->n && s->list[to].kind == s->list[from].kind &&
				s->list[to].process == s->list[from].process; to++)
			if (s->source != STEPS_RECORDED)
				s->list[to].number = (uint32_t)(to - from);
		find_crowded(s->list + from, to - from);
	}
	for (size_t i = s->n; i-- > 0;) {
		s->list[i].selected = true;
		if (s->list[i].end < s->list[i].start)  /* damaged, or the process ended before its start */
			s->list[i].end = s->list[i].start;
		s->kinds[s->list[i].kind].first = i;
		s->kinds[s->list[i].kind].n++;
		if (s->source != STEPS_RECORDED)
			put_into_window(s, &s->list[i]);
		else if (s->list[i].flags & STEP_AUTO)
			cut_at_window(s, &s->list[i]);
	}
}

/* Whether the user defined steps.  Then no other steps are searched, even if none were recorded. */
static bool steps_asked(const struct model *m)
{
	const char *steps = model_attribute(m, "setting.steps"), *schedule = model_attribute(m, "setting.schedule");

	return (steps && *steps) || (schedule && *schedule);
}

#define MANY_ROWS 2000000u      /* calls or operators; finding steps in them takes about a second */

static int steps_make(struct model *m, struct steps *s, bool dearly)
{
	struct finding f = { .m = m };
	int rc = -1;

	s->asked = steps_asked(m);
	s->windowed = windows_asked(m);
	s->windows = model_windows(m, &s->n_windows);
	if (!s->windows || steps_read(&f) < 0)
		goto out;
	drop_batches(&f);
	if (!f.source && !s->asked && steps_find_marked(&f) < 0)
		goto out;
	if (!f.source && !s->asked && (dearly || model_rows(m, ROW_op) < MANY_ROWS) && steps_find_torch(&f) < 0)
		goto out;
	if (!f.source && !s->asked && dearly && steps_find_launched(&f) < 0)
		goto out;
	if (f.steps.oom || f.kinds.oom || steps_drop_last(&f) < 0)
		goto out;
	s->source = f.source;
	s->list = (struct step *)f.steps.data;
	s->n = f.steps.len / sizeof *s->list;
	s->kinds = (struct step_kind *)f.kinds.data;
	s->n_kinds = f.kinds.len / sizeof *s->kinds;
	f.steps = f.kinds = (struct buf){ 0 };
	put_in_order(s);
	rc = 0;
out:
	buf_free(&f.steps);
	buf_free(&f.kinds);
	return rc;
}

static struct steps_derived *steps_new(struct model *m, bool dearly)
{
	struct steps_derived *s = calloc(1, sizeof *s);

	if (s && steps_make(m, &s->public, dearly) < 0) {
		steps_free(s);
		s = NULL;
	}
	return s;
}

const struct steps *model_steps(struct model *m)
{
	if (!m->steps)
		m->steps = steps_new(m, true);
	return m->steps ? &m->steps->public : NULL;
}

const struct steps *model_steps_cheaply(struct model *m)
{
	if (m->steps || (model_rows(m, ROW_api) < MANY_ROWS && model_rows(m, ROW_op) < MANY_ROWS))
		return model_steps(m);
	m->steps = steps_new(m, false);
	if (m->steps && !m->steps->public.source && !m->steps->public.asked) {
		steps_free(m->steps);        /* only the search in launches or PyTorch's ranges could find steps */
		m->steps = NULL;
	}
	return m->steps ? &m->steps->public : NULL;
}
