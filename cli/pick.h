/* --step, --window and --process of the commands that read a trace: a part of it only. */
#ifndef CLI_PICK_H
#define CLI_PICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

/* What the options fill, and their rows for a table of options. */
struct pick {
	const char *step, *window, *process;    /* NULL: not given */
};

#define PICK_OPTIONS(pick)                                                                                      \
	{ 0, "step", "[KIND=]A[:B]", opt_text, &(pick).step,                                                    \
	  "only what was done in steps A to B, both included; A: is up to the last one, :B from the first; "    \
	  "steps are numbered as 'report -r steps' shows them", NULL, 0 },                                      \
	{ 0, "window", "N", opt_text, &(pick).window,                                                           \
	  "only what was recorded in window N, as 'report -r windows' shows them", NULL, 0 },                   \
	{ 'p', "process", "N[,N]", opt_text, &(pick).process,                                                   \
	  "only the processes with these numbers, as 'report -r processes' shows them", NULL, 0 }

/* The first of the options that was given, "--step"; NULL: none. */
const char *pick_given(const struct pick *p);

/* Makes the model one of that part.  0; EXIT_USAGE or EXIT_FAILED: said why. */
int pick_apply(const struct pick *p, struct model *m);

/* The one process that was picked: its position in model_processes(); 0: all, or several. */
uint32_t pick_process(const struct pick *p, const struct model *m);

#define PICK_WORDS 200
/* "steps 2 to 9 of kind train in window 2 of process 3"; "" where no option was given.  Of options that pick_apply()
 * took. */
const char *pick_words(const struct pick *p, char *text, size_t size);

#endif
