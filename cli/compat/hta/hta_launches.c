/* Launches: call, GPU row and the delay between them (hta/analyzers/cuda_kernel_analysis.py, get_cuda_kernel_launch_stats). */
#include "cli/compat/hta/hta_derived.h"

#define SHORT_CALL 50000        /* ns: HTA's runtime_cutoff */
#define LONG_DELAY 100000       /* ns: HTA's launch_delay_cutoff */

struct launch_sums {
	uint64_t n, short_kernels, slow_calls, late;
	int64_t cpu, gpu, delay, most_delay;
};

/* Adds one pair of a host row and a GPU row to s, and prints it unless t is NULL. */
static void pair(struct table *t, const struct hta_rank *r, const struct hta_row *call, const struct hta_row *gpu,
		 struct launch_sums *s)
{
	int64_t delay = time_sub(gpu->ts, hta_end(call));

	if (delay < 0)
		delay = 0;
	if (t)
		table_row(t, (struct cell[]){ NUMBER(r->rank), NUMBER(call->corr), hta_us(call->dur), hta_us(gpu->dur),
					      hta_us(delay) });
	s->n++;
	s->cpu = time_add(s->cpu, call->dur);
	s->gpu = time_add(s->gpu, gpu->dur);
	s->delay = time_add(s->delay, delay);
	if (s->n == 1 || delay > s->most_delay)
		s->most_delay = delay;
	s->short_kernels += call->dur <= SHORT_CALL && gpu->dur < call->dur;
	s->slow_calls += call->dur > SHORT_CALL;
	s->late += delay > LONG_DELAY;
}

static bool launches_something(const struct hta *h, const struct hta_rank *r, size_t call)
{
	(void)h;
	return !hta_on_stream(hta_row(r, call)) && r->derived->chains.flags[hta_id(r, call)] & HTA_LAUNCH;
}

/*
 * Pairs every host row with every GPU row of the same correlation id, for ids that a launch has.  t NULL: only sums.  Returns 1; 0: too
 * many pairs; -1: out of memory.
 */
static int pairs(const struct hta *h, const struct hta_rank *r, struct table *t, struct launch_sums *s)
{
	const struct hta_chains *c = hta_chains(h, r);
	uint64_t n;

	if (!c || hta_count_pairs(h, r, launches_something, &n) < 0)
		return -1;
	if (hta_too_many_pairs(r, n))
		return 0;
	for (size_t i = 0; i < r->n_linked; i++) {
		if (!launches_something(h, r, r->linked[i]))
			continue;
		for (uint32_t k = c->first[hta_id(r, r->linked[i])]; k; k = c->next[k - 1])
			pair(t, r, hta_row(r, r->linked[i]), hta_row(r, r->gpu[k - 1]), s);
	}
	return 1;
}

static void note_refused(struct table *t, const struct hta_rank *r)
{
	hta_note_pairs(t, r, "the launches are not listed and not summed");
}

static int launches(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	struct hta *h = hta_get(m, choice, how);
	int rc = h ? 0 : -1;

	for (size_t k = 0; rc >= 0 && k < h->n_ranks; k++) {
		rc = pairs(h, &h->ranks[k], t, &(struct launch_sums){ 0 });
		if (!rc)
			note_refused(t, &h->ranks[k]);
	}
	hta_done(h, t, choice);
	return rc < 0 ? -1 : 0;
}

static int summary(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	struct hta *h = hta_get(m, choice, how);
	int rc = h ? 0 : -1;

	for (size_t k = 0; rc >= 0 && k < h->n_ranks; k++) {
		struct launch_sums s = { 0 };
		struct cell cells[9] = { NUMBER(h->ranks[k].rank) };

		rc = pairs(h, &h->ranks[k], NULL, &s);
		if (rc > 0)
			cells[1] = NUMBER(s.n);
		else if (!rc)
			note_refused(t, &h->ranks[k]);
		if (s.n) {
			cells[2] = hta_us(s.cpu);
			cells[3] = hta_us(s.gpu);
			cells[4] = hta_us(s.delay);
			cells[5] = hta_us(s.most_delay);
			cells[6] = NUMBER(s.short_kernels);
			cells[7] = NUMBER(s.slow_calls);
			cells[8] = NUMBER(s.late);
		}
		table_row(t, cells);
	}
	hta_done(h, t, choice);
	return rc < 0 ? -1 : 0;
}

static const struct heading columns[] = {
	{ "rank", COLUMN_ID }, { "correlation", COLUMN_ID }, { "cpu_duration", 0 }, { "gpu_duration", 0 }, { "launch_delay", 0 },
};
static const struct heading summary_columns[] = {
	{ "rank", COLUMN_ID }, { "n", 0 }, { "cpu_duration_sum", 0 }, { "gpu_duration_sum", 0 }, { "launch_delay_sum", 0 },
	{ "launch_delay_max", 0 }, { "short_kernels", 0 }, { "runtime_outliers", 0 }, { "launch_delay_outliers", 0 },
};

HTA_TWIN(hta_cuda_kernel_launch_stats, launches, columns, NULL, "Launches (us), by Rank",
	 "every launch: duration of the call, of the GPU row, and the delay between them");
HTA_TWIN(hta_cuda_kernel_launch_stats_summary, summary, summary_columns, NULL,
	 "Launch Sums (us), by Rank", "launches of each rank: kernels shorter than their call, slow calls, long delays");
