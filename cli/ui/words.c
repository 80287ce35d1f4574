#include "cli/ui/words.h"

#include <stdio.h>
#include <string.h>

/* Characters that need no quotes in any shell. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";

void words_quote(char *out, size_t size, char *const *words, int n)
{
	size_t at = 0;

	out[0] = '\0';
	for (int i = 0; i < n && at < size; i++) {
		bool quotes = !words[i][0] || words[i][strspn(words[i], plain)];

		at += (size_t)snprintf(out + at, size - at, "%s%s", i ? " " : "", quotes ? "'" : words[i]);
		for (const char *p = words[i]; quotes && *p && at < size; p++)
			at += (size_t)snprintf(out + at, size - at, *p == '\'' ? "'\\''" : "%c", *p);
		if (quotes && at < size)
			at += (size_t)snprintf(out + at, size - at, "'");
	}
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Copies a word from *in to *out without its quotes, and a NUL; moves both. */
static void take_word(char **in, char **out)
{
	char quote = 0;

	for (; **in && (quote || !is_blank(**in)); ++*in) {
		if (quote ? **in == quote : **in == '\'' || **in == '"')
			quote = quote ? 0 : **in;
		else
			*(*out)++ = **in;
	}
	if (**in)
		++*in;          /* before the NUL is written, which may replace this byte */
	*(*out)++ = '\0';
}

int words_split(char *text, char **words, int max)
{
	char *in = text, *out = text;
	int n = 0;

	while (n < max) {
		while (is_blank(*in))
			in++;
		if (!*in)
			break;
		if (*in == '#') {
			in += strcspn(in, "\n");
			continue;
		}
		words[n++] = out;
		take_word(&in, &out);
	}
	return n;
}

int words_index(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (int i = 0; *list; i++) {
		size_t len = strcspn(list, " ");

		if (len == n && strncmp(list, word, n) == 0)
			return i;
		list += len + (list[len] == ' ');
	}
	return -1;
}

bool words_have(const char *list, const char *word)
{
	return words_index(list, word) >= 0;
}
