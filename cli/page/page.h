/* The summary page of a trace: what it holds, where the time went, what is missing, and which command to run next. */
#ifndef CLI_PAGE_PAGE_H
#define CLI_PAGE_PAGE_H

#include <stdio.h>

#define PAGE_ASKED 1u   /* printed by gprof-trace report; without it, at the end of gprof-run */

struct input;
struct selection_options;

/* Opens the trace (input.h) and prints its page to out; selection: the selected part, NULL: all.  0, or an exit status after an error message. */
int page_print(struct input *in, FILE *out, unsigned flags, const struct selection_options *selection);

#endif
