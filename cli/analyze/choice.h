/* What options of the command say to the reports that take them. */
#ifndef ANALYZE_CHOICE_H
#define ANALYZE_CHOICE_H

#include "cli/model/stacks.h"

struct report_choice {
	enum stack_view by;             /* --by: which frames */
	uint64_t group;                 /* --group-by-stack: how many of them; 0: all */
	const char *file, *function;    /* patterns; NULL: every one */
};

#endif
