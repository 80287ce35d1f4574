/* Opens a trace: maps the file, reads header and clock rows. */
#include "trace/reader_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/grow.h"
#include "trace/wire.h"

/* Bytes of a file without a trace header that are searched for a chunk before the file is refused. */
#define SEARCH_FOREIGN  (64u << 20)

/* Other file formats that users may pass, by their first bytes. */
static const struct {
	const char *magic;
	uint8_t length;
	const char *what;
} foreign[] = {
	{ "gtrace\n", 7, "was changed by a transfer in text mode; copy it again as binary" },
	{ "\x1f\x8b", 2, "is compressed by gzip; run gunzip on it first" },
	{ "\x28\xb5\x2f\xfd", 4, "is compressed by zstd; run unzstd on it first" },
	{ "SQLite format 3", 16, "is not a trace but an SQLite database; read it with sqlite3" },
	{ "version https://git-lfs", 23, "is a pointer of Git LFS, not the file itself; git lfs pull gets that" },
	{ "{", 1, "is not a trace but JSON; if it is Kineto's, 'gprof-trace import' makes one of it" },
	{ "[", 1, "is not a trace but JSON; if it is Kineto's, 'gprof-trace import' makes one of it" },
};

static int map_file(struct trace *t, const char *path, struct trace_error *err)
{
	struct stat st;
	void *map;

	t->path = strdup(path);
	if (!t->path)
		return trace_fail(err, 0, "cannot open '%s': out of memory", path);
	t->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  /* NONBLOCK: a named pipe is refused, not waited for */
	if (t->fd < 0 || fstat(t->fd, &st) < 0)
		return trace_fail(err, 0, "cannot open '%s': %s%s", path, strerror(errno),
				  errno == ENOENT ? "; name an existing trace" : "");
	if (!S_ISREG(st.st_mode))
		return trace_fail(err, 0, "cannot open '%s': %s", path,
				  S_ISDIR(st.st_mode) ? strerror(EISDIR) : "not a file");
	if (!st.st_size)
		return trace_fail(err, 0, "'%s' is empty; was the program that wrote it killed at its start?", path);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, t->fd, 0);
	if (map == MAP_FAILED)
		return trace_fail(err, 0, "cannot read '%s': %s", path, strerror(errno));
	t->map = map;
	t->size = (uint64_t)st.st_size;
	return 0;
}

static bool header_whole(const struct file_header *h)
{
	return memcmp(h->magic, FILE_MAGIC, sizeof h->magic) == 0 && h->version == FILE_VERSION &&
	       h->size == sizeof *h && h->crc == crc32_of(0, h, offsetof(struct file_header, crc));
}

/* Whether the file has a newer version, and not only a damaged version field (the checksum would fit FILE_VERSION then). */
static bool header_newer(const struct file_header *h)
{
	struct file_header ours = *h;

	ours.version = FILE_VERSION;
	return memcmp(h->magic, FILE_MAGIC, sizeof h->magic) == 0 && h->version > FILE_VERSION && !header_whole(&ours);
}

static const char *foreign_text(const struct trace *t)
{
	const uint8_t *p = t->map, *end = p + (t->size < 4096 ? t->size : 4096);

	if (end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
		p++;
	for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
		if ((size_t)(end - p) >= foreign[i].length && memcmp(p, foreign[i].magic, foreign[i].length) == 0)
			return foreign[i].what;
	return NULL;
}

/* The file has no whole header: says why, or (TRACE_ANY_HEADER) takes the session from its first chunk. */
static int without_header(struct trace *t, const struct file_header *h, unsigned flags, struct trace_error *err)
{
	bool ours = memcmp(h->magic, FILE_MAGIC, sizeof h->magic) == 0;
	uint64_t end = t->size, at = sizeof *h;
	const char *what = foreign_text(t);
	struct chunk_header head;

	if (header_newer(h))
		return trace_fail(err, 0, "'%s' has format %u; this program reads up to %u, use a newer one", t->path,
				  h->version, FILE_VERSION);
	if (ours && t->size < sizeof *h)
		return trace_fail(err, 0, "'%s' is %llu bytes, too short for a trace", t->path,
				  (unsigned long long)t->size);
	if (!ours && !(flags & TRACE_ANY_HEADER) && end > SEARCH_FOREIGN)
		end = SEARCH_FOREIGN;
	if (t->size >= sizeof *h)
		at = part_find(t, at, end, true, &head);
	else
		at = end;
	if (at < end && flags & TRACE_ANY_HEADER) {
		t->header.session = head.session;
		return 0;
	}
	if (at < end || (ours && !(flags & TRACE_ANY_HEADER)))
		return trace_fail(err, 0, "the header of '%s' is damaged; 'gprof-trace recover %s' rebuilds it",
				  t->path, t->path);
	if (ours)
		return trace_fail(err, 0, "nothing can be saved from '%s': it has no whole chunk", t->path);
	if (what)
		return trace_fail(err, 0, "'%s' %s", t->path, what);
	return trace_fail(err, 0, "'%s' is not a trace; gprof-run writes them, as NAME.gtrace", t->path);
}

static int read_header(struct trace *t, unsigned flags, struct trace_error *err)
{
	struct file_header h = { 0 };

	memcpy(&h, t->map, t->size < sizeof h ? t->size : sizeof h);
	if (t->size < sizeof h || !header_whole(&h))
		return without_header(t, &h, flags, err);
	h.host[sizeof h.host - 1] = '\0';
	t->header = h;
	return 0;
}

/* Reads the clock rows of process 0, unconverted, and builds t->clock from them. */
static int read_clock(struct trace *t, struct trace_error *err)
{
	struct clock_row *points = NULL;
	size_t n = 0, cap = 0;
	int rc = -1;

	for (struct chunk *c = t->chunks; c < t->chunks + t->n_chunks; c++) {
		if (c->head.kind != ROW_clock || c->head.process || !c->record || !c->head.rows)
			continue;
		if (!GROW(points, n + c->head.rows, cap))
			goto out;
		if (trace_rows(t, c, points + n) == 0)
			n += c->head.rows;
	}
	rc = clock_map_init(&t->clock, points, n);
out:
	free(points);
	return rc < 0 ? trace_fail(err, 0, "cannot read '%s': out of memory", t->path) : 0;
}

int trace_open(struct trace *t, const char *path, unsigned flags, struct trace_error *err)
{
	int rc = -1;

	*t = (struct trace)TRACE_INIT;
	if (map_file(t, path, err) < 0)
		goto out;
	if (read_header(t, flags, err) < 0)
		goto out;
	if (trace_list(t, err) < 0)
		goto out;
	if (!(flags & TRACE_ANY_SIZE) && trace_sized(t, err) < 0)
		goto out;
	if (read_clock(t, err) < 0)
		goto out;
	rc = 0;
out:
	if (rc < 0)
		trace_close(t);
	return rc;
}

void trace_close(struct trace *t)
{
	clock_map_release(&t->clock);
	free(t->damage);
	free(t->chunks);
	for (size_t i = 0; i < t->n_kept; i++)
		free(t->kept[i]);
	free(t->kept);
	if (t->map)
		munmap((void *)t->map, t->size);
	if (t->fd >= 0)
		close(t->fd);
	free(t->path);
	*t = (struct trace)TRACE_INIT;
}
