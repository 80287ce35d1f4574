/* The table of all reports. */
#include "cli/analyze/report.h"
#include "cli/analyze/choice.h"

const struct report *const reports[] = {
	&report_cuda_gpu_kern_sum, &report_cuda_api_sum, &report_cuda_gpu_mem_time_sum, &report_cuda_gpu_mem_size_sum,
	&report_nvtx_pushpop_sum, &report_nvtx_startend_sum, &report_nvtx_sum, &report_lib_api_sum,
	&report_nvtx_payloads, &report_nvtx_resources,
	&report_cuda_gpu_trace, &report_cuda_graph_kern_sum, &report_cuda_gpu_kern_occupancy, &report_cuda_mem_usage,
	&report_cuda_sync_sum, &report_um_sum, &report_um_total_sum, &report_um_cpu_page_faults_sum,
	&report_cuda_events, &report_cuda_devices, &report_cuda_jit,
	&report_steps, &report_windows, &report_phases,
	&report_ops, &report_ops_by_shape, &report_ops_by_stack,
	&report_stacks, &report_call_sites, &report_range_sites, &report_launch_sites, &report_lines, &report_cpu_sum, &report_idle_stacks,
	&report_processes, &report_health, &report_overhead,
};

const size_t n_reports = sizeof reports / sizeof *reports;

static bool has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = words; p && *p; p += strcspn(p, " "), p += *p == ' ')
		if (n && strncmp(p, word, n) == 0 && (p[n] == ' ' || !p[n]))
			return true;
	return false;
}

const struct report *report_find(const char *name, const char **variant)
{
	size_t n = strcspn(name, ":");

	*variant = name[n] ? name + n + 1 : NULL;
	for (size_t i = 0; i < n_reports; i++)
		if (strncmp(reports[i]->name, name, n) == 0 && !reports[i]->name[n])
			return *variant && !has_word(reports[i]->variants, *variant) ? NULL : reports[i];
	return NULL;
}

int report_run(const struct report *r, struct model *m, struct table *t, const char *variant,
	       const struct report_choice *choice)
{
	static const struct report_choice none;

	return r->run_chosen ? r->run_chosen(m, t, choice ? choice : &none) : r->run(m, t, variant);
}
