#include "collector/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* More lines than this say nothing new, and the log must not be what fills the disk. */
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
	fd = open(where, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd < 0)
		return;
	if (write(fd, line, n) < 0) {
		/* Nothing is left to say it with. */
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
