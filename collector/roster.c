#include "collector/roster.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "collector/pipe.h"

/* Holds 16384 lines while the collector is busy writing a chunk. */
#define PIPE_BYTES (1 << 20)

static bool take_number(const char **p, const char *end, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;
	const char *first = *p;

	for (; *p < end && **p >= '0' && **p <= '9'; (*p)++) {
		uint64_t digit = (uint64_t)(**p - '0');

		if (v > (max - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	if (*p == first || *p == end || *(*p)++ != ' ')
		return false;
	*out = v;
	return true;
}

bool roster_is_line(const struct roster_line *l)
{
	return l->how && strchr("cdfFxlsn", l->how) && l->pid && l->pid <= INT32_MAX && l->ppid <= INT32_MAX && l->start >= 0;
}

bool roster_parse(struct roster_line *l, const char *text, size_t n)
{
	const char *p = text, *end = text + n;
	uint64_t pid, ppid, start;

	if (n < 5 || n >= ROSTER_LINE_MAX || memcmp(p, "R1 ", 3) != 0 || p[4] != ' ')
		return false;
	*l = (struct roster_line){ .how = p[3] };
	p += 5;
	if (!take_number(&p, end, INT32_MAX, &pid) || !take_number(&p, end, INT32_MAX, &ppid) ||
	    !take_number(&p, end, INT64_MAX, &start))
		return false;
	l->pid = (uint32_t)pid;
	l->ppid = (uint32_t)ppid;
	l->start = (int64_t)start;
	for (size_t i = 0; p < end; p++)
		l->name[i++] = *p >= ' ' && *p != 0x7f ? *p : '?';
	return roster_is_line(l);
}

int roster_open(struct roster *r, const char *folder)
{
	r->fd = pipe_create(folder, "roster");
	if (r->fd < 0)
		return -1;
	fcntl(r->fd, F_SETPIPE_SZ, PIPE_BYTES);
	return 0;
}

void roster_close(struct roster *r)
{
	if (r->fd >= 0)
		close(r->fd);
	*r = (struct roster)ROSTER_INIT;
}

static void take_lines(struct roster *r, const char *p, const char *end,
		       void (*seen)(void *arg, const struct roster_line *l), void *arg)
{
	struct roster_line line;
	const char *nl;

	for (; (nl = memchr(p, '\n', (size_t)(end - p))); p = nl + 1) {
		if (roster_parse(&line, p, (size_t)(nl - p)))
			seen(arg, &line);
		else
			r->bad += nl > p;
	}
	r->n = (size_t)(end - p);
	if (r->n > sizeof r->rest) {
		r->bad++;
		r->n = 0;
	}
	memmove(r->rest, p, r->n);
}

bool roster_read(struct roster *r, void (*seen)(void *arg, const struct roster_line *l), void *arg)
{
	char text[sizeof r->rest + ROSTER_READ];
	size_t kept = r->n;
	ssize_t n;

	memcpy(text, r->rest, kept);
	n = read(r->fd, text + kept, ROSTER_READ);
	if (n > 0)
		take_lines(r, text, text + kept + n, seen, arg);
	return n > 0;
}
