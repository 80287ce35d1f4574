/* A report is one const struct report, defined in its own file; cli/report/reports.def lists them all, cli/report/all.h declares them. */
#ifndef CLI_REPORT_PARTS_REPORT_H
#define CLI_REPORT_PARTS_REPORT_H

#include "cli/ui/table.h"

struct model;
struct report_choice;           /* cli/report/parts/choice.h */

enum report_need {
	NEED_NOTHING, NEED_GPU, NEED_KERNELS, NEED_COPIES, NEED_CALLS, NEED_SYNC, NEED_EVENTS, NEED_GRAPHS, NEED_RANGES, NEED_GPU_RANGES,
	NEED_RANGE_STACKS, NEED_PAYLOADS, NEED_RESOURCES, NEED_STEPS, NEED_STACKS, NEED_SAMPLES, NEED_TORCH, NEED_OPS, NEED_MODULES, NEED_ALLOC,
	NEED_MEMORY, NEED_UNIFIED, NEED_JIT,
};

struct report {
	const char *name;               /* "cuda_gpu_kern_sum" */
	const char *title;              /* above the table */
	const char *help;               /* the question that it answers, for `report list` */
	const char *share;              /* note below the table: base of its percentages; "": its own notes name it; NULL: no percentages */
	enum report_need needs;         /* the kind of rows it reads; needs.c maps it to what the trace must have */
	bool whole;                     /* always about the whole program: --step and --window do not change it */
	bool ranks;                     /* takes several traces, one rank each */
	unsigned traces;                /* the exact number of traces it takes; 0: any number */
	bool compat;                    /* compatibility report with the numbers of another tool; listed by `report list --all` only */
	unsigned char adds[4];          /* kinds of rows (ROW_, trace/records.h) that it sums over all processes; the rest 0 */
	const char *variants;           /* words allowed after the name and ':', separated by blanks, or ANY_VARIANT; NULL: none */
	bool (*takes)(const char *variant);     /* with ANY_VARIANT: whether the report accepts this variant; NULL: it accepts all */
	const struct heading *columns;
	size_t n_columns;
	/* Adds rows and notes to t.  variant: the word after ':', or NULL.  Returns 0, or -1 when out of memory. */
	int (*run)(struct model *m, struct table *t, const char *variant);
	/* As run, for a report that takes options.  Exactly one of run and run_chosen is set. */
	int (*run_chosen)(struct model *m, struct table *t, const struct report_choice *choice);
};

/* variants == ANY_VARIANT: the report parses all that follows its name and ':', '.' or '_'. */
#define ANY_VARIANT "*"

extern const struct report *const reports[];
extern const size_t n_reports;

/* The heading of the group that reports[i] belongs to in `report list`; a static string. */
const char *report_group(size_t i);

/*
 * What the trace lacks for report r, e.g. "CUDA calls"; NULL: it has rows for r.  *option: the option of gprof-run that records the
 * missing rows, NULL: there is none.  Both are static strings.
 */
const char *report_lacks(const struct report *r, struct model *m, const char **option);

/* Definitions of the columns of r, a static string for table_define(); NULL: r has none. */
const char *report_definitions(const struct report *r);

/*
 * Calls run or run_chosen, then notes r->share below a text table that has rows.  choice NULL: no options given.  Returns 0, or -1 when
 * out of memory.
 */
int report_run(const struct report *r, struct model *m, struct table *t, const char *variant,
	       const struct report_choice *choice);

/*
 * Finds a report by its name, by "name:variant", or by a name of the last release.  *variant: the part of `name` after the report's name,
 * NULL: none.  Returns NULL for an unknown name or variant.
 */
const struct report *report_find(const char *name, const char **variant);

#define COLUMNS(list) .columns = (list), .n_columns = sizeof(list) / sizeof *(list)

#endif
