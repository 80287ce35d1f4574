#include "cli/analyze/comm_line.h"

#include "cli/analyze/gpu_times.h"
#include "cli/analyze/median_step.h"
#include "cli/json_out.h"
#include "cli/model/model.h"

#include <stdio.h>
#include <stdlib.h>

#define MANY_ROWS 2000000u      /* a second of looking, about */

static long long percent(int64_t part, int64_t whole)
{
	return whole > 0 ? (long long)(((__int128)part * 100 + whole / 2) / whole) : 0;
}

const char *comm_words(const struct gpu_times *t, char *text, size_t size)
{
	char comm[32], exposed[32];

	if (t->exposed)
		snprintf(text, size, "%s, %s (%lld %%) exposed", text_time(comm, t->comm), text_time(exposed, t->exposed),
			 percent(t->exposed, t->comm));
	else
		snprintf(text, size, "%s, none exposed", text_time(comm, t->comm));
	return text;
}

static int of_step(const struct gpu_sets *gpu, const struct steps *s, uint32_t process, size_t kind, const char *who, char *text,
		   size_t size)
{
	struct median_step of;
	struct gpu_times t;
	char words[96], among[48] = "";

	if (median_step(s, process, kind, &of) < 0)
		return -1;
	t = gpu_times_within(gpu, process, of.median->start, of.median->end);
	if (of.n > 1)
		snprintf(among, sizeof among, ", the median of %zu", of.n);
	if (t.parts && t.comm)
		snprintf(text, size, "%s%s; communication is %lld %% of step #%u%s", who, comm_words(&t, words, sizeof words),
			 percent(t.comm, time_sub(of.median->end, of.median->start)), of.median->number, among);
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

/* The process with most of it: they wait for each other, so one tells of all. */
static int of_span(struct model *m, const struct gpu_sets *gpu, bool several, char *text, size_t size)
{
	struct spans *span = model_gpu_spans(m, gpu->rows);
	struct gpu_times most = { 0 };
	char words[96], length[32], who[64];
	uint32_t process = 0;

	if (!span)
		return -1;
	for (uint32_t p = 0; p < gpu->n; p++) {
		const struct gpu_times t = within(gpu, p, &span[p]);

		if (t.comm > most.comm)
			most = t, process = p;
	}
	if (most.parts && most.comm)
		snprintf(text, size, "%s%s; communication is %lld %% of the GPU's span of %s", process_words(m, process, several, who, sizeof who),
			 comm_words(&most, words, sizeof words), percent(most.comm, spans_length(&span[process])),
			 text_time(length, spans_length(&span[process])));
	gpu_spans_free(m, span);
	return 0;
}

static int line(struct model *m, const struct gpu_sets *gpu, char *text, size_t size)
{
	const struct steps *s = model_steps_cheaply(m);
	bool *wanted = calloc(gpu->n + 1, sizeof *wanted);
	uint32_t process, with = 0;
	char who[64];
	size_t kind;
	int rc = 0;

	for (uint32_t p = 0; wanted && p < gpu->n; p++)
		with += wanted[p] = gpu->rows[p].work[GPU_COMM].n;
	if (!wanted)
		rc = -1;
	else if (with && s && most_steps(s, wanted, &process, &kind))
		rc = of_step(gpu, s, process, kind, process_words(m, process, with > 1, who, sizeof who), text, size);
	else if (with)
		rc = of_span(m, gpu, with > 1, text, size);
	free(wanted);
	return rc;
}

int comm_line(struct model *m, char *text, size_t size)
{
	struct gpu_sets gpu;
	int rc;

	*text = '\0';
	if (!model_rows(m, ROW_kernel) || model_rows(m, ROW_kernel) > MANY_ROWS)
		return 0;
	rc = gpu_sets_make(&gpu, m);
	if (rc == 0)
		rc = line(m, &gpu, text, size);
	gpu_sets_release(&gpu);
	return rc;
}
