/* The options of `report` that single reports take (run_chosen in report.h). */
#ifndef CLI_REPORT_PARTS_CHOICE_H
#define CLI_REPORT_PARTS_CHOICE_H

#include "cli/model/stacks/stacks.h"

struct model;
struct hta;
struct report;
struct tb_job;

/* All traces of the command, each with one or more ranks, and what reports about jobs computed from them, kept for the next report. */
struct jobs {
	struct model *const *models;
	size_t n;
	struct hta *kept[2];            /* made by hta_load.c; [1]: with rounded times */
	struct hta *with_last[2];       /* as kept, with the last step of each rank */
	struct tb_job *tb;              /* made by tb_load.c */
};

/* Frees what the reports kept; the models stay the caller's. */
void jobs_release(struct jobs *jobs);

struct report_choice {
	const char *variant;            /* the word after the report's name; NULL: none */
	struct jobs *jobs;              /* NULL: only the trace of the model */
	enum stack_view by;             /* --by: which frames of a stack */
	uint64_t group;                 /* --group-by-stack: number of innermost frames; 0: all */
	const char *file, *function;    /* fnmatch() patterns of --file and --function; NULL: all */
};

#endif
