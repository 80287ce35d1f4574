/* Shell wildcards for names, and the "range@domain" of --nvtx-capture.  No function allocates. */
#ifndef TRACE_RULES_GLOB_H
#define TRACE_RULES_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the whole name matches the pattern: * any text, ? one byte, [a-z] a byte of a set, [!a-z] or [^a-z] a byte outside the set,
 * \x the byte x.  A [ without ] stands for itself.  Works on bytes, not characters; / is not special.  At most pattern_n * name_n
 * comparisons.
 */
bool glob_match(const char *pattern, size_t pattern_n, const char *name, size_t name_n);

/* A parsed "range", "range@domain" or "range@*".  Points into the text it was parsed from. */
struct glob_range {
	const char *range, *domain;     /* patterns, not terminated; domain NULL: NVTX's default domain, which has no name */
	size_t range_n, domain_n;
};

/* Splits the text at its last @ without a \ before it.  Returns 0, or -1: range or domain is empty. */
int glob_range_parse(struct glob_range *g, const char *text, size_t n);

/* Whether a range of a domain matches.  domain NULL or empty: the default domain, which the domain pattern * matches too. */
bool glob_range_match(const struct glob_range *g, const char *range, size_t range_n, const char *domain, size_t domain_n);

#endif
