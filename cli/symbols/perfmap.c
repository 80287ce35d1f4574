#include "cli/symbols/perfmap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A line is some 100 bytes; compilers that run for days write millions. */
#define LARGEST (512u << 20)

/* An address has been given away again and again: then the ranges around it are many. */
#define MOST_AROUND 256u

static char *read_text(const char *path, time_t when, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = NULL;
	struct stat st;
	ssize_t got;

	*n = 0;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_mtime < when || st.st_size > LARGEST)
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

/* Cuts the line in place. */
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

void perfmap_read(struct perfmap *m, const char *path, time_t when)
{
	size_t size, lines = 1;
	char *at;

	*m = (struct perfmap){ 0 };
	m->text = read_text(path, when, &size);
	if (!m->text)
		return;
	for (size_t i = 0; i < size; i++)
		lines += m->text[i] == '\n';
	m->list = malloc(lines * sizeof *m->list);
	m->reach = malloc(lines * sizeof *m->reach);
	if (!m->list || !m->reach)
		return;
	at = m->text;
	for (char *line; (line = strsep(&at, "\n"));)
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
