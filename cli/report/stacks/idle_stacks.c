/* idle_stacks: what the main thread of each process did while the GPU was idle. */
#include "cli/model/gpu/gpu_span.h"
#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/process.h"
#include "cli/report/parts/span_words.h"
#include "cli/report/parts/stats.h"
#include "cli/report/parts/why.h"
#include "cli/report/stacks/stack_sites.h"

#include <stdio.h>
#include <stdlib.h>

static const struct heading columns[] = {
	{ "samples", 0 }, { "samples_pct", 0 }, { "call_ns", 0 }, { "idle_pct", 0 },
	{ "stack", COLUMN_TEXT | COLUMN_BELOW | COLUMN_LINES },
};

struct idle_stacks_report {
	struct model *m;
	struct stack_text text;
	struct spans *spans, *idle;     /* by process: its GPU span; the part of the span in which the GPU was idle */
	uint32_t *main_thread;          /* by process: id of the main thread; 0: not known */
	const struct process *processes;
	const uint32_t *call_thread, *sample_thread, *sample_tid;
	struct sites sites;             /* key: string id of the stack's text */
	int64_t all_idle, all;          /* length of all idle; of all spans */
	uint32_t with_gpu, gpu_process; /* number of processes with a GPU span; the last of them */
	uint64_t samples;               /* of main threads while the GPU was idle */
};

/* idle = GPU span minus busy of each process.  Busy includes GPU rows that were launched outside the selected part. */
static int find_idle(struct idle_stacks_report *w, uint32_t n)
{
	struct gpu_rows *rows = model_gpu_rows_in_span(w->m, &w->spans);
	int rc = rows ? 0 : -1;

	for (uint32_t p = 0; p < n && rc == 0; p++) {
		rc = spans_subtract(&w->spans[p], &rows[p].busy, &w->idle[p]);
		w->all_idle = time_add(w->all_idle, spans_length(&w->idle[p]));
		w->all = time_add(w->all, spans_length(&w->spans[p]));
		w->with_gpu += w->spans[p].n != 0;
		w->gpu_process = w->spans[p].n ? p : w->gpu_process;
	}
	gpu_rows_free(w->m, rows);
	return rc;
}

static void find_main_threads(struct idle_stacks_report *w)
{
	size_t n;
	const struct thread *t = model_threads(w->m, &n);

	for (size_t i = 0; t && i < n; i++)
		if (t[i].row.tid && t[i].row.tid == w->processes[t[i].process].pid)
			w->main_thread[t[i].process] = t[i].row.id;
}

static struct site *site_of(struct idle_stacks_report *w, const struct stack_event *e, const char *call)
{
	const char *text = stack_text(&w->text, e->stack, VIEW_MIXED, 0);
	char *whole = NULL;
	uint32_t id;

	if (call && asprintf(&whole, "%s%s%s", call, *text ? " <- " : "", text) < 0)
		return NULL;
	id = model_intern(w->m, whole ? whole : text);
	free(whole);
	return id == MAP_NONE ? NULL : sites_get(&w->sites, id);
}

static int add_event(const struct stack_event *e, void *arg)
{
	struct idle_stacks_report *w = arg;
	uint32_t main = w->main_thread[e->process];
	const struct spans *idle = &w->idle[e->process];
	struct site *at;

	if (e->kind == EVENT_CALL) {
		int64_t ns = main && w->call_thread[e->row] == main && e->ns > 0 ?
			     spans_within(idle, e->start, time_add(e->start, e->ns)) : 0;

		if (!ns)
			return 0;
		at = site_of(w, e, model_string(w->m, model_name(w->m, e->name, NAME_API_PLAIN)));
		if (at)
			at->call_ns = time_add(at->call_ns, ns);
		return at ? 0 : -1;
	}
	if (w->sample_thread[e->row] ? w->sample_thread[e->row] != main :
				       w->sample_tid[e->row] != w->processes[e->process].pid)
		return 0;
	if (!spans_within(idle, e->start, time_add(e->start, 1)))
		return 0;
	at = site_of(w, e, NULL);
	if (at)
		site_add(w->m, at, e);
	w->samples++;
	return at ? 0 : -1;
}

static int longest_first(const void *a, const void *b)
{
	const struct site *x = a, *y = b;
	uint64_t xs = x->python_samples + x->native_samples, ys = y->python_samples + y->native_samples;

	if (xs != ys)
		return xs > ys ? -1 : 1;
	if (x->call_ns != y->call_ns)
		return x->call_ns > y->call_ns ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

static const char *span_text(const struct idle_stacks_report *w, char text[SPAN_WORDS])
{
	char time[32];

	if (w->with_gpu == 1)
		return span_words_of(w->m, w->gpu_process, &w->spans[w->gpu_process], text);
	snprintf(text, SPAN_WORDS, "%s of GPU time of %u processes", text_time(time, w->all), w->with_gpu);
	return text;
}

static void put_stacks(struct idle_stacks_report *w, struct table *t)
{
	bool sampled = model_has_samples(w->m);
	char text[32], span[SPAN_WORDS];

	if (w->sites.n)
		qsort(w->sites.list, w->sites.n, sizeof *w->sites.list, longest_first);
	for (size_t i = 0; i < w->sites.n; i++) {
		const struct site *s = &w->sites.list[i];
		uint64_t samples = s->python_samples + s->native_samples;
		const char *stack = model_string(w->m, (uint32_t)s->key);

		table_row(t, (const struct cell[]){
			sampled ? NUMBER(samples) : UNKNOWN, sampled ? FIXED(share(samples, w->samples), 1) : UNKNOWN,
			NUMBER(s->call_ns), FIXED(share((uint64_t)s->call_ns, (uint64_t)w->all_idle), 1),
			TEXT(*stack ? stack : "(no stack)") });
	}
	if (w->with_gpu)
		table_note(t, "GPU idle %s of %s; samples of the main thread in that time: %llu", text_time(text, w->all_idle),
			   span_text(w, span), (unsigned long long)w->samples);
	note_samples(w->m, t);
}

static int make_report(struct idle_stacks_report *w, uint32_t n)
{
	w->idle = calloc(n, sizeof *w->idle);
	w->main_thread = calloc(n, sizeof *w->main_thread);
	w->call_thread = MODEL_U32(w->m, api, thread);
	w->sample_thread = MODEL_U32(w->m, sample, thread);
	w->sample_tid = MODEL_U32(w->m, sample, tid);
	return w->idle && w->main_thread && w->call_thread && w->sample_thread && w->sample_tid &&
	       stack_text_begin(&w->text, w->m) == 0 ? 0 : -1;
}

static int run(struct model *m, struct table *t, const char *variant)
{
	struct idle_stacks_report w = { .m = m };
	uint32_t n;
	int rc;

	(void)variant;
	w.processes = model_processes(m, &n);
	rc = make_report(&w, n);
	if (rc == 0)
		rc = find_idle(&w, n);
	if (rc == 0) {
		find_main_threads(&w);
		rc = model_stack_events(m, EVENT_CALL | EVENT_SAMPLE, add_event, &w);
	}
	if (rc == 0)
		put_stacks(&w, t);
	if (rc == 0 && !w.with_gpu)
		why_no_gpu(m, t, "idle times of a GPU");
	gpu_spans_free(m, w.idle);
	gpu_spans_free(m, w.spans);
	free(w.main_thread);
	stack_text_end(&w.text);
	sites_release(&w.sites);
	return rc;
}

const struct report report_idle_stacks = {
	.name = "idle_stacks",
	.share = "samples_pct: share of the main thread's samples while the GPU was idle; idle_pct: share of the GPU's idle time",
	.title = "What the Main Thread Did While the GPU Was Idle",
	.help = "What does the main thread do while the GPU is idle?",
	.needs = NEED_GPU,
	.adds = { ROW_kernel, ROW_memcpy },
	COLUMNS(columns),
	.run = run,
};
