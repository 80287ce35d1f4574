/* The Python source files that the stacks of a trace name, as far as they are the ones that ran. */
#ifndef CLI_RESOLVE_SOURCES_H
#define CLI_RESOLVE_SOURCES_H

#include <stddef.h>
#include <stdint.h>

struct model;

#define SOURCE_LARGEST (512u << 10)     /* of a file; what is behind is cut off */
#define SOURCES_ALL    (16u << 20)      /* of all together; the program's own come before those of packages */

/*
 * Calls put for each that the trace has not yet; flags as in source rows.  symfs: see struct resolve.  0, or -1: out of
 * memory.
 */
int sources_read(struct model *m, const char *symfs,
		 void (*put)(void *arg, const char *name, const char *text, size_t n, uint32_t flags), void *arg);

#endif
