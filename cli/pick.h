/* --step and --window of the commands that read a trace: a part of it only. */
#ifndef CLI_PICK_H
#define CLI_PICK_H

#include <stdint.h>

struct model;

/* What the options fill, and their rows for a table of options. */
struct pick {
	const char *step, *window;      /* NULL: not given */
};

#define PICK_OPTIONS(pick)                                                                                      \
	{ 0, "step", "[KIND=]A[:B]", opt_text, &(pick).step,                                                    \
	  "only what was done in steps A to B, both included; A: is up to the last one, :B from the first; "    \
	  "steps are numbered as 'report -r steps' shows them", NULL, 0 },                                      \
	{ 0, "window", "N", opt_text, &(pick).window,                                                           \
	  "only what was recorded in window N, as 'report -r windows' shows them", NULL, 0 }

/* Makes the model one of that part.  0; EXIT_USAGE or EXIT_FAILED: said why. */
int pick_apply(const struct pick *p, struct model *m);

#endif
