/* The command line in the trace: the program's and gprof-run's own options, both without secrets. */
#include "cli/run/run.h"
#include "cli/ui/words.h"
#include "trace/rules/secrets.h"

#include <stdio.h>
#include <string.h>

/* Appends a word to a command line, quoted, and empties `word`. */
static void put_word(char *out, size_t size, struct buf *word)
{
	size_t at = strlen(out);

	buf_put(word, "", 1);
	if (!word->oom && at + 2 < size) {
		char *const words[] = { (char *)word->data };

		if (at)
			out[at++] = ' ';
		words_quote(out + at, size - at, words, 1);
	}
	word->len = 0;
}

static void put_command(char *out, size_t size, char *const *argv, int n)
{
	struct secret_args args = { 0 };
	struct buf word = { 0 };

	for (int i = 0; i < n; i++) {
		secrets_put_arg(&args, &word, argv[i], strlen(argv[i]));
		put_word(out, size, &word);
	}
	buf_free(&word);
}

/* The first 'e' of a word that is one short option or several, as in "-qeNAME=VALUE"; NULL: none, or another word. */
static const char *short_e(const char *option)
{
	return option[0] == '-' && option[1] != '-' ? strchr(option, 'e') : NULL;
}

/*
 * For the option -e: number of bytes up to and including the first '=', the part that is stored.  0: another option.  A value with an 'e'
 * behind a short option, as in "-oname", is taken for -e: that hides more, never less.
 */
static size_t variables_at(const char *option, const char *before)
{
	const char *e = short_e(option);
	size_t n = strncmp(option, "--env-var=", 10) == 0 ? 10 : e && e[1] ? (size_t)(e + 1 - option) : 0;

	if (n || (before && (strcmp(before, "--env-var") == 0 || (short_e(before) && before[strlen(before) - 1] == 'e'))))
		return n + strcspn(option + n, "=") + 1;
	return 0;
}

static void put_options(char *out, size_t size, char *const *argv, int n)
{
	struct secret_args args = { .begun = true };
	struct buf word = { 0 };

	for (int i = 0; i < n; i++) {
		size_t names = variables_at(argv[i], i ? argv[i - 1] : NULL), length = strlen(argv[i]);

		if (names && names < length) {
			buf_put(&word, argv[i], names);
			buf_put(&word, "...", 3);
		} else
			secrets_put_arg(&args, &word, argv[i], length);
		put_word(out, size, &word);
	}
	buf_free(&word);
}

void record_command(struct config *c, char *const *options, int n_options, char *const *command, int n_command)
{
	const char *slash = strrchr(command[0], '/');
	char *const name[] = { (char *)(slash ? slash + 1 : command[0]) };

	c->command[0] = c->options[0] = '\0';
	if (c->no_argv) {
		put_command(c->command, sizeof c->command, name, 1);
		return;
	}
	put_command(c->command, sizeof c->command, command, n_command);
	put_options(c->options, sizeof c->options, options, n_options);
}
