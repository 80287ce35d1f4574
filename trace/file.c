#include "trace/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "structs go to the file as they are: little endian only");
_Static_assert(sizeof(struct file_header) == 128 && sizeof(struct chunk_header) == 64 &&
	       sizeof(struct index_entry) == 72 && sizeof(struct file_footer) == 24 &&
	       sizeof(struct column) == 16, "these are the format");

/* Index entries kept in memory.  A day of eight busy processes has millions of chunks; older entries go to an unnamed temporary file. */
#define KEPT_ENTRIES 65536u

struct older {
	int fd;                         /* temporary file of entries in the format of the index; -1: none */
	uint64_t n;
	uint32_t crc;
	bool refused;                   /* the file could not be made or written: all further entries stay in memory */
};

struct writer {
	int fd;
	uint64_t session, size;
	struct packer *packer;
	struct buf chunk;               /* the chunk being made; memory reused for the next */
	struct buf index;               /* newest entries, struct index_entry[] */
	struct older older;
};

static int write_all(int fd, uint64_t at, const void *data, size_t n, struct trace_error *err)
{
	const char *p = data;

	while (n) {
		ssize_t got = pwrite(fd, p, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return trace_fail(err, at, "cannot write the trace: %s", strerror(got < 0 ? errno : EIO));
		p += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

int file_write_header(int fd, struct file_header *h, struct trace_error *err)
{
	memcpy(h->magic, FILE_MAGIC, sizeof h->magic);
	h->version = FILE_VERSION;
	h->size = sizeof *h;
	h->reserved = 0;
	h->host[sizeof h->host - 1] = '\0';
	h->crc = crc32_of(0, h, offsetof(struct file_header, crc));
	return write_all(fd, 0, h, sizeof *h, err);
}

/* Appends completely or not at all: after a failed write, e.g. disk full, the file is cut back to `at`. */
static int append(int fd, uint64_t at, const void *data, size_t n, struct trace_error *err)
{
	if (write_all(fd, at, data, n, err) == 0)
		return 0;
	if (ftruncate(fd, (off_t)at) < 0)
		trace_fail(err, at, "cannot cut the trace back: %s", strerror(errno));
	return -1;
}

/* Fills in the fields common to all chunk headers, the header's checksum last. */
static void seal(struct chunk_header *h, uint64_t session, size_t n, uint32_t body_crc)
{
	h->magic = CHUNK_MAGIC;
	h->session = session;
	h->version = 1;
	h->stored = (uint32_t)n;
	h->body_crc = body_crc;
	h->crc = crc32_of(0, h, offsetof(struct chunk_header, crc));
}

/* Appends entries with magic 0, so that a search for chunks does not find these copies of headers. */
static void put_entries(struct buf *b, const struct index_entry *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct index_entry e = entries[i];

		e.head.magic = 0;
		buf_put(b, &e, sizeof e);
	}
}

/* Copies the older entries to offset `at`, 64 KiB at a time. */
static int copy_older(int to, uint64_t at, const struct older *o, struct trace_error *err)
{
	uint64_t end = o->n * sizeof(struct index_entry);
	char piece[1 << 16];

	for (uint64_t done = 0; done < end;) {
		ssize_t n = pread(o->fd, piece, end - done < sizeof piece ? end - done : sizeof piece, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return trace_fail(err, at, "cannot read the index back: %s", strerror(n < 0 ? errno : EIO));
		if (write_all(to, at + done, piece, (size_t)n, err) < 0)
			return -1;
		done += (uint64_t)n;
	}
	return 0;
}

static int write_index(int fd, uint64_t at, uint64_t session, const struct older *o, const struct index_entry *entries,
		       size_t n, struct trace_error *err)
{
	uint64_t all = o->n + n, bytes = all * sizeof *entries;
	uint64_t newest = at + sizeof(struct chunk_header) + o->n * sizeof *entries;
	struct chunk_header head = { .kind = ROW_INDEX, .rows = (uint32_t)all, .raw = (uint32_t)bytes };
	struct file_footer foot = { .index = at, .magic = FOOTER_MAGIC, .chunks = (uint32_t)all };
	struct buf b = { 0 };
	int rc = -1;

	if (bytes > UINT32_MAX)
		return trace_fail(err, at, "cannot write the index: %llu chunks are too many", (unsigned long long)all);
	foot.crc = crc32_of(0, &foot, offsetof(struct file_footer, crc));
	put_entries(&b, entries, n);
	if (!b.oom)
		seal(&head, session, bytes, crc32_of(o->crc, b.data, b.len));
	buf_put(&b, &foot, sizeof foot);
	if (b.oom)
		trace_fail(err, at, "cannot write the index: out of memory");
	else if (write_all(fd, at, &head, sizeof head, err) == 0 && copy_older(fd, at + sizeof head, o, err) == 0)
		rc = write_all(fd, newest, b.data, b.len, err);
	buf_free(&b);
	/* Remove a partly written index. */
	if (rc < 0 && ftruncate(fd, (off_t)at) < 0)
		trace_fail(err, at, "cannot cut the trace back: %s", strerror(errno));
	return rc;
}

int file_write_index(int fd, uint64_t at, uint64_t session, const struct index_entry *entries, size_t n,
		     struct trace_error *err)
{
	return write_index(fd, at, session, &(struct older){ .fd = -1 }, entries, n, err);
}

/* Creates an unnamed temporary file in the folder of the file `beside`; -1: not possible. */
static int nameless(int beside)
{
	char link[32], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", beside);
	n = readlink(link, path, sizeof path - 1);
	if (n <= 0)
		return -1;
	path[n] = '\0';
	if (!strrchr(path, '/'))
		return -1;
	*strrchr(path, '/') = '\0';
	return open(*path ? path : "/", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/* Moves the entries in memory to the temporary file when there are KEPT_ENTRIES.  On failure they stay in memory. */
static void put_aside(struct writer *w)
{
	struct older *o = &w->older;
	size_t n = w->index.len / sizeof(struct index_entry);
	struct trace_error ignored;
	struct buf b = { 0 };

	if (n < KEPT_ENTRIES || o->refused)
		return;
	if (o->fd < 0)
		o->fd = nameless(w->fd);
	put_entries(&b, (const struct index_entry *)w->index.data, n);
	if (o->fd < 0 || b.oom || write_all(o->fd, o->n * sizeof(struct index_entry), b.data, b.len, &ignored) < 0) {
		o->refused = true;
	} else {
		o->crc = crc32_of(o->crc, b.data, b.len);
		o->n += n;
		w->index.len = 0;
	}
	buf_free(&b);
}

static struct writer *prepare(int fd, uint64_t session, struct trace_error *err)
{
	struct writer *w = calloc(1, sizeof *w);

	if (w)
		w->packer = packer_new();
	if (!w || !w->packer) {
		close(fd);
		free(w);
		trace_fail(err, 0, "cannot write the trace: out of memory");
		return NULL;
	}
	w->fd = fd;
	w->older.fd = -1;
	w->session = session;
	flock(fd, LOCK_EX | LOCK_NB);   /* tells recover that the file is being written; not all file systems have locks */
	return w;
}

struct writer *writer_new(int fd, const struct file_header *h, struct trace_error *err)
{
	struct file_header head = *h;
	struct writer *w = prepare(fd, h->session, err);

	if (w && file_write_header(fd, &head, err) < 0) {
		writer_abandon(w);
		return NULL;
	}
	if (w)
		w->size = sizeof head;
	return w;
}

struct writer *writer_continue(int fd, uint64_t session, uint64_t at, const struct index_entry *entries, size_t n,
			       struct trace_error *err)
{
	struct writer *w = prepare(fd, session, err);

	if (!w)
		return NULL;
	buf_put(&w->index, entries, n * sizeof *entries);
	if (w->index.oom)
		trace_fail(err, at, "cannot write the trace: out of memory");
	else if (ftruncate(fd, (off_t)at) < 0)
		trace_fail(err, at, "cannot write the trace: %s", strerror(errno));
	else
		w->size = at;
	if (w->size)
		return w;
	writer_abandon(w);
	return NULL;
}

void chunk_times(struct chunk_header *h, const struct record *r, const void *rows, size_t n)
{
	const struct field *f = r->fields, *end = f + r->n_fields;
	const char *row = rows;
	int64_t first = INT64_MAX, last = INT64_MIN;

	while (f < end && f->unit != UNIT_TIME && f->unit != UNIT_GTIME)
		f++;
	if (f == end)
		return;
	for (size_t i = 0; i < n; i++, row += r->size) {
		int64_t t;

		memcpy(&t, row + f->offset, sizeof t);
		if (t && t < first)
			first = t;
		if (t && t > last)
			last = t;
	}
	if (first <= last) {
		h->first = first;
		h->last = last;
	}
}

/* Writes the chunk in w->chunk, whose body begins behind room for the header. */
static int put_chunk(struct writer *w, struct chunk_header *head, struct trace_error *err)
{
	static const char zeros[8];
	struct index_entry entry;
	struct buf *b = &w->chunk;
	size_t n = b->len - sizeof *head;

	/* Reserve the index entry now, so that nothing can fail after the write. */
	buf_put(b, zeros, -b->len & 7);
	if (b->oom || !buf_room(&w->index, sizeof entry)) {
		w->index.oom = false;
		return trace_fail(err, w->size, "cannot write the trace: out of memory");
	}
	seal(head, w->session, n, crc32_of(0, b->data + sizeof *head, n));
	memcpy(b->data, head, sizeof *head);
	if (append(w->fd, w->size, b->data, b->len, err) < 0)
		return -1;
	entry.offset = w->size;
	entry.head = *head;
	buf_put(&w->index, &entry, sizeof entry);
	w->size += b->len;
	put_aside(w);
	return 0;
}

int writer_rows(struct writer *w, uint32_t process, unsigned clock, const struct record *r, const void *rows, size_t n,
		const uint8_t *tails, size_t tail_bytes, struct trace_error *err)
{
	struct chunk_header head = { .kind = r->id, .clock = (uint8_t)clock, .process = process, .rows = (uint32_t)n };
	struct buf *b = &w->chunk;
	int columns;

	if (!n)
		return 0;
	if (n > CHUNK_RAW_MAX / r->size || tail_bytes > CHUNK_RAW_MAX - n * r->size)
		return trace_fail(err, w->size, "cannot write %zu %s rows in one chunk: they are over %u MiB", n,
				  r->name, CHUNK_RAW_MAX >> 20);
	b->len = 0;
	b->oom = false;
	buf_put(b, &head, sizeof head);
	columns = columns_encode(w->packer, b, r, rows, n, tails, tail_bytes);
	if (columns < 0)
		return trace_fail(err, w->size, "cannot write the trace: out of memory");
	head.columns = (uint32_t)columns;
	head.raw = (uint32_t)(n * r->size + tail_bytes);
	chunk_times(&head, r, rows, n);
	return put_chunk(w, &head, err);
}

int writer_packed(struct writer *w, uint32_t process, unsigned clock, const struct record *r, size_t n, unsigned columns,
		  const uint8_t *body, size_t size, struct trace_error *err)
{
	struct chunk_header head = { .kind = r->id, .clock = (uint8_t)clock, .process = process, .rows = (uint32_t)n,
				     .columns = columns, .raw = (uint32_t)(n * r->size) };

	w->chunk.len = 0;
	w->chunk.oom = false;
	buf_put(&w->chunk, &head, sizeof head);
	buf_put(&w->chunk, body, size);
	return put_chunk(w, &head, err);
}

uint64_t writer_size(const struct writer *w)
{
	return w->size;
}

int writer_finish(struct writer *w, struct trace_error *err)
{
	size_t n = w->index.len / sizeof(struct index_entry);
	int rc = write_index(w->fd, w->size, w->session, &w->older, (const struct index_entry *)w->index.data, n, err);

	flock(w->fd, LOCK_UN);          /* explicitly: a duplicate of the descriptor would keep the lock after close() */
	if (close(w->fd) < 0 && rc == 0)
		rc = trace_fail(err, w->size, "cannot write the trace: %s", strerror(errno));
	w->fd = -1;
	writer_abandon(w);
	return rc;
}

void writer_abandon(struct writer *w)
{
	if (w->fd >= 0) {
		flock(w->fd, LOCK_UN);
		close(w->fd);
	}
	packer_free(w->packer);
	buf_free(&w->chunk);
	buf_free(&w->index);
	if (w->older.fd >= 0)
		close(w->older.fd);
	free(w);
}
