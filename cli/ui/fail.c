#include "cli/ui/fail.h"

#include "cli/ui/screen.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096     /* longer messages are truncated */

const char *program_name(void)
{
	return program_invocation_short_name;
}

static void put_line(const char *line, size_t n)
{
	while (n > 0) {
		ssize_t done = write(STDERR_FILENO, line, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		line += done;
		n -= (size_t)done;
	}
}

static void print_line(const char *head, const char *between, const char *tail, const char *fmt, va_list args)
{
	char line[LINE_MAX_BYTES];
	size_t n = (size_t)snprintf(line, sizeof line, "%s%s", head, between);
	size_t start = n;

	n += (size_t)vsnprintf(line + n, sizeof line - n, fmt, args);
	if (tail && n < sizeof line)
		n += (size_t)snprintf(line + n, sizeof line - n, ": %s", tail);
	if (n > sizeof line - 2)
		n = sizeof line - 2;
	for (size_t i = start; i < n; i++)
		if (line[i] == '\n' || line[i] == '\t')
			line[i] = '?';
	n = start + screen_clean(line + start, n - start);
	line[n++] = '\n';
	put_line(line, n);
}

int fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_line(program_name(), ": ", NULL, fmt, args);
	va_end(args);
	return -1;
}

int fail_errno(const char *fmt, ...)
{
	int saved = errno;
	va_list args;

	va_start(args, fmt);
	print_line(program_name(), ": ", strerror(saved), fmt, args);
	va_end(args);
	errno = saved;
	return -1;
}

void note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_line(program_name(), ": ", NULL, fmt, args);
	va_end(args);
}

void hint(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_line("", "  ", NULL, fmt, args);
	va_end(args);
}
