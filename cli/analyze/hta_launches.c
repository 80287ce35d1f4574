/* From call to kernel (hta/analyzers/cuda_kernel_analysis.py, get_cuda_kernel_launch_stats). */
#include "cli/analyze/hta_made.h"

#define SHORT_CALL 50000        /* ns: HTA's runtime_cutoff */
#define LONG_DELAY 100000       /* ns: HTA's launch_delay_cutoff */

struct launch_sums {
	uint64_t n, short_kernels, slow_calls, late;
	int64_t cpu, gpu, delay, most_delay;
};

/* One pair of a host row and a GPU row. */
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

/*
 * Every row off the streams with every row on one of equal correlation, where a launch has that correlation.  t NULL:
 * only the sums.
 */
static int pairs(const struct hta *h, const struct hta_rank *r, struct table *t, struct launch_sums *s)
{
	const struct hta_chains *c = hta_chains(h, r);

	for (size_t i = 0; c && i < r->n_linked; i++) {
		const struct hta_row *call = hta_row(r, r->linked[i]);
		uint32_t id = hta_id(r, r->linked[i]);

		if (hta_on_stream(call) || !(c->flags[id] & HTA_LAUNCH))
			continue;
		for (uint32_t k = c->first[id]; k; k = c->next[k - 1])
			pair(t, r, call, hta_row(r, r->gpu[k - 1]), s);
	}
	return c ? 0 : -1;
}

static int launches(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	struct hta *h = hta_get(m, choice, how);
	int rc = h ? 0 : -1;

	for (size_t k = 0; rc == 0 && k < h->n_ranks; k++)
		rc = pairs(h, &h->ranks[k], t, &(struct launch_sums){ 0 });
	hta_done(h, choice);
	return rc;
}

static int summary(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	struct hta *h = hta_get(m, choice, how);
	int rc = h ? 0 : -1;

	for (size_t k = 0; rc == 0 && k < h->n_ranks; k++) {
		struct launch_sums s = { 0 };
		struct cell cells[9] = { NUMBER(h->ranks[k].rank) };

		rc = pairs(h, &h->ranks[k], NULL, &s);
		cells[1] = NUMBER(s.n);
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
	hta_done(h, choice);
	return rc;
}

static const struct heading columns[] = {
	{ "rank", COLUMN_ID }, { "correlation", COLUMN_ID }, { "cpu_duration", 0 }, { "gpu_duration", 0 }, { "launch_delay", 0 },
};
static const struct heading summary_columns[] = {
	{ "rank", COLUMN_ID }, { "n", 0 }, { "cpu_duration_sum", 0 }, { "gpu_duration_sum", 0 }, { "launch_delay_sum", 0 },
	{ "launch_delay_max", 0 }, { "short_kernels", 0 }, { "runtime_outliers", 0 }, { "launch_delay_outliers", 0 },
};

HTA_TWIN(hta_cuda_kernel_launch_stats, launches, columns, NULL, "Launches (us), by Rank",
	 "every launch: time of the call, of the GPU, and between them");
HTA_TWIN(hta_cuda_kernel_launch_stats_summary, summary, summary_columns, NULL,
	 "Launches in Sum (us), by Rank", "launches of each rank: kernels shorter than their call, slow calls, long delays");
