/* The options --step, --window and --process, which select a part of a trace. */
#ifndef CLI_INPUT_SELECTION_OPTIONS_H
#define CLI_INPUT_SELECTION_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

/* The values of the options, and their rows for a table of options. */
struct selection_options {
	const char *step, *window, *process;    /* NULL: not given */
};

#define SELECTION_OPTIONS(selection)                                                                    \
	{ 0, "step", "[KIND=]A[:B]", opt_text, &(selection).step,                                       \
	  "only steps A to B, both included; A: ends at the last step, :B begins at the first; "        \
	  "'report -r steps' shows the numbers", NULL, 0 },                                             \
	{ 0, "window", "N", opt_text, &(selection).window,                                              \
	  "only recorded window N; 'report -r windows' shows the numbers", NULL, 0 },                   \
	{ 'p', "process", "N[,N]", opt_text, &(selection).process,                                      \
	  "only these processes; 'report -r processes' shows the numbers", NULL, 0 }

/* The name of an option that was given, such as "--step"; NULL: none. */
const char *selection_options_given(const struct selection_options *p);

/* Restricts the model to the selected part.  0, or EXIT_USAGE or EXIT_FAILED after an error message. */
int selection_options_apply(const struct selection_options *p, struct model *m);

/* The only selected process, as an index of model_processes(); 0: all, or several. */
uint32_t selection_options_process(const struct selection_options *p, const struct model *m);

#define SELECTION_OPTIONS_WORDS 200
/*
 * Describes the selected part: "steps 2 to 9 of kind train in window 2 of process 3"; "" if no option was given.  Call it
 * after selection_options_apply() succeeded.
 */
const char *selection_options_words(const struct selection_options *p, char *text, size_t size);

#endif
