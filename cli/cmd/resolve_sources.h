/*
 * Reads the Python source files that the stacks of a trace name.  A trace can come from anybody and name any file.  So
 * files are read only for a trace of this machine and boot, and only files that look like Python, are not symbolic links,
 * and belong to this user or root.
 */
#ifndef CLI_CMD_RESOLVE_SOURCES_H
#define CLI_CMD_RESOLVE_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

#define SOURCE_LARGEST (512u << 10)     /* bytes of one file; the rest is cut off */
#define SOURCES_LARGEST (16u << 20)      /* bytes of all files; the program's own files come before those of packages */

/*
 * Calls put for each file that the trace does not have yet; flags as in source rows.  symfs: see struct resolve; with it,
 * machine and boot are not checked.  packages: also the standard library and packages.  0, or -1: out of memory.
 */
int sources_read(struct model *m, const char *symfs, bool packages,
		 void (*put)(void *arg, const char *name, const char *text, size_t n, uint32_t flags), void *arg);

#endif
