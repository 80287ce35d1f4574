/* nvtx_pushpop_sum: time in NVTX push/pop ranges, by domain and message. */
#include "cli/analyze/sums.h"
#include "cli/model/process.h"

static const struct heading columns[] = {
	{ "Time (%)", 0 }, { "Total Time (ns)", 0 }, { "Instances", 0 },   { "Avg (ns)", 0 },        { "Med (ns)", 0 },
	{ "Min (ns)", 0 }, { "Max (ns)", 0 },        { "StdDev (ns)", 0 }, { "Range", COLUMN_TEXT },
};

static bool by_domain_and_name(struct sums *s, const struct batch *b, size_t row, uint64_t *key)
{
	const uint32_t *name = b->column[2], *domain = b->column[3], *flags = b->column[4];

	if (flags[row] & RANGE_STARTEND)
		return false;
	if (flags[row] & RANGE_INCOMPLETE)
		s->open++;
	*key = (uint64_t)model_domain(s->m, b->process, domain[row]) << 32 | name[row];
	return true;
}

/* nsys writes domain:message, and nothing before the colon for the default domain. */
static const char *name(struct sums *s, struct table *t, uint64_t key)
{
	return table_keep(t, "%s:%s", model_string(s->m, (uint32_t)(key >> 32)), model_string(s->m, (uint32_t)key));
}

static void why_none(struct model *m, struct table *t)
{
	const char *recorded = model_attribute(m, "setting.trace_nvtx");

	if (recorded && strcmp(recorded, "0") == 0)
		table_note(t, "NVTX was not recorded: -t left it out");
	else if (model_rows(m, ROW_range))
		table_note(t, "there are start/end ranges, but no push/pop ranges");
	else
		table_note(t,
			   "no NVTX ranges: the program pushed none (see report -r health for what was not recorded)");
}

int ranges_sum(struct sums *s)
{
	static const unsigned fields[] = {
		COL_range_duration, COL_range_start | MODEL_IF_ZERO, COL_range_name, COL_range_domain, COL_range_flags,
	};

	model_domain(s->m, 0, 1);       /* so that the pass finds the definitions read */
	return sums_pass(s, ROW_range, fields, 5, by_domain_and_name);
}

static int run(struct model *m, struct table *t, const char *variant)
{
	struct sums s = { .m = m };
	int rc = ranges_sum(&s);

	(void)variant;
	if (rc == 0)
		rc = sums_print_times(&s, t, name);
	if (rc == 0 && s.open)
		table_note(t, "still open when their process ended: %llu; they count to the last time known",
			   (unsigned long long)s.open);
	if (rc == 0 && !s.groups.n)
		why_none(m, t);
	sums_release(&s);
	return rc;
}

const struct report report_nvtx_pushpop_sum = {
	.name = "nvtx_pushpop_sum",
	.title = "NVTX Push/Pop Range Summary",
	.help = "host time in NVTX push/pop ranges, by message",
	COLUMNS(columns),
	.run = run,
};
