/* windows: the time windows in which rows were recorded. */
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/model/steps/steps.h"
#include "cli/report/parts/report.h"
#include "cli/report/steps/steps_how.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "window", COLUMN_ID | COLUMN_KEY }, { "cause", COLUMN_TEXT }, { "name", COLUMN_TEXT }, { "process", COLUMN_ID | COLUMN_WHO },
	{ "start_ns", 0 },
	{ "duration_ns", COLUMN_KEY }, { "steps", 0 }, { "kernels", 0 }, { "api_calls", 0 }, { "complete", COLUMN_ID },
};

/* By window: number of rows of a kind.  The caller frees it.  NULL: out of memory. */
static size_t *count(struct model *m, const struct steps *s, unsigned kind)
{
	size_t *n = calloc(s->n_windows + 1, sizeof *n);
	int32_t *of = model_row_windows(m, kind);

	if (n && of)
		for (size_t i = 0; i < model_rows(m, kind); i++)
			if (of[i] >= 0)
				n[of[i]]++;
	if (!of) {
		free(n);
		n = NULL;
	}
	free(of);
	return n;
}

/* Number of steps that report steps lists in a window.  Steps of a process recorded whole have window 0, printed as window 1. */
static uint64_t steps_in(const struct steps *s, uint32_t process, uint32_t window)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct step *step = &s->list[i];

		n += step->process == process && step_was_kept(s, step) && (step->window ? step->window : 1) == window;
	}
	return n;
}

static void put_windows(struct model *m, struct table *t, const struct steps *s, const size_t *kernels,
			const size_t *calls)
{
	uint32_t n;
	const struct process *p = model_processes(m, &n);

	for (size_t i = 0; i < s->n_windows; i++) {
		const struct window *w = &s->windows[i];

		if (w->selected)
			table_row(t, (const struct cell[]){
				NUMBER(w->number), TEXT(window_cause(w->cause)),
				w->name == STRING_NONE ? UNKNOWN : TEXT(model_string(m, w->name)),
				NUMBER(p[w->process].number),
				NUMBER(time_sub(w->start, model_start(m))), NUMBER(time_sub(w->end, w->start)),
				NUMBER(steps_in(s, w->process, w->number)), NUMBER(kernels[i]), NUMBER(calls[i]),
				NUMBER(!(w->flags & WINDOW_INCOMPLETE)) });
	}
}

/* A process that was recorded whole is one window, from its start to its end. */
static void put_whole(struct model *m, struct table *t, const struct steps *s)
{
	uint32_t n;
	const struct process *p = model_processes(m, &n);
	int64_t begin = model_start(m);

	for (uint32_t i = 1; i < n; i++) {
		int64_t end = p[i].end ? p[i].end : model_end(m), start = p[i].start ? p[i].start : begin;

		if (!steps_recorded_whole(s, i) || !(p[i].flags & PROCESS_CONNECTED))
			continue;
		table_row(t, (const struct cell[]){
			NUMBER(1), TEXT("program"), UNKNOWN, NUMBER(p[i].number), NUMBER(time_sub(start, begin)),
			NUMBER(time_sub(end, start)), NUMBER(steps_in(s, i, 1)),
			NUMBER(model_process_rows(m, ROW_kernel, i)),
			NUMBER(model_process_rows(m, ROW_api, i)), NUMBER(p[i].flags & PROCESS_ENDED ? 1 : 0) });
	}
}

static int run(struct model *m, struct table *t, const char *variant)
{
	const struct steps *s = model_steps(m);
	size_t *kernels = s ? count(m, s, ROW_kernel) : NULL, *calls = s ? count(m, s, ROW_api) : NULL;
	int rc = kernels && calls ? 0 : -1;

	(void)variant;
	if (rc == 0) {
		put_windows(m, t, s, kernels, calls);
		put_whole(m, t, s);
	}
	if (rc == 0 && !t->n_rows)
		table_note(t, s->windowed ? "no window started: nothing was recorded" : "no process was recorded");
	free(kernels);
	free(calls);
	return rc;
}

const struct report report_windows = {
	.name = "windows",
	.title = "Windows",
	.help = "Which parts of the run were recorded, and how much is in each?",
	COLUMNS(columns),
	.run = run,
};
