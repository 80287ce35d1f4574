/*
 * Options are rows of a table; parsing, --help, the man page and completion are loops over it.
 * Grammar: -x, -xVALUE, -x VALUE, --name, --name=VALUE, --name VALUE, "--" ends the options, "-" is an operand.
 * A flag takes an optional =true or =false.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct cmd;
struct program;

struct opt {
	char letter;            /* 0: none */
	const char *name;       /* without the dashes */
	const char *arg;        /* what its value is called in help; NULL: a flag */
	int (*parse)(const struct opt *o, const char *value);   /* 0, or OPTIONS_FAILED having spoken, or OPTIONS_DONE */
	void *where;            /* what parse fills */
	const char *help;
	const char *values;     /* words that can stand as value, separated by spaces (for opt_choice and completion, where bash expands them); or NULL */
	unsigned flags;         /* OPT_ */
};

#define OPT_WORD 1u     /* this flag takes true|false also as the next word, as nsys does: -w true */
#define OPT_MORE 2u     /* not in --help: only in --help-all, man page and completion */

enum options_result { OPTIONS_FAILED = -1, OPTIONS_DONE = -2 };

/*
 * Parses argv[1 ..].  --help (and -h, where no row has it) is understood everywhere and printed on stdout.
 * Returns the index of the first operand (argc: none).  Operands between options are moved behind them, unless stop_at_first_word:
 * then the first operand ends the options, because what follows belongs to another program.
 * OPTIONS_FAILED: spoken, end with EXIT_USAGE.  OPTIONS_DONE: --help was printed, end with EXIT_OK.
 */
int options_parse(const struct cmd *cmd, int argc, char **argv, bool stop_at_first_word);

/* Values.  `where` in brackets. */
int opt_flag(const struct opt *o, const char *value);           /* [bool] */
int opt_int(const struct opt *o, const char *value);            /* [int] */
int opt_u64(const struct opt *o, const char *value);            /* [uint64_t] */
int opt_text(const struct opt *o, const char *value);           /* [const char *] borrowed from argv */
int opt_choice(const struct opt *o, const char *value);         /* [const char *] one of o->values */
int opt_list(const struct opt *o, const char *value);           /* [char *] given again, it grows: "a,b" + "c" = "a,b,c"; free() it */
int opt_size(const struct opt *o, const char *value);           /* [uint64_t] bytes; K, M, G, T are powers of 1024 */
int opt_seconds(const struct opt *o, const char *value);        /* [uint64_t] milliseconds; value in seconds, may be a fraction */

/* "true" or "false" -> 1 or 0; anything else -1. */
int opt_bool_word(const char *word);

/* The word of `words` (n of them) that `word` is most likely a misspelling of, or NULL.  Borrowed. */
const char *options_nearest(const char *word, const char *const *words, size_t n);

/* The screen of one command; all: OPT_MORE rows too. */
void options_help(const struct cmd *cmd, FILE *out, bool all);

/* The man page (roff), the bash completion. */
void options_man(const struct program *p, FILE *out);
void options_completion(const struct program *p, FILE *out);

#endif
