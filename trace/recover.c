/* Rebuilds header, index and footer of a file from its undamaged chunks. */
#include "trace/reader_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

/* Value of `key` in a tail "key=value", as a new string; NULL: another key. */
static char *value_of(const uint8_t *tail, size_t n, const char *key)
{
	size_t length = strlen(key);

	if (n <= length || tail[length] != '=' || memcmp(tail, key, length))
		return NULL;
	return strndup((const char *)tail + length + 1, n - length - 1);
}

/* Converts a UUID from text to 16 bytes. */
static void parse_uuid(uint8_t out[16], const char *text)
{
	unsigned digits = 0;

	memset(out, 0, 16);
	for (; *text && digits < 32; text++) {
		const char *hex = "0123456789abcdef", *at = strchr(hex, *text);

		if (*text == '-')
			continue;
		if (!at)
			break;
		out[digits / 2] |= (uint8_t)((at - hex) << (digits % 2 ? 0 : 4));
		digits++;
	}
}

static void take_attribute(struct file_header *h, const uint8_t *tail, size_t n)
{
	char *host = value_of(tail, n, "host"), *boot = value_of(tail, n, "boot_id");

	if (host)
		snprintf(h->host, sizeof h->host, "%s", host);
	if (boot)
		parse_uuid(h->boot_id, boot);
	free(host);
	free(boot);
}

/* Copies attributes of the session (process 0) from a chunk to the header. */
static void take_attributes(struct trace *t, struct chunk *c, struct file_header *h)
{
	struct attribute_row *rows = malloc(c->head.rows * sizeof *rows + 1);
	struct buf tails = { 0 };
	struct cursor at;

	if (rows && trace_rows(t, c, rows) == 0 && trace_tails(t, c, &tails) == 0 && tails.len) {
		at = (struct cursor){ tails.data, tails.data + tails.len, false };
		for (uint32_t i = 0; i < c->head.rows; i++) {
			const uint8_t *tail = cursor_bytes(&at, rows[i].bytes);

			if (tail && rows[i].process == 0)
				take_attribute(h, tail, rows[i].bytes);
		}
	}
	buf_free(&tails);
	free(rows);
}

void header_rebuild(struct trace *t, struct file_header *h)
{
	*h = (struct file_header){ .session = t->header.session };
	if (t->clock.n) {
		h->start_real = t->clock.points->real;
		h->start_mono = t->clock.points->mono;
	}
	for (struct chunk *c = t->chunks; c < t->chunks + t->n_chunks; c++)
		if (c->head.kind == ROW_attribute && c->record && !c->head.process)
			take_attributes(t, c, h);
}

/* Offset of the new index: that of an old index at the end of the file, else the end of the file. */
static uint64_t end_of_chunks(struct trace *t)
{
	uint64_t end = sizeof(struct file_header), at;
	struct chunk_header head;
	struct file_footer foot;

	if (t->n_chunks) {
		struct chunk *last = &t->chunks[t->n_chunks - 1];

		end = part_end(last->offset, &last->head);
	}
	/* Overwrite an incomplete index: it holds no rows, and left in place it would count as damage. */
	if (end < t->size && part_at(t, end, false, &head) == PART_CUT && head.kind == ROW_INDEX)
		return end;
	at = part_find(t, end, t->size, false, &head);
	if (at < t->size && head.kind == ROW_INDEX)
		return at;
	if (footer_at_end(t, &foot) && foot.index >= end && foot.index < t->size && foot.index % 8 == 0)
		return foot.index;
	return (t->size + 7) & ~(uint64_t)7;
}

/* Writes the index before the header: after a crash in between, the file can be recovered again. */
static int rewrite(struct trace *t, int fd, struct file_header *h, const struct index_entry *entries, size_t n,
		   struct trace_error *err)
{
	uint64_t at = end_of_chunks(t);

	if (ftruncate(fd, (off_t)at) < 0)
		return trace_fail(err, at, "cannot write '%s': %s", t->path, strerror(errno));
	if (file_write_index(fd, at, h->session, entries, n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (pwrite(fd, &entries[i].head, sizeof entries[i].head, (off_t)entries[i].offset) < 0)
			return trace_fail(err, entries[i].offset, "cannot write '%s': %s", t->path, strerror(errno));
	return file_write_header(fd, h, err);
}

static int open_to_write(const char *path, struct trace_error *err)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return trace_fail(err, 0, "cannot write '%s': %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		close(fd);
		return trace_fail(err, 0, "'%s' is still being written; recover it when the session has ended", path);
	}
	return fd;
}

long trace_recover(const char *path, unsigned flags, struct trace_error *err)
{
	struct trace t = TRACE_INIT;
	struct index_entry *entries = NULL;
	struct file_header h;
	long rc = -1;
	size_t n = 0;
	int fd = -1;

	if (trace_open(&t, path, flags | TRACE_ANY_HEADER, err) < 0)
		goto out;
	fd = open_to_write(path, err);
	if (fd < 0)
		goto out;
	trace_check(&t);
	entries = malloc((t.n_chunks + 1) * sizeof *entries);
	if (!entries) {
		trace_fail(err, 0, "cannot recover '%s': out of memory", path);
		goto out;
	}
	for (size_t i = 0; i < t.n_chunks; i++)
		if (!t.chunks[i].bad)
			entries[n++] = (struct index_entry){ t.chunks[i].offset, t.chunks[i].head };
	if (t.header.version)
		h = t.header;
	else
		header_rebuild(&t, &h);
	if (rewrite(&t, fd, &h, entries, n, err) < 0)
		goto out;
	rc = (long)n;
out:
	if (fd >= 0)
		close(fd);
	free(entries);
	trace_close(&t);
	return rc;
}
