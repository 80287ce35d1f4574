#include "cli/symbols/demangle.h"

#include <string.h>

/* Generics can make Rust names very long; longer ones are not demangled. */
#define LONGEST_RUST 4096

char *demangle(const char *name)
{
	char rust[LONGEST_RUST];

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return NULL;
	if (demangle_rust(name, rust, sizeof rust))
		return strdup(rust);
	return name[1] == 'Z' ? demangle_cpp(name) : NULL;
}
