#include "cli/page/page_overhead.h"

#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/model/steps/steps.h"
#include "cli/report/session/overhead.h"
#include "cli/ui/json_out.h"

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
	static const unsigned fields[] = { COL_overhead_duration };
	int64_t cupti[MODEL_WORKERS] = { 0 }, here;
	void *const states[MODEL_WORKERS] = { &cupti[0], &cupti[1] };
	char a[32];
	size_t known;

	*text = '\0';
	here = overhead_here(m, &known);
	if (known) {
		snprintf(text, PAGE_OVERHEAD, "%s on the program's threads, part of host times (-r overhead)", text_time(a, here));
		return 0;
	}
	if (model_scan_all(m, ROW_overhead, fields, 1, add_durations, states) < 0)
		return -1;
	if (model_rows(m, ROW_overhead))
		snprintf(text, PAGE_OVERHEAD, "CUPTI reports %s (details: report -r overhead)",
			 text_time(a, time_add(cupti[0], cupti[1])));
	return 0;
}
