#include "inject/core/roster.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inject/core/board.h"
#include "inject/core/signals_blocked.h"
#include "inject/core/seccomp.h"
#include "inject/core/self.h"
#include "inject/core/session.h"

/* snprintf() is not async-signal-safe, and this runs in a forked child of a threaded program. */
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

/* After chroot() the path may lead to a folder that others can write: do not follow links, and write only to a FIFO. */
static void write_line(const char *folder, const char *line, size_t n)
{
	struct stat st;
	char path[128];
	struct signals_blocked blocked;
	int saved = errno;
	int fd;

	if (!seccomp_allows(SECCOMP_ROSTER))
		return;
	strcpy(path, folder);
	strcat(path, "/roster");
	signals_block(&blocked);
	/* O_RDWR: if the collector ends before the write, there is no SIGPIPE. */
	fd = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) && write(fd, line, n) < 0) {
			/* The pipe is full: this process will only be missing from the list. */
		}
		close(fd);
	}
	signals_restore(&blocked);
	errno = saved;
}

static bool is_child(char how)
{
	return how == 'f' || how == 'F';
}

void roster_line(const char *folder, char how, uint32_t pid, uint32_t ppid, int64_t start, const char *name)
{
	char line[ROSTER_LINE_MAX], *p = line;

	if (board_put(how, pid, ppid, start, name)) {
		if (!is_child(how))
			write_line(folder, "\n", 1);
		return;
	}
	if (board_map() && is_child(how))
		return;
	memcpy(p, "R1 ", 3);
	p += 3;
	*p++ = how;
	*p++ = ' ';
	p = put_number(p, pid);
	p = put_number(p, ppid);
	p = put_number(p, (uint64_t)start);
	for (; name && *name && p < line + sizeof line - 1; name++)
		*p++ = *name > ' ' && *name < 0x7f ? *name : '_';
	*p++ = '\n';
	write_line(folder, line, (size_t)(p - line));
}

static void tell_number(const char *folder, char how, int64_t start, uint64_t number)
{
	char digits[24], *end = put_number(digits, number);

	end[-1] = '\0';
	roster_line(folder, how, (uint32_t)session_real_pid(), self_parent(), start, digits);
}

void roster_failed(const char *folder, int64_t start, int error)
{
	tell_number(folder, 'x', start, (uint64_t)error);
}

void roster_left(const char *folder, int64_t start, uint64_t rows)
{
	tell_number(folder, 'l', start, rows);
}
