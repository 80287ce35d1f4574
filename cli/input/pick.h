/* The options --step, --window and --process, which select a part of a trace. */
#ifndef CLI_INPUT_PICK_H
#define CLI_INPUT_PICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

/* The values of the options, and their rows for a table of options. */
struct pick {
	const char *step, *window, *process;    /* NULL: not given */
};

#define PICK_OPTIONS(pick)                                                                                      \
	{ 0, "step", "[KIND=]A[:B]", opt_text, &(pick).step,                                                    \
	  "only steps A to B, both included; A: ends at the last step, :B begins at the first; "                \
	  "'report -r steps' shows the numbers", NULL, 0 },                                                     \
	{ 0, "window", "N", opt_text, &(pick).window,                                                           \
	  "only recorded window N; 'report -r windows' shows the numbers", NULL, 0 },                           \
	{ 'p', "process", "N[,N]", opt_text, &(pick).process,                                                   \
	  "only these processes; 'report -r processes' shows the numbers", NULL, 0 }

/* The name of an option that was given, such as "--step"; NULL: none. */
const char *pick_given(const struct pick *p);

/* Restricts the model to the selected part.  0, or EXIT_USAGE or EXIT_FAILED after an error message. */
int pick_apply(const struct pick *p, struct model *m);

/* The only selected process, as an index of model_processes(); 0: all, or several. */
uint32_t pick_process(const struct pick *p, const struct model *m);

#define PICK_WORDS 200
/*
 * Describes the selected part: "steps 2 to 9 of kind train in window 2 of process 3"; "" if no option was given.  Call it
 * after pick_apply() succeeded.
 */
const char *pick_words(const struct pick *p, char *text, size_t size);

#endif
