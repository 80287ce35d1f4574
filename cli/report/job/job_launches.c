/* launch_delays, launch_delay_sum: delay from the call of each launch to its first GPU row. */
#include "cli/report/job/job_launch.h"

#include "cli/model/names.h"

#include <stdlib.h>

#define SLOW_CALL 50000         /* ns; longer calls count as slow_calls */
#define LATE 100000             /* ns; longer launch delays count as late */

/* Name of a call as reports print it: "cudaLaunchKernel". */
static const char *call_words(struct model *m, size_t call)
{
	const uint32_t *name = MODEL_U32(m, api, name);

	return name ? model_string(m, model_name(m, name[call], NAME_API_PLAIN)) : "?";
}

static int put_launches(const struct job *j, const struct job_rank *r, struct table *t)
{
	const uint32_t *corr = MODEL_U32(r->m, api, corr);
	struct launches all;
	int rc = corr ? job_launches(r, &all) : -1;

	(void)j;
	if (!corr)
		return -1;
	for (size_t i = 0; i < all.n && rc == 0; i++) {
		const struct launch *l = &all.list[i];
		const char *name = job_row_name(r->m, &l->first, t);

		if (!name)
			rc = -1;
		else
			table_row(t, (struct cell[]){ NUMBER(r->number), NUMBER(corr[l->call_row]), NUMBER(l->call_ns), NUMBER(l->rows),
						      NUMBER(l->gpu_ns), NUMBER(launch_delay(l)), TEXT(call_words(r->m, l->call_row)),
						      TEXT(name) });
	}
	if (rc == 0)
		launches_note(t, r, &all);
	free(all.list);
	return rc;
}

static int each_launch(struct model *m, struct table *t, const struct report_choice *choice)
{
	return job_each(m, t, choice, put_launches);
}

struct launch_counts {
	int64_t call_ns, gpu_ns;
	size_t short_kernels, slow_calls, late;
	struct job_values delays;
};

static bool count(struct launch_counts *c, const struct launch *l)
{
	int64_t delay = launch_delay(l);

	c->call_ns = time_add(c->call_ns, l->call_ns);
	c->gpu_ns = time_add(c->gpu_ns, l->gpu_ns);
	c->short_kernels += l->gpu_ns < l->call_ns;
	c->slow_calls += l->call_ns > SLOW_CALL;
	c->late += delay > LATE;
	return job_values_add(&c->delays, delay);
}

/* Without launches only their number, 0, is known. */
static void put_counts(struct table *t, int64_t rank, struct launch_counts *c)
{
	struct job_summary s = job_summary_of(&c->delays);
	struct cell cells[11] = { NUMBER(rank), NUMBER(s.n) };

	if (s.n) {
		cells[2] = NUMBER(c->call_ns);
		cells[3] = NUMBER(c->gpu_ns);
		cells[4] = NUMBER(s.sum);
		cells[5] = NUMBER(s.median);
		cells[6] = NUMBER(s.p95);
		cells[7] = NUMBER(s.max);
		cells[8] = NUMBER(c->short_kernels);
		cells[9] = NUMBER(c->slow_calls);
		cells[10] = NUMBER(c->late);
	}
	table_row(t, cells);
}

static int put_sum(const struct job *j, const struct job_rank *r, struct table *t)
{
	struct launches all;
	struct launch_counts c = { 0 };
	int rc = job_launches(r, &all);

	(void)j;
	for (size_t i = 0; i < all.n && rc == 0; i++)
		rc = count(&c, &all.list[i]) ? 0 : -1;
	if (rc == 0) {
		put_counts(t, r->number, &c);
		launches_note(t, r, &all);
	}
	job_values_release(&c.delays);
	free(all.list);
	return rc;
}

static int sum(struct model *m, struct table *t, const struct report_choice *choice)
{
	int rc = job_each(m, t, choice, put_sum);

	if (rc == 0 && t->n_rows)
		table_note(t, "short_kernels: less GPU time than the call took; slow_calls: calls above 50 us; late: launch delay "
			      "above 100 us");
	return rc;
}

static const struct heading columns[] = {
	{ "rank", COLUMN_ID }, { "correlation", COLUMN_ID }, { "call_ns", 0 }, { "gpu_rows", COLUMN_RARE }, { "gpu_ns", 0 },
	{ "delay_ns", COLUMN_KEY }, { "call", COLUMN_TEXT | COLUMN_RARE }, { "name", COLUMN_TEXT },
};
static const struct heading sum_columns[] = {
	{ "rank", COLUMN_ID }, { "launches", 0 }, { "call_ns", 0 }, { "gpu_ns", 0 }, { "delay_ns", 0 },
	{ "delay_median_ns", 0 }, { "delay_p95_ns", 0 }, { "delay_max_ns", 0 }, { "short_kernels", 0 }, { "slow_calls", 0 },
	{ "late", 0 },
};

const struct report report_launch_delays = {
	.name = "launch_delays",
	.title = "Launches: Time of the Call, of the GPU, and the Delay Between Them",
	.help = "How long is the delay between each launch and its GPU rows?",
	.needs = NEED_GPU,
	.ranks = true,
	COLUMNS(columns),
	.run_chosen = each_launch,
};

const struct report report_launch_delay_sum = {
	.name = "launch_delay_sum",
	.title = "Launches and Launch Delays of Each Rank",
	.help = "How long are launches and launch delays of each rank: sum, median, p95, maximum?",
	.needs = NEED_GPU,
	.ranks = true,
	COLUMNS(sum_columns),
	.run_chosen = sum,
};
