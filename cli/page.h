/* The page that answers the first question: what does this trace hold, where did the time go, what was missing, what to
 * type next. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stdio.h>

#define PAGE_ASKED 1u   /* by a command of gprof-trace, rather than at the end of gprof-run */

struct pick;

/* Prints it on out, of the part that was picked (NULL: of all).  0, or an exit status: why has been said on stderr. */
int page_print(const char *trace_path, FILE *out, unsigned flags, const struct pick *pick);

#endif
