#include "cli/page_overhead.h"

#include "cli/json_out.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/model/steps.h"

#include <stdio.h>

static int add_durations(const struct batch *b, void *state)
{
	const int64_t *duration = b->column[0];
	int64_t *sum = state;

	for (size_t i = 0; i < b->n; i++)
		*sum = time_add(*sum, duration[i] > 0 ? duration[i] : 0);
	return 0;
}

int page_overhead(struct model *m, char text[PAGE_OVERHEAD])
{
	uint32_t n;
	const struct process *processes = model_processes(m, &n);
	static const unsigned fields[] = { COL_overhead_duration };
	int64_t cupti[MODEL_WORKERS] = { 0 }, here = 0, elsewhere = 0;
	void *const states[MODEL_WORKERS] = { &cupti[0], &cupti[1] };
	char ours[128] = "ours: not in the trace", a[32], b[32], c[32];
	size_t known = 0;

	*text = '\0';
	if (model_scan_all(m, ROW_overhead, fields, 1, add_durations, states) < 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		for (size_t k = 0; k < processes[i].n_costs && model_process_selected(m, i); k++) {
			const struct cost *cost = &processes[i].costs[k];

			int64_t *sum = cost->place == COST_buffer || cost->place == COST_flush ? &elsewhere : &here;

			*sum = time_add(*sum, cost->total);
			known++;
		}
	if (!known && !model_rows(m, ROW_overhead) && !model_rows(m, ROW_api) && !model_rows(m, ROW_range))
		return 0;       /* nothing was recorded, so there is nothing to weigh it against */
	if (known)
		snprintf(ours, sizeof ours, "ours: %s in the program's threads, %s on others", text_time(a, here),
			 text_time(b, elsewhere));
	snprintf(text, PAGE_OVERHEAD,
		 "%s; CUPTI reports %s; not included: recording each call and range, and what CUPTI adds to each CUDA "
		 "call and kernel",
		 ours, model_rows(m, ROW_overhead) ? text_time(c, time_add(cupti[0], cupti[1])) : "none");
	return 0;
}
