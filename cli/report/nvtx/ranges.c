/*
 * Time in NVTX ranges, by domain and message: nvtx_pushpop_sum, nvtx_startend_sum, nvtx_sum (both styles), and lib_api_sum (the ranges
 * that CUDA libraries push around their calls).  The nvtx_ reports leave out the ranges of CUDA libraries and of PyTorch; with ":all" they
 * include them.
 */
#include "cli/model/nvtx/libraries.h"
#include "cli/model/process.h"
#include "cli/model/torch/torch.h"
#include "cli/report/parts/sums.h"
#include "cli/report/parts/why.h"

#define STARTEND_KEY (1ull << 62)       /* in keys of nvtx_sum; ids of strings stay below 2^30 */

static const struct heading columns[] = {
	{ "Time (%)", 0 }, { "Total Time (ns)", 0 }, { "Instances", 0 },   { "Avg (ns)", 0 },        { "Med (ns)", 0 },
	{ "Min (ns)", 0 }, { "Max (ns)", 0 },        { "StdDev (ns)", 0 }, { "Range", COLUMN_TEXT },
};

static const struct heading both_columns[] = {
	{ "Time (%)", 0 }, { "Total Time (ns)", 0 }, { "Instances", 0 },   { "Avg (ns)", 0 },           { "Med (ns)", 0 },
	{ "Min (ns)", 0 }, { "Max (ns)", 0 },        { "StdDev (ns)", 0 }, { "Style", COLUMN_TEXT }, { "Range", COLUMN_TEXT },
};

static const struct heading call_columns[] = {
	{ "time_pct", 0 }, { "total_ns", 0 }, { "calls", 0 }, { "mean_ns", 0 }, { "median_ns", 0 }, { "min_ns", 0 }, { "max_ns", 0 },
	{ "stddev_ns", 0 }, { "name", COLUMN_TEXT },
};

enum whose { OF_PROGRAM, OF_LIBRARIES, OF_ALL };

struct range_filter {
	bool pushpop, startend;
	enum whose whose;
	struct range_owner owner;
};

static bool of_library(const struct range_owner *o, uint32_t domain)
{
	for (size_t i = 0; i < o->n_libraries; i++)
		if (o->library[i] == domain)
			return true;
	return false;
}

void range_owner_begin(struct range_owner *o, struct model *m)
{
	o->n_libraries = model_library_domains(m, o->library);
	o->torch = model_intern(m, TORCH_DOMAIN);
}

bool range_is_programs(const struct range_owner *o, uint32_t domain)
{
	return domain != o->torch && !of_library(o, domain);
}

static bool by_domain_and_name(struct sums *s, const struct batch *b, size_t row, uint64_t *key)
{
	const uint32_t *name = b->column[2], *domain = b->column[3], *flags = b->column[4],
		       *level = b->column[5];
	const struct range_filter *f = s->filter;
	bool startend = flags[row] & RANGE_STARTEND;
	uint32_t id;

	if (!(startend ? f->startend : f->pushpop))
		return false;
	id = model_domain(s->m, b->process, domain[row]);
	if (f->whose == OF_PROGRAM && id == f->owner.torch)
		return false;
	if (f->whose != OF_ALL && of_library(&f->owner, id) != (f->whose == OF_LIBRARIES)) {
		s->others++;
		return false;
	}
	if (flags[row] & RANGE_INCOMPLETE)
		s->open++;
	if (!startend && level[row])
		s->nested++;
	*key = (uint64_t)id << 32 | name[row] | (startend && f->pushpop ? STARTEND_KEY : 0);
	return true;
}

static int sum(struct sums *s, struct range_filter *f)
{
	static const unsigned fields[] = {
		COL_range_duration, COL_range_start | MODEL_IF_ZERO, COL_range_name, COL_range_domain, COL_range_flags, COL_range_level,
	};
	int rc;

	range_owner_begin(&f->owner, s->m);
	model_domain(s->m, 0, 1);       /* reads the definitions of domains before the workers of the pass use them */
	s->filter = f;
	rc = sums_pass(s, ROW_range, fields, 6, by_domain_and_name);
	s->filter = NULL;
	return rc;
}

int ranges_sum(struct sums *s, bool startend)
{
	return sum(s, &(struct range_filter){ .pushpop = !startend, .startend = startend });
}

/* As in nsys: "domain:message", ":message" for the default domain. */
static const char *name(struct sums *s, struct table *t, uint64_t key)
{
	return table_keep(t, "%s:%s", model_string(s->m, (uint32_t)((key & ~STARTEND_KEY) >> 32)),
			  model_string(s->m, (uint32_t)key));
}

static const char *style(struct sums *s, uint64_t key)
{
	(void)s;
	return key & STARTEND_KEY ? "StartEnd" : "PushPop";
}

static const char *why_none(struct model *m, const struct range_filter *f)
{
	const char *recorded = model_attribute(m, "setting.trace_nvtx");
	char window[120];

	if (model_imported(m) && (f->whose == OF_LIBRARIES || !model_rows(m, ROW_range)))
		return f->whose == OF_LIBRARIES ? "the imported file has no calls of CUDA libraries" : "the imported file has no ranges";
	if (f->whose == OF_LIBRARIES)
		return "no calls of CUDA libraries: -t cublas,cudnn,cusparse,cusolver asks for them (see report -r health for those that "
		       "stayed silent)";
	if (recorded && strcmp(recorded, "0") == 0)
		return "NVTX was not recorded: -t left it out";
	if (!model_rows(m, ROW_range) && why_window(m, window, sizeof window))
		return "no NVTX ranges in the part of the program's time that was recorded (--delay, --duration)";
	if (!model_rows(m, ROW_range))
		return "no NVTX ranges: the program pushed none (see report -r health for what was not recorded)";
	return f->startend ? "there are push/pop ranges, but no start/end ranges"
			   : "there are start/end ranges, but no push/pop ranges";
}

static int print(struct model *m, struct table *t, struct range_filter *f)
{
	struct sums s = { .m = m };
	int rc = sum(&s, f);

	if (rc == 0)
		rc = sums_print_styles(&s, t, f->pushpop && f->startend && f->whose != OF_LIBRARIES ? style : NULL,
				       name);
	if (rc == 0 && s.open)
		table_note(t, "ranges still open when their process ended: %llu; they count up to the last known time",
			   (unsigned long long)s.open);
	if (rc == 0 && s.nested)
		table_note(t, f->whose == OF_LIBRARIES ? "time_pct: a call inside another counts in the time of both"
				      : "Time (%%), as in nsys: the time of a range within another counts in both");
	if (rc == 0 && s.others && f->whose == OF_PROGRAM)
		table_note(t, "ranges of CUDA libraries, listed in lib_api_sum (%s:all includes them here): %llu",
			   t->name, (unsigned long long)s.others);
	else if (rc == 0 && !s.groups.n)
		table_note(t, "%s", why_none(m, f));
	if (rc == 0 && f->whose == OF_PROGRAM && model_has_torch(m))
		table_note(t, "PyTorch's own ranges are in the reports phases and ops (%s:all includes them here)", t->name);
	sums_release(&s);
	return rc;
}

static int run_pushpop(struct model *m, struct table *t, const char *variant)
{
	return print(m, t, &(struct range_filter){ .pushpop = true, .whose = variant ? OF_ALL : OF_PROGRAM });
}

static int run_startend(struct model *m, struct table *t, const char *variant)
{
	return print(m, t, &(struct range_filter){ .startend = true, .whose = variant ? OF_ALL : OF_PROGRAM });
}

static int run_both(struct model *m, struct table *t, const char *variant)
{
	return print(m, t, &(struct range_filter){ .pushpop = true, .startend = true, .whose = variant ? OF_ALL : OF_PROGRAM });
}

static int run_calls(struct model *m, struct table *t, const char *variant)
{
	(void)variant;
	return print(m, t, &(struct range_filter){ .pushpop = true, .whose = OF_LIBRARIES });
}

const struct report report_nvtx_pushpop_sum = {
	.name = "nvtx_pushpop_sum",
	.share = "Time (%): share of the sum over all rows, also those not shown",
	.title = "NVTX Push/Pop Range Summary",
	.help = "Which NVTX push/pop ranges take the host time?",
	.needs = NEED_RANGES,
	.variants = "all",
	.adds = { ROW_range },
	COLUMNS(columns),
	.run = run_pushpop,
};

const struct report report_nvtx_startend_sum = {
	.name = "nvtx_startend_sum",
	.share = "Time (%): share of the sum over all rows, also those not shown",
	.title = "NVTX Start/End Range Summary",
	.help = "How long are NVTX start/end ranges?",
	.needs = NEED_RANGES,
	.variants = "all",
	.adds = { ROW_range },
	COLUMNS(columns),
	.run = run_startend,
};

const struct report report_nvtx_sum = {
	.name = "nvtx_sum",
	.share = "Time (%): share of the sum over all rows, also those not shown",
	.title = "NVTX Range Summary",
	.help = "How long are NVTX ranges of both styles?",
	.needs = NEED_RANGES,
	.variants = "all",
	.adds = { ROW_range },
	COLUMNS(both_columns),
	.run = run_both,
};

const struct report report_lib_api_sum = {
	.name = "lib_api_sum",
	.share = "time_pct: share of the sum over all rows, also those not shown",
	.title = "CUDA Library Call Summary",
	.help = "How much host time do calls of cuBLAS, cuDNN, cuSPARSE and cuSOLVER take?",
	.needs = NEED_RANGES,
	.adds = { ROW_range },
	COLUMNS(call_columns),
	.run = run_calls,
};
