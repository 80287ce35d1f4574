#include "inject/roster.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "inject/calm.h"
#include "inject/session.h"

/* snprintf is not async-signal-safe, and this runs in a forked child of a threaded program. */
static char *put_number(char *p, uint64_t v)
{
	char digits[20];
	int n = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n > 0)
		*p++ = digits[--n];
	*p++ = ' ';
	return p;
}

void roster_line(const char *folder, char how, int64_t start, const char *name)
{
	char path[128], line[ROSTER_LINE_MAX], *p = line;
	struct calm calm;
	int saved = errno;
	int fd;

	strcpy(path, folder);
	strcat(path, "/roster");
	memcpy(p, "R1 ", 3);
	p += 3;
	*p++ = how;
	*p++ = ' ';
	p = put_number(p, (uint64_t)session_real_pid());
	p = put_number(p, (uint64_t)getppid());
	p = put_number(p, (uint64_t)start);
	for (; name && *name && p < line + sizeof line - 1; name++)
		*p++ = *name > ' ' && *name < 0x7f ? *name : '_';
	*p++ = '\n';

	calm_begin(&calm);
	/* For reading too: should the collector die before the write, there is no SIGPIPE. */
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		if (write(fd, line, (size_t)(p - line)) < 0) {
			/* The pipe is full: this process will be missing from the list, and nothing else. */
		}
		close(fd);
	}
	calm_end(&calm);
	errno = saved;
}

void roster_failed(const char *folder, int64_t start, int error)
{
	char digits[24], *end = put_number(digits, (uint64_t)error);

	end[-1] = '\0';
	roster_line(folder, 'x', start, digits);
}

void roster_left(const char *folder, int64_t start, uint64_t rows)
{
	char digits[24], *end = put_number(digits, rows);

	end[-1] = '\0';
	roster_line(folder, 'l', start, digits);
}
