#include "cli/report/steps/comm_line.h"

#include "cli/model/model.h"
#include "cli/report/parts/gpu_times.h"
#include "cli/report/parts/stats.h"
#include "cli/report/steps/median_step.h"
#include "cli/report/steps/step_view.h"
#include "cli/ui/json_out.h"

#include <stdio.h>
#include <stdlib.h>

const char *comm_words(const struct gpu_times *t, char *text, size_t size)
{
	char comm[32], exposed[32];

	if (t->exposed)
		snprintf(text, size, "%s, of which %s (%lld %%) exposed", text_time(comm, t->comm), text_time(exposed, t->exposed),
			 share_percent(t->exposed, t->comm));
	else
		snprintf(text, size, "%s, none exposed", text_time(comm, t->comm));
	return text;
}

void comm_of(const struct gpu_times *t, int64_t whole, const char *of, char *text, size_t size)
{
	char comm[32], exposed[32];
	size_t at = (size_t)snprintf(text, size, "%s (%lld %% of %s); ", text_time(comm, t->comm), share_percent(t->comm, whole), of);

	if (at < size && t->exposed)
		snprintf(text + at, size - at, "exposed (no compute runs): %s, %lld %% of comm", text_time(exposed, t->exposed),
			 share_percent(t->exposed, t->comm));
	else if (at < size)
		snprintf(text + at, size - at, "none exposed");
}

static int of_step(const struct step_view *v, uint32_t process, size_t kind, char *text, size_t size)
{
	struct median_step of;
	struct gpu_times t;
	char step[96];

	if (median_step(v->s, process, kind, &of) < 0)
		return -1;
	t = gpu_times_within(&v->gpu, process, of.median->start, of.median->end);
	if (t.parts && t.comm)
		comm_of(&t, time_sub(of.median->end, of.median->start), step_words(v, &of, step, sizeof step), text, size);
	return 0;
}

static struct gpu_times within(const struct gpu_sets *gpu, uint32_t process, const struct spans *span)
{
	struct gpu_times sum = { 0 };

	for (size_t i = 0; i < span->n; i++) {
		const struct gpu_times t = gpu_times_within(gpu, process, span->list[i].time, span->list[i].end);

		gpu_times_add(&sum, &t);
	}
	return sum;
}

/* Of the process with most communication: ranks wait for each other, so one process represents all. */
static int of_span(const struct step_view *v, bool several, char *text, size_t size)
{
	struct spans *span = model_gpu_spans(v->m, v->gpu.rows);
	struct gpu_times most = { 0 };
	char length[32], of[96], who[48];
	uint32_t process = 0;

	if (!span)
		return -1;
	for (uint32_t p = 0; p < v->gpu.n; p++) {
		const struct gpu_times t = within(&v->gpu, p, &span[p]);

		if (t.comm > most.comm)
			most = t, process = p;
	}
	snprintf(of, sizeof of, "the GPU's span of %s%s", text_time(length, spans_length(&span[process])),
		 several ? whose_words(v->m, process, who) : "");
	if (most.parts && most.comm)
		comm_of(&most, spans_length(&span[process]), of, text, size);
	gpu_spans_free(v->m, span);
	return 0;
}

int comm_line(const struct step_view *v, char *text, size_t size)
{
	bool *wanted;
	uint32_t process, with = 0;
	size_t kind;
	int rc = 0;

	*text = '\0';
	if (!v->has_gpu)
		return 0;
	wanted = calloc(v->gpu.n + 1, sizeof *wanted);
	for (uint32_t p = 0; wanted && p < v->gpu.n; p++)
		with += wanted[p] = v->gpu.rows[p].work[GPU_COMM].n;
	if (!wanted)
		rc = -1;
	else if (with && v->s && most_steps(v->s, wanted, &process, &kind))
		rc = of_step(v, process, kind, text, size);
	else if (with)
		rc = of_span(v, with > 1, text, size);
	free(wanted);
	return rc;
}
