#include "collector/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Further lines would say nothing new, and the log must not fill the disk. */
#define MAX_LINES 1000

static char where[PATH_MAX];
static char newest[1024];
static unsigned lines;

void log_to(const char *path)
{
	snprintf(where, sizeof where, "%s", path);
}

const char *fail_text(void)
{
	return newest;
}

/* True for a log of this user; false for a file that the program, or another user, writes to. */
static bool is_log(int fd)
{
	char head[sizeof LOG_HEAD - 1];
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head && memcmp(head, LOG_HEAD, sizeof head) == 0;
}

/* Opens the log, or creates it; two sessions of one name append to one log.  Returns a descriptor or -1. */
static int open_log(void)
{
	const int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	int fd = open(where, flags | O_CREAT | O_EXCL, 0600);

	if (fd >= 0) {
		if (write(fd, LOG_HEAD, sizeof LOG_HEAD - 1) == (ssize_t)sizeof LOG_HEAD - 1)
			return fd;
		unlink(where);          /* the disk is full: with half a first line it would not be recognized as a log */
		close(fd);
		return -1;
	}
	fd = errno == EEXIST ? open(where, flags) : -1;
	if (fd < 0 || is_log(fd))
		return fd;
	close(fd);
	return -1;
}

static void write_line(void)
{
	char line[sizeof newest + 40];
	time_t now = time(NULL);
	struct tm tm;
	size_t n;
	int fd;

	if (!where[0] || lines++ >= MAX_LINES)
		return;
	localtime_r(&now, &tm);
	n = strftime(line, 32, "%F %T ", &tm);
	n += (size_t)snprintf(line + n, sizeof line - n, "%s\n", newest);
	fd = open_log();
	if (fd < 0)
		return;
	if (write(fd, line, n) < 0) {
		/* There is no way to report this. */
	}
	close(fd);
}

int fail(const char *fmt, ...)
{
	int saved = errno;
	va_list args;

	va_start(args, fmt);
	vsnprintf(newest, sizeof newest, fmt, args);
	va_end(args);
	write_line();
	errno = saved;
	return -1;
}
