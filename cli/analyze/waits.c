/* cuda_sync_sum: time spent waiting for the GPU, by what was waited for. */
#include "cli/analyze/sums.h"
#include "cli/analyze/why.h"
#include "cli/model/names.h"

static const struct heading columns[] = {
	{ "Time (%)", 0 }, { "Total Time (ns)", 0 }, { "Count", 0 },       { "Avg (ns)", 0 },       { "Med (ns)", 0 },
	{ "Min (ns)", 0 }, { "Max (ns)", 0 },        { "StdDev (ns)", 0 }, { "Operation", COLUMN_TEXT },
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
		table_note(t, "Stream Wait Event is a wait of the GPU, put down in the call's time; the others are waits of the host");
	else if (rc == 0)
		why_no_gpu(m, t, "synchronisations");
	if (rc == 0 && s.groups.n)
		why_gaps(m, t);
	sums_release(&s);
	return rc;
}

const struct report report_cuda_sync_sum = {
	.name = "cuda_sync_sum",
	.title = "CUDA Synchronization Summary",
	.help = "time spent waiting for the GPU, by what was waited for",
	.adds = { ROW_sync },
	COLUMNS(columns),
	.run = run,
};
