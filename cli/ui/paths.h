/* Paths of the project's programs and library, relative to the running program, so that an installed tree can be moved. */
#ifndef CLI_UI_PATHS_H
#define CLI_UI_PATHS_H

#include <stddef.h>

#define PATH_RUN       "gprof-run"
#define PATH_TRACE     "gprof-trace"
#define PATH_COLLECTOR "../lib/gprof/gprof-collector"
#define PATH_INJECT    "../lib/gprof/libgprof_inject.so"

/*
 * Writes the absolute path of one of the above.  0, or -1 with errno: the program's own path is unknown, the result is too
 * long, or the file does not exist (then `out` holds the path, for a message).
 */
int path_ours(const char *relative, char *out, size_t size);

/* As path_ours(), relative to the given program. */
int path_beside(const char *program, const char *relative, char *out, size_t size);

#endif
