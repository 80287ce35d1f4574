/* CUDA libraries that can annotate their calls with NVTX: the words of -t, and the variables that enable it. */
#include "cli/run/run.h"
#include "trace/rules/libraries.h"

#include <stdlib.h>
#include <string.h>

uint64_t libraries_of_word(const char *word)
{
	for (size_t i = 0; i < N_LIBRARIES; i++) {
		size_t n = strlen(libraries[i].word);

		if (strncmp(word, libraries[i].word, n) == 0 && (!word[n] || strcmp(word + n, "-verbose") == 0))
			return 1ull << i;
	}
	return 0;
}

/* Sets the variables of a list "NAME=1 NAME=1" that are not set.  0, or -1 (out of memory). */
static int set_unset(struct env *e, const char *list)
{
	char *copy = strdup(list), *rest = copy, *word;
	int rc = copy ? 0 : -1;

	while (rc == 0 && (word = strsep(&rest, " "))) {
		char *value = strchr(word, '=');

		*value = '\0';
		if (!env_get(e, word))
			rc = env_set(e, word, value + 1);
	}
	free(copy);
	return rc;
}

int env_switch_libraries_on(struct env *e, uint64_t bits)
{
	for (size_t i = 0; i < N_LIBRARIES; i++)
		if (bits >> i & 1 && set_unset(e, libraries[i].variables) < 0)
			return -1;
	return 0;
}
