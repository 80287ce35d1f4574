/* Command lines as text: written so that a shell reads them back, and read as a shell would. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* The words as a shell would take them: 'a b' c.  Cut at size. */
void words_quote(char *out, size_t size, char *const *words, int n);

/* Splits in place: blanks part words, quotes hold them together, # starts a comment.  The number of words, at most max. */
int words_split(char *text, char **words, int max);

/* Is `word` one of those in `list`, which are separated by blanks? */
bool words_have(const char *list, const char *word);

#endif
