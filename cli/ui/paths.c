#include "cli/ui/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <stdlib.h>

int path_beside(const char *program, const char *relative, char *out, size_t size)
{
	const char *slash = strrchr(program, '/');
	int folder = slash ? (int)(slash - program) : 0;

	out[0] = '\0';
	if (!slash)
		return errno = ENOENT, -1;
	/* Resolves one leading "../"; the paths in paths.h have no more. */
	if (strncmp(relative, "../", 3) == 0) {
		relative += 3;
		while (folder > 0 && program[folder - 1] != '/')
			folder--;
		folder -= folder > 0;
	}
	if ((size_t)snprintf(out, size, "%.*s/%s", folder, program, relative) >= size)
		return errno = ENAMETOOLONG, -1;
	return access(out, F_OK);
}

/* Path of this program.  Without /proc, as in a chroot, it is the path given to execve().  0, or -1. */
static int own_path(char *out, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", out, size - 1);
	const char *told = (const char *)getauxval(AT_EXECFN);
	char *real;

	if (n > 0) {
		out[n] = '\0';
		return 0;
	}
	real = told ? realpath(told, NULL) : NULL;
	if (!real)
		return -1;
	snprintf(out, size, "%s", real);
	free(real);
	return 0;
}

int path_ours(const char *relative, char *out, size_t size)
{
	char self[PATH_MAX];

	out[0] = '\0';
	return own_path(self, sizeof self) < 0 ? -1 : path_beside(self, relative, out, size);
}
