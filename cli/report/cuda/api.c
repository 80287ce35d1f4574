/* cuda_api_sum: host time in CUDA calls, by function. */
#include "cli/model/names.h"
#include "cli/report/parts/sums.h"
#include "cli/report/parts/why.h"

#define NO_RETURN 1u            /* api.flags */

static const struct heading columns[] = {
	{ "Time (%)", 0 }, { "Total Time (ns)", 0 }, { "Num Calls", 0 },   { "Avg (ns)", 0 },       { "Med (ns)", 0 },
	{ "Min (ns)", 0 }, { "Max (ns)", 0 },        { "StdDev (ns)", 0 }, { "Name", COLUMN_TEXT },
};

static bool by_name(struct sums *s, const struct batch *b, size_t row, uint64_t *key)
{
	if (((const uint32_t *)b->column[3])[row] & NO_RETURN)
		s->open++;
	*key = ((const uint32_t *)b->column[2])[row];
	return true;
}

static uint64_t as_printed(void *m, uint64_t key)
{
	return model_name(m, (uint32_t)key, NAME_API_NSYS);
}

static const char *name(struct sums *s, struct table *t, uint64_t key)
{
	(void)t;
	return model_string(s->m, (uint32_t)key);
}

static int run(struct model *m, struct table *t, const char *variant)
{
	static const unsigned fields[] = { COL_api_duration, COL_api_start | MODEL_IF_ZERO, COL_api_name,
					   COL_api_flags };
	struct sums s = { .m = m };
	int rc = sums_pass(&s, ROW_api, fields, 4, by_name);

	(void)variant;
	if (rc == 0)
		rc = groups_rekey(&s.groups, as_printed, m);
	if (rc == 0)
		rc = sums_print_times(&s, t, name);
	if (rc == 0 && s.open)
		table_note(t, "calls that had not returned when their process ended: %llu; they count up to the last known time",
			   (unsigned long long)s.open);
	if (rc == 0 && !s.groups.n)
		why_no_gpu(m, t, "CUDA calls");
	sums_release(&s);
	return rc;
}

const struct report report_cuda_api_sum = {
	.name = "cuda_api_sum",
	.share = "Time (%): share of the sum over all rows, also those not shown",
	.title = "CUDA API Summary",
	.help = "Which CUDA functions take the host time?",
	.needs = NEED_CALLS,
	.adds = { ROW_api },
	COLUMNS(columns),
	.run = run,
};
