#include "trace/rules/libraries.h"

#include <string.h>

const struct library libraries[N_LIBRARIES] = {
#define LIBRARY(id, word, domain, soname, variables) { word, domain, soname, variables },
#include "trace/rules/libraries.def"
#undef LIBRARY
};

enum library_id library_of_domain(const char *name, size_t n)
{
	enum library_id i = 0;

	while (i < N_LIBRARIES && (strlen(libraries[i].domain) != n || memcmp(libraries[i].domain, name, n) != 0))
		i++;
	return i;
}
