/*
 * Options are rows of a table, from which the command line is parsed and --help, the man page and the completion are printed.
 * Grammar: -x, -xVALUE, -x=VALUE, -x VALUE, --name, --name=VALUE, --name VALUE; "--" ends the options; "-" is an operand.
 * A flag takes an optional =true or =false.
 */
#ifndef CLI_UI_OPTIONS_H
#define CLI_UI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct cmd;
struct program;

struct opt {
	char letter;            /* 0: none */
	const char *name;       /* without the dashes */
	const char *arg;        /* name of the value in help; NULL: a flag */
	/* Returns 0, OPTIONS_FAILED after an error message, or OPTIONS_DONE.  value is NULL for a flag without value. */
	int (*parse)(const struct opt *o, const char *value);
	void *where;            /* where parse stores the value */
	const char *help;
	const char *values;     /* valid values, separated by blanks, for opt_choice(), opt_position() and the completion (expanded by bash); or NULL */
	unsigned flags;         /* OPT_ bits */
};

#define OPT_WORD 1u     /* a flag whose true or false may also be the next word, as in nsys: -w true */
#define OPT_MORE 2u     /* not in --help, only in --help-all, the man page and the completion */
#define OPT_TITLE 4u    /* not an option: `help` is the heading of the rows below, in --help-all and the man page; name is "" */
#define OPT_HIDDEN 8u   /* parsed but not listed anywhere: options of nsys for other platforms */

enum options_result { OPTIONS_FAILED = -1, OPTIONS_DONE = -2 };

/*
 * Parses argv[1 ..].  Every command also has --help, --help-all and, unless a row uses the letter, -h; they print to stdout.
 * Returns the index of the first operand (argc: none).  Operands between options are moved after the options.  With
 * stop_at_first_word the first operand ends the options, because the rest is the command line of another program.
 * OPTIONS_FAILED: an error was printed, exit with EXIT_USAGE.  OPTIONS_DONE: help was printed, exit with EXIT_OK.
 */
int options_parse(const struct cmd *cmd, int argc, char **argv, bool stop_at_first_word);

/* Parsers of values, with the type of `where` in brackets. */
int opt_flag(const struct opt *o, const char *value);           /* [bool] */
int opt_int(const struct opt *o, const char *value);            /* [int] */
int opt_u64(const struct opt *o, const char *value);            /* [uint64_t] */
int opt_text(const struct opt *o, const char *value);           /* [const char *] points into argv */
int opt_choice(const struct opt *o, const char *value);         /* [const char *] one of o->values */
int opt_position(const struct opt *o, const char *value);       /* [uint64_t] position of the value in o->values */
int opt_list(const struct opt *o, const char *value);           /* [char *] repeated options are joined, "a,b,c"; free() it */
int opt_size(const struct opt *o, const char *value);           /* [uint64_t] bytes; K, M, G, T are powers of 1024 */
int opt_seconds(const struct opt *o, const char *value);        /* [uint64_t] milliseconds; value in seconds, may be a fraction */

/* 1 for "true", 0 for "false", -1 for anything else. */
int opt_bool_word(const char *word);

/* The one of n `words` that `word` is most likely a misspelling of, for "did you mean"; NULL: none is similar. */
const char *options_nearest(const char *word, const char *const *words, size_t n);

/* Prints the help of one command; all: with OPT_MORE and OPT_TITLE rows. */
void options_help(const struct cmd *cmd, FILE *out, bool all);

/* Print the man page (roff) and the bash completion of a program. */
void options_man(const struct program *p, FILE *out);
void options_completion(const struct program *p, FILE *out);

#endif
