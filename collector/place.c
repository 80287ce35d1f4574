#include "collector/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/path.h"

#define SUFFIX ".gtrace"
#define MAX_NAMES 10000         /* NAME.9999.gtrace is the last name that is tried */

/* Returns the length of path without its suffix. */
static int stem(const char *path)
{
	size_t n = strlen(path), s = strlen(SUFFIX);

	return (int)(n > s && strcmp(path + n - s, SUFFIX) == 0 ? n - s : n);
}

/* O_RDWR: a trace whose name was removed is copied from its descriptor. */
static int create(const char *path)
{
	return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
}

/* Creates a new file under an old name: another session may still be writing the old file. */
static int replace(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0 || S_ISDIR(st.st_mode) || unlink(path) < 0)
		return -1;
	return create(path);
}

int place_create(const char *path, bool overwrite, char *used, size_t size)
{
	int fd = create(path);

	snprintf(used, size, "%s", path);
	if (fd < 0 && errno == EEXIST && overwrite) {
		fd = replace(path);
		if (fd < 0)
			errno = EEXIST;
	}
	for (int i = 2; fd < 0 && errno == EEXIST && i < MAX_NAMES; i++) {
		if (snprintf(used, size, "%.*s.%d%s", stem(path), path, i, SUFFIX) >= (int)size) {
			errno = ENAMETOOLONG;
			break;
		}
		fd = create(used);
	}
	return fd;
}

int place_create_elsewhere(const char *path, char *used, size_t size)
{
	const char *dirs[] = { getenv("TMPDIR"), "/tmp" };
	const char *slash = strrchr(path, '/');
	char wanted[4096];
	int fd = -1;

	for (size_t i = 0; i < sizeof dirs / sizeof *dirs && fd < 0; i++) {
		if (!dirs[i] || dirs[i][0] != '/')
			continue;
		if (path_join(wanted, sizeof wanted, dirs[i], slash ? slash + 1 : path) == 0)
			fd = place_create(wanted, false, used, size);
	}
	return fd;
}

void place_log(const char *path, char *log, size_t size)
{
	snprintf(log, size, "%.*s%s.log", stem(path), path, SUFFIX);
}
