/* cuda_sync_sum: time spent waiting for the GPU, by what was waited for. */
#include "cli/model/names.h"
#include "cli/report/parts/sums.h"
#include "cli/report/parts/why.h"

static const struct heading columns[] = {
	{ "time_pct", 0 }, { "total_ns", 0 }, { "count", 0 }, { "mean_ns", 0 }, { "median_ns", 0 }, { "min_ns", 0 }, { "max_ns", 0 },
	{ "stddev_ns", 0 }, { "operation", COLUMN_TEXT },
};

static const char *operation(struct sums *s, struct table *t, uint64_t key)
{
	const char *words = sync_words((unsigned)key);

	(void)s;
	return words ? words : table_keep(t, "type %u", (unsigned)key);
}

static int run(struct model *m, struct table *t, const char *variant)
{
	static const unsigned fields[] = { COL_sync_duration, COL_sync_start | MODEL_IF_ZERO, COL_sync_type };
	struct sums s = { .m = m };
	int rc = sums_pass(&s, ROW_sync, fields, 3, NULL);

	(void)variant;
	if (rc == 0)
		rc = sums_print_times(&s, t, operation);
	if (rc == 0 && s.groups.n)
		table_note(t, "rows of Stream Wait Event show the time of the call; the GPU waits, not the host");
	else if (rc == 0)
		why_no_gpu(m, t, "synchronisations");
	if (rc == 0 && s.groups.n)
		why_gaps(m, t);
	sums_release(&s);
	return rc;
}

const struct report report_cuda_sync_sum = {
	.name = "cuda_sync_sum",
	.share = "time_pct: share of the sum over all rows, also those not shown",
	.title = "CUDA Synchronization Summary",
	.help = "What does the program wait for the GPU for, and how long?",
	.needs = NEED_SYNC,
	.adds = { ROW_sync },
	COLUMNS(columns),
	.run = run,
};
