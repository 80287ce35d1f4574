/* Command lines as text, quoted as for a shell. */
#ifndef CLI_UI_WORDS_H
#define CLI_UI_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Writes n words, quoted where a shell needs it: 'a b' c.  Truncated at size. */
void words_quote(char *out, size_t size, char *const *words, int n);

/*
 * Splits text in place into words: separated by blanks, quoted with ' or ", # starts a comment.  Words point into text.
 * Returns their number, at most max.
 */
int words_split(char *text, char **words, int max);

/* Position of `word` in `list`, words separated by blanks; -1: it is not there. */
int words_index(const char *list, const char *word);
bool words_have(const char *list, const char *word);

#endif
