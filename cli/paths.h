/* Our own files, found from where the running program lies: a tree copied elsewhere, or a build folder, works as it is. */
#ifndef CLI_PATHS_H
#define CLI_PATHS_H

#include <stddef.h>

#define PATH_RUN       "gprof-run"
#define PATH_TRACE     "gprof-trace"
#define PATH_COLLECTOR "../lib/gprof/gprof-collector"
#define PATH_INJECT    "../lib/gprof/libgprof_inject.so"

/* Absolute path of one of the above.  0; or -1 with errno: the place is unknown, the path too long, or there is no such file (then
 * `out` still holds the path, for a message). */
int path_ours(const char *relative, char *out, size_t size);

/* The same beside a given program (tests). */
int path_beside(const char *program, const char *relative, char *out, size_t size);

#endif
