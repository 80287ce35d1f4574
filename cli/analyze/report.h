/* A report is a file with one const struct; report.c is the table of them. */
#ifndef ANALYZE_REPORT_H
#define ANALYZE_REPORT_H

#include "cli/table.h"

struct model;
struct report_choice;           /* cli/analyze/choice.h */

struct report {
	const char *name;               /* "cuda_gpu_kern_sum" */
	const char *title;              /* above the table */
	const char *help;               /* one line for `report list` */
	bool whole;                     /* it is about the whole program: --step and --window leave it as it is */
	bool ranks;                     /* it takes several traces, one rank each */
	unsigned traces;                /* it takes so many, no more and no less; 0: any number */
	bool twin;                      /* counts as another tool does, where ours counts otherwise: `report list --all` */
	unsigned char adds[4];          /* kinds of rows (ROW_ of trace/records.h) of which it adds those of all processes */
	const char *variants;           /* words that may follow the name behind ':', separated by blanks; NULL: none */
	bool (*takes)(const char *variant);     /* of a report of ANY_VARIANT: whether it knows this one; NULL: any */
	const struct heading *columns;
	size_t n_columns;
	/* Gives t its rows and notes; variant: the word behind ':', or NULL.  0, or -1: out of memory. */
	int (*run)(struct model *m, struct table *t, const char *variant);
	/* The same, of a report that takes options; one of the two is set. */
	int (*run_chosen)(struct model *m, struct table *t, const struct report_choice *choice);
};

/* Whatever follows the name, behind ':', '.' or '_', is the report's to read; then words for what that is. */
#define ANY_VARIANT "*"

extern const struct report report_cuda_gpu_kern_sum, report_cuda_api_sum, report_cuda_gpu_mem_time_sum, report_cuda_gpu_mem_size_sum,
	report_nvtx_pushpop_sum, report_nvtx_startend_sum, report_nvtx_sum, report_lib_api_sum,
	report_nvtx_payloads, report_nvtx_resources,
	report_cuda_gpu_trace, report_cuda_graph_kern_sum, report_cuda_gpu_kern_occupancy, report_cuda_mem_usage, report_torch_memory,
	report_cuda_sync_sum, report_um_sum, report_um_total_sum, report_um_cpu_page_faults_sum,
	report_cuda_events, report_cuda_devices, report_cuda_jit,
	report_steps, report_windows, report_phases, report_critical_path_segments, report_critical_path,
	report_ops, report_ops_by_shape, report_ops_by_stack, report_modules,
	report_stacks, report_call_sites, report_range_sites, report_launch_sites, report_lines, report_cpu_sum, report_idle_stacks,
	report_ranks, report_processes, report_health, report_overhead,
	report_tb_steps, report_tb_gpu_summary,
	report_tb_operators, report_tb_operators_by_shape, report_tb_kernels, report_tb_kernels_by_operator, report_tb_distributed,
	report_tb_collectives, report_tb_memory, report_tb_memory_peaks, report_tb_recommendations;

extern const struct report *const reports[];
extern const size_t n_reports;

/* Runs the one of the two that a report has.  choice NULL: as if no option was given. */
int report_run(const struct report *r, struct model *m, struct table *t, const char *variant,
	       const struct report_choice *choice);

/* The report of this name; word behind ':' in *variant (NULL: none).  NULL: there is none, or it has no such variant. */
const struct report *report_find(const char *name, const char **variant);

#define COLUMNS(list) .columns = (list), .n_columns = sizeof(list) / sizeof *(list)

#endif
