/* cuda_gpu_kern_sum: GPU time by kernel name. */
#include "cli/model/names.h"
#include "cli/report/parts/sums.h"
#include "cli/report/parts/whole_graphs.h"
#include "cli/report/parts/why.h"

static const struct heading columns[] = {
	{ "Time (%)", 0 }, { "Total Time (ns)", 0 }, { "Instances", 0 },   { "Avg (ns)", 0 },       { "Med (ns)", 0 },
	{ "Min (ns)", 0 }, { "Max (ns)", 0 },        { "StdDev (ns)", 0 }, { "Name", COLUMN_TEXT },
};

struct naming {
	struct model *m;
	enum name_style style;
};

static uint64_t as_printed(void *at, uint64_t key)
{
	const struct naming *n = at;

	return model_name(n->m, (uint32_t)key, n->style);
}

static const char *name(struct sums *s, struct table *t, uint64_t key)
{
	(void)t;
	return model_string(s->m, (uint32_t)key);
}

int kernels_sum(struct sums *s, enum name_style style)
{
	static const unsigned fields[] = { COL_kernel_duration, COL_kernel_start | MODEL_IF_ZERO, COL_kernel_name };
	struct naming naming = { s->m, style };

	if (sums_pass(s, ROW_kernel, fields, 3, NULL) < 0)
		return -1;
	return groups_rekey(&s->groups, as_printed, &naming);
}

static int run(struct model *m, struct table *t, const char *variant)
{
	enum name_style style = !variant ? NAME_DEMANGLED : variant[0] == 'b' ? NAME_BASE : NAME_AS_IS;
	struct sums s = { .m = m };
	int rc = kernels_sum(&s, style);

	if (rc == 0)
		rc = sums_print_times(&s, t, name);
	if (rc == 0 && style != NAME_AS_IS && s.groups.n && !names_can_demangle())
		table_note(t, "C++ names are not demangled: libstdc++.so.6 was not found");
	if (rc == 0)
		rc = whole_graphs_note(m, t);
	if (rc == 0 && !s.groups.n && !model_rows(m, ROW_graph))
		why_no_gpu(m, t, "kernels");
	if (rc == 0 && s.groups.n)
		why_gaps(m, t);
	sums_release(&s);
	return rc;
}

const struct report report_cuda_gpu_kern_sum = {
	.name = "cuda_gpu_kern_sum",
	.share = "Time (%): share of the sum over all rows, also those not shown",
	.title = "CUDA GPU Kernel Summary",
	.help = "Which kernels take the GPU time? (:base short names, :mangled symbols)",
	.needs = NEED_GPU,
	.variants = "base mangled",
	.adds = { ROW_kernel },
	COLUMNS(columns),
	.run = run,
};
