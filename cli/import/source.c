#include "cli/import/source.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/import/inflate.h"
#include "trace/unzstd.h"

#define PIECE       (1u << 20)          /* read at once */
#define AHEAD       (64u << 20)         /* most that is unpacked before it is needed */
#define GIVE_BACK   (8u << 20)          /* at once */
#define HISTORY     (64u << 10)         /* unpacking looks back 32 KiB */
#define DEFLATE_MAX 1040u               /* a byte of deflate makes 1032 at most */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#define ZSTD_ROOM   ((size_t)1 << 38)   /* zstd has no such bound */

enum packing { PLAIN, GZIP, ZSTD };

struct source {
	uint8_t *base;
	size_t reserved, filled, released;
	bool ended, stop, piped;
	bool waiting;                   /* the reader, for more than `wanted` bytes */
	size_t wanted, used;            /* of the reader */
	const char *trouble;
	char text[80];
	int fd;
	uint64_t size;
	const uint8_t *packed;          /* the file, mapped; NULL: it is not packed */
	pthread_t thread;
	bool threaded;
	pthread_mutex_t lock;
	pthread_cond_t more, less;
};

const uint8_t *source_base(const struct source *s)
{
	return s->base;
}

const char *source_trouble(const struct source *s)
{
	return s->trouble;
}

uint64_t source_file_bytes(const struct source *s)
{
	return s->size;
}

/* ---- the thread's side ---- */

static int filled_to(void *arg, size_t done)
{
	struct source *s = arg;
	bool stop;

	pthread_mutex_lock(&s->lock);
	s->filled = done;
	if (s->waiting && done > s->wanted)
		pthread_cond_signal(&s->more);
	while (!s->stop && s->filled > s->used + AHEAD && !(s->waiting && s->filled <= s->wanted))
		pthread_cond_wait(&s->less, &s->lock);
	stop = s->stop;
	pthread_mutex_unlock(&s->lock);
	return stop ? -1 : 0;
}

/* A file that is no pipe is mapped where its bytes would be read to; here its pages are only made ready. */
static const char *read_mapped(struct source *s)
{
	size_t at = 0, size = (size_t)s->size;

	while (at < size) {
		size_t n = size - at < PIECE ? size - at : PIECE;

		madvise(s->base + at, n, MADV_POPULATE_READ);   /* from Linux 5.14 on; else the reader waits for each page */
		at += n;
		if (filled_to(s, at) < 0)
			break;
	}
	return NULL;
}

static const char *read_plain(struct source *s)
{
	size_t at = s->filled;

	for (;;) {
		size_t room = s->reserved - SOURCE_SLACK - at;
		ssize_t n = room ? read(s->fd, s->base + at, room < PIECE ? room : PIECE) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			const char *why = strerror(errno);

			strncpy(s->text, why, sizeof s->text - 1);
			return s->text;
		}
		if (!n)
			return room ? NULL : "it is larger than there are addresses for";
		at += (size_t)n;
		if (filled_to(s, at) < 0)
			return NULL;
	}
}

static const char *read_gzip(struct source *s)
{
	struct inflate_out out = { s->base, s->base + s->reserved - SOURCE_SLACK, 0, filled_to, s };

	switch (inflate_gzip(s->packed, (size_t)s->size, &out)) {
	case INFLATE_CUT:      return "the packed data end in the middle";
	case INFLATE_BAD:      return "the packed data are damaged";
	case INFLATE_CHECKSUM: return "the checksum of the packed data is wrong";
	case INFLATE_FULL:     return "it is larger than packed data can be";
	case INFLATE_OK: case INFLATE_STOPPED: break;
	}
	return NULL;
}

static const char *read_zstd(struct source *s)
{
	struct unzstd *z = unzstd_new(s->packed, (size_t)s->size);
	enum unzstd_result rc;
	const char *trouble = NULL;
	size_t at = 0, got;

	if (!z)
		return "out of memory";
	do {
		size_t room = s->reserved - SOURCE_SLACK - at;

		rc = unzstd_next(z, s->base + at, room < PIECE ? room : PIECE, &got);
		at += got;
		if (rc == UNZSTD_MORE && !got)
			trouble = "it is larger than there are addresses for";
	} while (filled_to(s, at) == 0 && rc == UNZSTD_MORE && !trouble);
	unzstd_free(z);
	return rc == UNZSTD_BAD ? "the packed data are damaged" : rc == UNZSTD_CUT ? "the packed data end in the middle" :
	       trouble;
}

static void *fill(void *arg)
{
	struct source *s = arg;
	const char *trouble;

	if (!s->packed)
		trouble = s->piped ? read_plain(s) : read_mapped(s);
	else
		trouble = s->packed[0] == 0x1f ? read_gzip(s) : read_zstd(s);
	pthread_mutex_lock(&s->lock);
	s->trouble = trouble;
	s->ended = true;
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* ---- the reader's side ---- */

size_t source_wait(struct source *s, size_t have)
{
	size_t filled;

	pthread_mutex_lock(&s->lock);
	s->wanted = have;
	s->waiting = true;
	pthread_cond_signal(&s->less);
	while (s->filled <= have && !s->ended)
		pthread_cond_wait(&s->more, &s->lock);
	s->waiting = false;
	filled = s->filled;
	pthread_mutex_unlock(&s->lock);
	return filled;
}

void source_release(struct source *s, size_t before)
{
	size_t upto;

	if (before < s->released + GIVE_BACK)
		return;
	pthread_mutex_lock(&s->lock);
	s->used = before;
	upto = s->filled > HISTORY ? s->filled - HISTORY : 0;
	pthread_cond_signal(&s->less);
	pthread_mutex_unlock(&s->lock);
	upto = (before < upto ? before : upto) & ~(size_t)(GIVE_BACK / 4 - 1);
	if (upto > s->released && madvise(s->base + s->released, upto - s->released, MADV_DONTNEED) == 0)
		s->released = upto;
}

static enum packing packing_of(const uint8_t *head, size_t n)
{
	if (n >= 3 && head[0] == 0x1f && head[1] == 0x8b)
		return GZIP;
	return n >= 4 && head[0] == 0x28 && head[1] == 0xb5 && head[2] == 0x2f && head[3] == 0xfd ? ZSTD : PLAIN;
}

static int reserve(struct source *s, const char *path, enum packing packing, bool piped, struct trace_error *err)
{
	size_t size = (size_t)s->size, huge = (size_t)1 << 45;

	if (piped)
		s->reserved = ZSTD_ROOM;
	else if (packing == GZIP)
		s->reserved = size < huge / DEFLATE_MAX ? size * DEFLATE_MAX : huge;
	else
		s->reserved = packing == ZSTD ? ZSTD_ROOM : size;
	s->reserved = (s->reserved + (64u << 20)) & ~((size_t)(2u << 20) - 1);
	s->base = mmap(NULL, s->reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->base == MAP_FAILED) {
		s->base = NULL;
		return trace_fail(err, 0, "cannot read '%s': no %zu GiB of addresses (%s); is ulimit -v set?", path,
				  s->reserved >> 30, strerror(errno));
	}
	if (packing != PLAIN || piped) {
		madvise(s->base, s->reserved, MADV_HUGEPAGE);
		return 0;
	}
	if (mmap(s->base, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, s->fd, 0) == MAP_FAILED)
		return trace_fail(err, 0, "cannot read '%s': %s", path, strerror(errno));
	return 0;
}

static int prepare(struct source *s, const char *path, struct trace_error *err)
{
	struct stat st;
	uint8_t head[4];
	size_t n = 0;
	ssize_t got;
	enum packing packing;

	if (s->fd < 0 || fstat(s->fd, &st) < 0)
		return trace_fail(err, 0, "cannot open '%s': %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return trace_fail(err, 0, "cannot read '%s': it is a folder", path);
	while (n < sizeof head && (got = read(s->fd, head + n, sizeof head - n)) != 0) {
		if (got < 0 && errno != EINTR)
			return trace_fail(err, 0, "cannot read '%s': %s", path, strerror(errno));
		n += got > 0 ? (size_t)got : 0;
	}
	if (!n)
		return trace_fail(err, 0, "'%s' is empty", path);
	packing = packing_of(head, n);
	s->piped = !S_ISREG(st.st_mode);
	s->size = s->piped ? 0 : (uint64_t)st.st_size;
	if (packing != PLAIN && s->piped)
		return trace_fail(err, 0, "cannot read '%s': packed data must be in a file, not come through a pipe", path);
	if (packing != PLAIN) {
		s->packed = mmap(NULL, (size_t)s->size, PROT_READ, MAP_PRIVATE, s->fd, 0);
		if (s->packed == MAP_FAILED) {
			s->packed = NULL;
			return trace_fail(err, 0, "cannot read '%s': %s", path, strerror(errno));
		}
	}
	if (reserve(s, path, packing, s->piped, err) < 0)
		return -1;
	if (packing == PLAIN && s->piped) {
		memcpy(s->base, head, n);
		s->filled = n;
	}
	return 0;
}

struct source *source_open(const char *path, struct trace_error *err)
{
	struct source *s = calloc(1, sizeof *s);

	if (!s) {
		trace_fail(err, 0, "out of memory");
		return NULL;
	}
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->more, NULL);
	pthread_cond_init(&s->less, NULL);
	s->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (prepare(s, path, err) == 0) {
		s->threaded = pthread_create(&s->thread, NULL, fill, s) == 0;
		if (s->threaded)
			return s;
		trace_fail(err, 0, "cannot read '%s': no thread", path);
	}
	source_close(s);
	return NULL;
}

void source_close(struct source *s)
{
	if (!s)
		return;
	if (s->threaded) {
		pthread_mutex_lock(&s->lock);
		s->stop = true;
		pthread_cond_signal(&s->less);
		pthread_mutex_unlock(&s->lock);
		pthread_join(s->thread, NULL);
	}
	if (s->base)
		munmap(s->base, s->reserved);
	if (s->packed)
		munmap((void *)s->packed, (size_t)s->size);
	if (s->fd >= 0)
		close(s->fd);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->more);
	pthread_cond_destroy(&s->less);
	free(s);
}
