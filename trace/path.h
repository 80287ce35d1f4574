/* The path of a file in a folder. */
#ifndef TRACE_PATH_H
#define TRACE_PATH_H

#include <errno.h>
#include <stdio.h>

/*
 * Writes "FOLDER/NAME" with its NUL to `size` bytes.  0, or -1 with errno ENAMETOOLONG: it does not fit.  out then holds its beginning,
 * for a message.
 */
__attribute__((warn_unused_result))
static inline int path_join(char *out, size_t size, const char *folder, const char *name)
{
	if ((size_t)snprintf(out, size, "%s/%s", folder, name) < size)
		return 0;
	errno = ENAMETOOLONG;
	return -1;
}

#endif
