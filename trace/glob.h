/* Names with wildcards, as a shell has them, and the "range@domain" of --nvtx-capture.  Nothing here allocates. */
#ifndef TRACE_GLOB_H
#define TRACE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Does the whole name match?  * any text, ? one byte, [a-z] [!a-z] [^a-z] one byte of (not of) a set, \x that byte itself.
 * A [ without its ] is a plain [.  Bytes count, not characters, and / is like any other.  At most pattern x name comparisons.
 */
bool glob_match(const char *pattern, size_t pattern_n, const char *name, size_t name_n);

/* Does the pattern have a wildcard, or is it just a name? */
bool glob_is_wild(const char *pattern, size_t n);

/* "range", "range@domain" or "range@*".  Borrows the text it was parsed from. */
struct glob_range {
	const char *range, *domain;     /* patterns; domain NULL: the default domain, the one without a name */
	size_t range_n, domain_n;
};

/* Cuts at the last @ that no \ stands before.  0; or -1: range or domain is empty. */
int glob_range_parse(struct glob_range *g, const char *text, size_t n);

/* domain NULL or of no bytes: the default domain.  A domain pattern of * matches it too. */
bool glob_range_match(const struct glob_range *g, const char *range, size_t range_n, const char *domain, size_t domain_n);

#endif
