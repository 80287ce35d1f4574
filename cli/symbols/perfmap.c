#include "cli/symbols/perfmap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limit of bytes: a million functions of about 100 bytes a line.  Limit of lines: each takes another 48 bytes of memory. */
#define LARGEST    (128u << 20)
#define MOST_LINES (4u << 20)

/* Limit of ranges examined around an address, which a runtime may have reused many times. */
#define MOST_AROUND 256u

/* Any user can create files in /tmp; as perf does, accept only files of this user and of root. */
static bool believed(const struct stat *st, bool any_owner)
{
	return S_ISREG(st->st_mode) && (any_owner || st->st_uid == geteuid() || st->st_uid == 0);
}

static char *read_text(const char *path, time_t when, bool any_owner, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	char *text = NULL;
	struct stat st;
	ssize_t got;

	*n = 0;
	if (fd < 0 || fstat(fd, &st) < 0 || !believed(&st, any_owner) || st.st_mtime < when || st.st_size > LARGEST)
		goto out;
	text = malloc((size_t)st.st_size + 1);
	while (text && *n < (size_t)st.st_size && (got = read(fd, text + *n, (size_t)st.st_size - *n)) > 0)
		*n += (size_t)got;
	if (text)
		text[*n] = '\0';
out:
	if (fd >= 0)
		close(fd);
	return text;
}

static int by_start(const void *a, const void *b)
{
	const struct made *p = a, *q = b;

	return p->start != q->start ? (p->start < q->start ? -1 : 1) : p->order < q->order ? -1 : p->order > q->order;
}

/* Parses one line; the entry's name points into it. */
static void take_line(struct perfmap *m, char *line)
{
	char *rest;
	uint64_t start = strtoull(line, &rest, 16), size;

	if (rest == line || *rest != ' ')
		return;
	size = strtoull(rest, &rest, 16);
	if (*rest != ' ' || !rest[1] || !size || start + size < start)
		return;
	m->list[m->n] = (struct made){ start, start + size, rest + 1, m->n };
	m->n++;
}

void perfmap_read(struct perfmap *m, const char *path, time_t when, bool any_owner)
{
	size_t size, lines = 1;
	char *at;

	*m = (struct perfmap){ 0 };
	m->text = read_text(path, when, any_owner, &size);
	if (!m->text)
		return;
	for (size_t i = 0; i < size; i++)
		lines += m->text[i] == '\n' && lines < MOST_LINES;
	m->list = malloc(lines * sizeof *m->list);
	m->reach = malloc(lines * sizeof *m->reach);
	if (!m->list || !m->reach)
		return;
	at = m->text;
	for (char *line; m->n < lines && (line = strsep(&at, "\n"));)
		take_line(m, line);
	qsort(m->list, m->n, sizeof *m->list, by_start);
	for (size_t i = 0; i < m->n; i++)
		m->reach[i] = i && m->reach[i - 1] > m->list[i].end ? m->reach[i - 1] : m->list[i].end;
}

void perfmap_release(struct perfmap *m)
{
	free(m->list);
	free(m->reach);
	free(m->text);
	*m = (struct perfmap){ 0 };
}

const char *perfmap_at(const struct perfmap *m, uint64_t address)
{
	const struct made *best = NULL;
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->list[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	for (size_t i = low; i > 0 && low - i < MOST_AROUND && m->reach[i - 1] > address; i--)
		if (m->list[i - 1].end > address && (!best || m->list[i - 1].order > best->order))
			best = &m->list[i - 1];
	return best ? best->name : NULL;
}
