#include "cli/import/bytes/source.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/import/bytes/inflate.h"
#include "trace/unzstd.h"

#define AT_ONCE     (256u << 10)        /* bytes read or decompressed between two checks of the reader's position */
#define AHEAD       (4u << 20)          /* bytes that the thread may be ahead of the reader; more would fall out of the CPU caches */
#define PIECE       (2u << 20)          /* bytes of memory that are moved or freed together: a huge page */
#define SPARE       2u                  /* released pieces that are kept, to be moved by back() */
#define LET_GO      (8u << 20)          /* bytes of a mapped file that are released together */
#define TELL        (512u << 10)        /* bytes after which source_release() tells the thread */
#define HISTORY     (64u << 10)         /* bytes kept before the last one decompressed: deflate needs 32 KiB */
#define MOST_MADE   (1u << 20)          /* more bytes than are produced between two calls of filled_to() */
/* A small file is read at once, because starting a thread takes longer. */
#define SMALL       (1u << 20)          /* its most bytes, plain ... */
#define SMALL_TOO   (256u << 10)         /* ... compressed ... */
#define MOST_MADE_AT_ONCE (8u << 20)    /* ... and, by its own header or trailer, decompressed */
#define SPILL       1024u               /* bytes after a small file: decompressors need room to find the end, and write beyond it */
#define DEFLATE_MAX 1040u               /* one byte of deflate expands to at most 1032 */
#define ZSTD_ROOM   ((size_t)1 << 38)   /* bytes; zstd has no such limit */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

struct source {
	uint8_t *base, *addresses;      /* base: the first multiple of PIECE in the reserved addresses */
	uint8_t *heap;                  /* a small file: base is this, and there is no thread */
	size_t reserved, filled;        /* bytes of address space; bytes available */
	size_t backed, gone;            /* offsets: memory was provided before `backed` and released before `gone` */
	bool ended, stop, piped;
	bool mapped;                    /* the file is mapped at base */
	bool waiting, blocked;          /* the reader waits for more than `wanted` bytes; the thread waits for the reader */
	size_t wanted, used;            /* see waiting; bytes before `used` are released */
	size_t told;                    /* last value of `used`; only the reader uses it */
	const char *trouble;            /* see source_trouble() */
	char text[80];
	int fd;
	uint64_t size;                  /* of the file */
	const uint8_t *packed;          /* the compressed file, mapped; NULL: it is plain */
	pthread_t thread;
	bool threaded;
	pthread_mutex_t lock;
	pthread_cond_t more, less;
};

const uint8_t *source_base(const struct source *s)
{
	return s->base;
}

const char *source_trouble(struct source *s)
{
	const char *trouble;

	pthread_mutex_lock(&s->lock);
	trouble = s->trouble;
	pthread_mutex_unlock(&s->lock);
	return trouble;
}

uint64_t source_file_bytes(const struct source *s)
{
	return s->size;
}

/* ---- the thread's side ---- */

/*
 * Provides memory up to the next call by moving pieces that the reader released.  New pages would be slower: the kernel
 * clears them first, which takes longer than decompression.  An old kernel without MREMAP_DONTUNMAP uses new pages.  Frees
 * all other released pieces but SPARE.
 */
static void back(struct source *s, size_t done, size_t used)
{
	size_t free_to = done > HISTORY ? done - HISTORY : 0;

	if (used < free_to)
		free_to = used;
	for (; s->backed < done + MOST_MADE && s->backed + PIECE <= s->reserved; s->backed += PIECE) {
		if (s->gone + PIECE <= free_to && mremap(s->base + s->gone, PIECE, PIECE, MREMAP_MAYMOVE | MREMAP_FIXED |
							 MREMAP_DONTUNMAP, s->base + s->backed) != MAP_FAILED)
			s->gone += PIECE;
	}
	for (; s->gone + (SPARE + 1) * PIECE <= free_to; s->gone += PIECE)
		madvise(s->base + s->gone, PIECE, MADV_DONTNEED);
}

/* Frees the pages of a mapped file that the reader released. */
static void let_go(struct source *s, size_t used)
{
	for (; s->gone + LET_GO <= used; s->gone += LET_GO)
		madvise(s->base + s->gone, LET_GO, MADV_DONTNEED);
}

/* Publishes that `done` bytes are available; waits while the reader is more than AHEAD behind.  0, or -1: stop reading. */
static int filled_to(void *arg, size_t done)
{
	struct source *s = arg;
	size_t used;
	bool stop;

	if (s->heap) {
		s->filled = done;
		return 0;
	}
	pthread_mutex_lock(&s->lock);
	s->filled = done;
	if (s->waiting && done > s->wanted)
		pthread_cond_signal(&s->more);
	while (!s->stop && s->filled > s->used + AHEAD && !(s->waiting && s->filled <= s->wanted)) {
		s->blocked = true;
		pthread_cond_wait(&s->less, &s->lock);
	}
	s->blocked = false;
	stop = s->stop;
	used = s->used;
	pthread_mutex_unlock(&s->lock);
	if (s->mapped)
		let_go(s, used);
	else
		back(s, done, used);
	return stop ? -1 : 0;
}

/* Only populates the page tables, which is faster than copying.  Before Linux 5.14 the reader takes the page faults itself. */
static const char *read_mapped(struct source *s)
{
	size_t size = (size_t)s->size, at = 0;

	do {
		size_t n = size - at < AT_ONCE ? size - at : AT_ONCE;

		madvise(s->base + at, n, MADV_POPULATE_READ);
		at += n;
	} while (filled_to(s, at) == 0 && at < size);
	return NULL;
}

static const char too_large[] = "it is larger than the address space";

static const char *read_plain(struct source *s)
{
	size_t at = s->filled;

	for (;;) {
		size_t room = s->reserved - SOURCE_SLACK - at;
		ssize_t n = room ? read(s->fd, s->base + at, room < AT_ONCE ? room : AT_ONCE) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			const char *why = strerror(errno);

			strncpy(s->text, why, sizeof s->text - 1);
			return s->text;
		}
		if (!n)
			return room ? NULL : too_large;
		at += (size_t)n;
		if (filled_to(s, at) < 0)
			return NULL;
	}
}

static const char *read_gzip(struct source *s)
{
	struct inflate_out out = { s->base, s->base + s->reserved - SOURCE_SLACK, 0, filled_to, s };

	switch (inflate_gzip(s->packed, (size_t)s->size, &out)) {
	case INFLATE_CUT:      return "the compressed data ends too early";
	case INFLATE_BAD:      return "the compressed data is damaged";
	case INFLATE_CHECKSUM: return "the compressed data has a wrong checksum";
	case INFLATE_FULL:     return too_large;
	case INFLATE_MEMORY:   return "out of memory";
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

		rc = unzstd_next(z, s->base + at, room < AT_ONCE ? room : AT_ONCE, &got);
		at += got;
		if (rc == UNZSTD_MORE && !got)
			trouble = too_large;
	} while (filled_to(s, at) == 0 && rc == UNZSTD_MORE && !trouble);
	unzstd_free(z);
	return rc == UNZSTD_BAD ? "the compressed data is damaged" : rc == UNZSTD_CUT ? "the compressed data ends too early" : trouble;
}

static void *fill(void *arg)
{
	struct source *s = arg;
	const char *trouble;

	if (!s->packed)
		trouble = s->mapped ? read_mapped(s) : read_plain(s);
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
	if (before < s->told + TELL)
		return;
	s->told = before;
	pthread_mutex_lock(&s->lock);
	s->used = before;
	if (s->blocked && s->filled <= before + AHEAD / 2)
		pthread_cond_signal(&s->less);
	pthread_mutex_unlock(&s->lock);
}

static int reserve(struct source *s, const char *path, enum packing packing, struct trace_error *err)
{
	size_t size = (size_t)s->size, huge = (size_t)1 << 45;

	if (s->piped || packing == ZSTD)
		s->reserved = ZSTD_ROOM;
	else if (packing == GZIP)
		s->reserved = size < huge / DEFLATE_MAX ? size * DEFLATE_MAX : huge;
	else
		s->reserved = size < huge ? size : huge;
	s->reserved = (s->reserved + (64u << 20)) & ~((size_t)PIECE - 1);
	s->addresses = mmap(NULL, s->reserved + PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->addresses == MAP_FAILED) {
		s->addresses = NULL;
		return trace_fail(err, 0, "cannot read '%s': cannot reserve %zu GiB of address space (%s); check ulimit -v", path,
				  s->reserved >> 30, strerror(errno));
	}
	s->base = (uint8_t *)(((uintptr_t)s->addresses + PIECE - 1) & ~((uintptr_t)PIECE - 1));
	if (packing == PLAIN && !s->piped)
		s->mapped = mmap(s->base, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, s->fd, 0) != MAP_FAILED;
	if (s->mapped)
		return 0;
	madvise(s->base, s->reserved, MADV_HUGEPAGE);
	back(s, 0, 0);
	return 0;
}

/* Size of a small file after decompression, as the file itself says; 0: not small. */
static size_t small_size(const struct source *s, enum packing packing)
{
	uint32_t last = 0;
	uint64_t size;

	if (s->piped || s->size > (packing == PLAIN ? SMALL : SMALL_TOO))
		return 0;
	if (packing == GZIP && s->size > sizeof last)
		memcpy(&last, s->packed + s->size - sizeof last, sizeof last);  /* ISIZE: size of the last member */
	size = packing == PLAIN ? s->size : packing == GZIP ? last : unzstd_size(s->packed, (size_t)s->size);
	return size <= MOST_MADE_AT_ONCE ? (size_t)size : 0;
}

/* Reads a small file; its first n bytes, `head`, were read before.  False: it is larger than it says, or out of memory. */
static bool read_at_once(struct source *s, size_t size, const uint8_t *head, size_t n)
{
	s->reserved = size + SPILL;
	s->base = s->heap = malloc(s->reserved);
	if (s->heap) {
		memcpy(s->base, head, n);
		s->filled = s->packed ? 0 : n;
		fill(s);
	}
	if (s->ended && s->trouble != too_large)
		return true;
	free(s->heap);
	s->heap = s->base = NULL;
	s->trouble = NULL;
	s->filled = 0;
	if (!s->packed)
		lseek(s->fd, (off_t)n, SEEK_SET);
	return s->ended = false;
}

static int prepare(struct source *s, const char *path, struct trace_error *err)
{
	struct stat st;
	uint8_t head[4];
	size_t n = 0, size;
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
	packing = source_packing(head, n);
	s->piped = !S_ISREG(st.st_mode);
	s->size = s->piped ? 0 : (uint64_t)st.st_size;
	if (packing != PLAIN && s->piped)
		return trace_fail(err, 0, "cannot read '%s': compressed data cannot come from a pipe; decompress it with 'gzip -dc' or "
				  "'zstd -dc', or use a file", path);
	if (packing != PLAIN) {
		s->packed = mmap(NULL, (size_t)s->size, PROT_READ, MAP_PRIVATE, s->fd, 0);
		if (s->packed == MAP_FAILED) {
			s->packed = NULL;
			return trace_fail(err, 0, "cannot read '%s': %s", path, strerror(errno));
		}
	}
	size = small_size(s, packing);
	if (size && read_at_once(s, size, head, n))
		return 0;
	if (reserve(s, path, packing, err) < 0)
		return -1;
	if (packing == PLAIN && !s->mapped) {
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
		s->threaded = !s->heap && pthread_create(&s->thread, NULL, fill, s) == 0;
		if (s->threaded || s->heap)
			return s;
		trace_fail(err, 0, "cannot read '%s': cannot start a thread; check ulimit -u", path);
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
	if (s->addresses)
		munmap(s->addresses, s->reserved + PIECE);
	free(s->heap);
	if (s->packed)
		munmap((void *)s->packed, (size_t)s->size);
	if (s->fd >= 0)
		close(s->fd);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->more);
	pthread_cond_destroy(&s->less);
	free(s);
}
