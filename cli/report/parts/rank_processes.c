#include "cli/report/parts/rank_processes.h"

#include "cli/model/model.h"
#include "cli/model/process.h"

#include <stdlib.h>
#include <string.h>

static bool used_cuda(const struct model *m, uint32_t process)
{
	static const unsigned kinds[] = { ROW_api, ROW_kernel, ROW_memcpy, ROW_memset, ROW_graph };

	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		if (model_process_rows(m, kinds[k], process))
			return true;
	return false;
}

static bool same_rank(const struct process *a, const struct process *b)
{
	const char *x = process_attribute(a, "rank"), *y = process_attribute(b, "rank");

	return x && y ? strcmp(x, y) == 0 : !x && !y;
}

/* Whether an ancestor of the process is a rank with the same number: workers of a DataLoader inherit RANK from their parent. */
static bool is_worker(const struct model *m, const bool *is_rank, uint32_t process)
{
	uint32_t n, at = process;
	const struct process *all = model_processes(m, &n);

	for (uint32_t steps = 0; steps < n && at; steps++) {    /* in a damaged file, parents may form a cycle */
		at = model_process_at(m, all[at].parent);
		if (at && is_rank[at] && at != process && same_rank(&all[at], &all[process]))
			return true;
	}
	return false;
}

bool *job_rank_processes(struct model *m)
{
	uint32_t n;
	bool *is_rank, *ranges, any = false;

	model_processes(m, &n);
	is_rank = calloc(2 * (size_t)n, sizeof *is_rank);
	if (!is_rank)
		return NULL;
	ranges = is_rank + n;
	for (uint32_t p = 1; p < n; p++)
		any |= is_rank[p] = used_cuda(m, p);
	for (uint32_t p = 1; p < n && !any; p++)
		ranges[p] = model_process_rows(m, ROW_range, p) > 0;
	for (uint32_t p = 1; p < n && !any; p++)
		is_rank[p] = ranges[p] && !is_worker(m, ranges, p);
	return is_rank;
}
