/* What options of the command say to the reports that take them. */
#ifndef ANALYZE_CHOICE_H
#define ANALYZE_CHOICE_H

#include "cli/model/stacks.h"

struct model;
struct hta;
struct report;
struct tb_job;

/* All traces of the command, a rank or several each, and what the reports about jobs have made of them. */
struct jobs {
	struct model *const *models;
	size_t n;
	struct hta *kept[2];            /* hta_load.c's; the second one rounded */
	struct hta *with_last[2];       /* the same with their last step */
	struct tb_job *tb;              /* tb_load.c's */
};

void jobs_release(struct jobs *jobs);

struct report_choice {
	const char *variant;            /* the word behind the report's name; NULL: none */
	struct jobs *jobs;              /* NULL: the one trace alone */
	enum stack_view by;             /* --by: which frames */
	uint64_t group;                 /* --group-by-stack: how many of them; 0: all */
	const char *file, *function;    /* patterns; NULL: every one */
};

#endif
