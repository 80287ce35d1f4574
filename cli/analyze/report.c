/* The table of all reports. */
#include "cli/analyze/report.h"
#include "cli/analyze/choice.h"
#include "cli/analyze/hta.h"

const struct report *const reports[] = {
	&report_steps, &report_phases, &report_temporal, &report_idle_stacks, &report_ranks,

	&report_windows, &report_critical_path, &report_critical_path_segments, &report_launch_delays,
	&report_launch_delay_sum, &report_queue_length, &report_queue_length_series, &report_queue_full,

	&report_kernel_breakdown, &report_kernel_breakdown_top10, &report_kernel_types, &report_kernel_types_no_memory,
	&report_idle, &report_idle_intervals, &report_cuda_gpu_kern_occupancy, &report_cuda_graph_kern_sum,
	&report_gpu_annotations, &report_cuda_sync_sum, &report_cuda_events,

	&report_lines, &report_stacks, &report_launch_sites, &report_call_sites, &report_range_sites, &report_cpu_sum,
	&report_cpu_annotations, &report_lib_api_sum, &report_nvtx_payloads,

	&report_ops, &report_ops_by_shape, &report_ops_by_stack, &report_modules, &report_aten_kernels,
	&report_kernel_sequences, &report_compare_traces, &report_ops_diff,

	&report_overlap,

	&report_torch_memory, &report_memory_by_category, &report_memory_bandwidth, &report_memory_bandwidth_series,
	&report_cuda_mem_usage,

	&report_processes, &report_cuda_devices, &report_cuda_jit, &report_nvtx_resources,

	&report_health, &report_overhead,

	&report_cuda_gpu_kern_sum, &report_cuda_api_sum, &report_cuda_gpu_mem_time_sum, &report_cuda_gpu_mem_size_sum,
	&report_cuda_gpu_trace, &report_nvtx_pushpop_sum, &report_nvtx_startend_sum, &report_nvtx_sum, &report_um_sum,
	&report_um_total_sum, &report_um_cpu_page_faults_sum,

	&report_tb_steps, &report_tb_gpu_summary, &report_tb_operators, &report_tb_operators_by_shape, &report_tb_kernels,
	&report_tb_kernels_by_operator, &report_tb_distributed, &report_tb_collectives, &report_tb_memory,
	&report_tb_memory_peaks, &report_tb_recommendations,

	&report_hta_temporal_breakdown, &report_hta_idle_time_breakdown, &report_hta_idle_time_interval_stats,
	&report_hta_kernel_type_breakdown, &report_hta_kernel_type_breakdown_no_memory, &report_hta_kernel_breakdown_all,
	&report_hta_kernel_breakdown_top10, &report_hta_comm_comp_overlap, &report_hta_cuda_kernel_launch_stats,
	&report_hta_cuda_kernel_launch_stats_summary, &report_hta_queue_length_summary,
	&report_hta_queue_length_time_series, &report_hta_time_blocked_on_full_queue, &report_hta_memory_bw_summary,
	&report_hta_memory_bw_time_series, &report_hta_gpu_user_annotation_breakdown,
	&report_hta_cpu_user_annotation_breakdown, &report_hta_aten_op_kernels_and_delay, &report_hta_kernel_sequences,
	&report_hta_compare_traces, &report_hta_ops_diff, &report_hta_critical_path, &report_hta_memory_by_category,
};

/* A heading of `report list`, and the first report below it in reports[]. */
static const struct {
	const char *title;
	const struct report *first;
} groups[] = {
	{ "Start here", &report_steps },
	{ "Timeline", &report_windows },
	{ "GPU", &report_kernel_breakdown },
	{ "CPU and Python", &report_lines },
	{ "PyTorch", &report_ops },
	{ "Communication", &report_overlap },
	{ "Memory", &report_torch_memory },
	{ "Program and machine", &report_processes },
	{ "Health", &report_health },
	{ "Compatibility: nsys (its names and columns)", &report_cuda_gpu_kern_sum },
	{ "Compatibility: TensorBoard (numbers of its PyTorch plugin)", &report_tb_steps },
	{ "Compatibility: HTA (Holistic Trace Analysis; its numbers)", &report_hta_temporal_breakdown },
};

const size_t n_reports = sizeof reports / sizeof *reports;

const char *report_group(size_t i)
{
	const char *title = groups[0].title;

	for (size_t r = 0; r <= i; r++)
		for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
			title = groups[g].first == reports[r] ? groups[g].title : title;
	return title;
}

static bool has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = words; p && *p; p += strcspn(p, " "), p += *p == ' ')
		if (n && strncmp(p, word, n) == 0 && (p[n] == ' ' || !p[n]))
			return true;
	return false;
}

/* Report names of the previous release, accepted for one more release.  None of these reports has variants. */
static const struct {
	const char *old, *name;
} aliases[] = {
	{ "cuda_gpu_kern_occupancy", "occupancy" }, { "cuda_mem_usage", "cuda_memory" },
};

static const char *name_today(const char *name)
{
	for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
		if (strcmp(name, aliases[i].old) == 0)
			return aliases[i].name;
	return name;
}

const struct report *report_find(const char *given, const char **variant)
{
	const char *name = name_today(given);
	size_t n = strcspn(name, ":");

	*variant = name[n] ? name + n + 1 : NULL;
	for (size_t i = 0; i < n_reports; i++)
		if (strncmp(reports[i]->name, name, n) == 0 && !reports[i]->name[n] &&
		    (!*variant || !reports[i]->variants || *reports[i]->variants != *ANY_VARIANT))
			return *variant && !has_word(reports[i]->variants, *variant) ? NULL : reports[i];
	for (size_t i = 0; i < n_reports; i++) {
		n = strlen(reports[i]->name);
		if (!reports[i]->variants || *reports[i]->variants != *ANY_VARIANT || strncmp(reports[i]->name, name, n) != 0 ||
		    !name[n] || !strchr(":._", name[n]))
			continue;
		if (reports[i]->takes && !reports[i]->takes(name + n + 1))
			continue;       /* the name of another report may start with this one */
		*variant = name + n + 1;
		return reports[i];
	}
	return NULL;
}

int report_run(const struct report *r, struct model *m, struct table *t, const char *variant,
	       const struct report_choice *choice)
{
	struct report_choice all = { 0 };
	int rc;

	if (choice)
		all = *choice;
	all.variant = variant;
	rc = r->run_chosen ? r->run_chosen(m, t, &all) : r->run(m, t, variant);
	if (rc == 0 && t->n_rows && t->tables->format == TABLE_TEXT && r->share && *r->share)
		table_note(t, "%s", r->share);
	return rc;
}
