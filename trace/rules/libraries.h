/* CUDA libraries that put NVTX ranges around their calls, from the table libraries.def. */
#ifndef TRACE_RULES_LIBRARIES_H
#define TRACE_RULES_LIBRARIES_H

#include <stddef.h>
#include <stdint.h>

enum library_id {
#define LIBRARY(id, word, domain, soname, variables) LIBRARY_##id,
#include "trace/rules/libraries.def"
#undef LIBRARY
	N_LIBRARIES
};

struct library {
	const char *word, *domain, *soname;
	const char *variables;          /* "NAME=level NAME=level" */
};

extern const struct library libraries[N_LIBRARIES];

/* The library whose NVTX domain has this name of n bytes; N_LIBRARIES if none has. */
enum library_id library_of_domain(const char *name, size_t n);

#endif
