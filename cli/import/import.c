#include "cli/import/import.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/import/bytes/heap.h"
#include "cli/import/bytes/source.h"
#include "cli/import/bytes/sqlite.h"
#include "cli/import/nsys/nsys.h"
#include "cli/import/rows/kineto.h"
#include "trace/file.h"
#include "trace/reader.h"

#define SQLITE_MAGIC "SQLite format 3"   /* the file begins with it and a NUL */
#define PROBE        (1u << 20)          /* bytes, decompressed, that import_may_be_trace() looks at */
#define NO_ZERO 1000000000      /* ns added to times that begin at 0: in a .gtrace, time 0 means "unknown" */

static bool is_packed(const uint8_t *p, const uint8_t *end)
{
	return source_packing(p, (size_t)(end - p)) != PLAIN;
}

/* gzip, zstd, SQLite or JSON.  Any other file goes to the reader of .gtrace files, whose error says what it is. */
static bool looks_foreign(const uint8_t *p, const uint8_t *end)
{
	if (is_packed(p, end))
		return true;
	if (end - p >= (ptrdiff_t)sizeof SQLITE_MAGIC && memcmp(p, SQLITE_MAGIC, sizeof SQLITE_MAGIC) == 0)
		return true;
	if (end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
		p++;
	return p < end && (*p == '{' || *p == '[');
}

bool import_is_foreign(const char *path)
{
	uint8_t head[4096];
	struct stat st;
	ssize_t n;
	int fd;

	if (stat(path, &st) < 0 || S_ISDIR(st.st_mode))
		return false;
	if (!S_ISREG(st.st_mode))
		return S_ISFIFO(st.st_mode);    /* a .gtrace is mapped, so it cannot come from a pipe */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : pread(fd, head, sizeof head, 0);
	if (fd >= 0)
		close(fd);
	return n > 0 && looks_foreign(head, head + n);
}

/* Whether the bytes look like Kineto JSON.  [[ begins a memory timeline of torch.profiler. */
static bool has_words(const uint8_t *p, size_t n)
{
	static const char *const words[] = { "\"traceEvents\"", "\"ph\"" };
	bool has = n > 1 && memcmp(p, "[[", 2) == 0;

	for (size_t i = 0; i < sizeof words / sizeof *words && !has; i++)
		has = memmem(p, n, words[i], strlen(words[i])) != NULL;
	return has;
}

enum verdict { NO_TRACE, MAY_BE_TRACE, UNDECIDED };

static enum verdict verdict_of(const uint8_t *p, size_t n, bool all, bool last)
{
	if (!n || !looks_foreign(p, p + n) || is_packed(p, p + n))
		return n && (all || last) ? NO_TRACE : UNDECIDED;
	return has_words(p, n) ? MAY_BE_TRACE : all ? NO_TRACE : UNDECIDED;
}

static enum verdict look_at_file(const char *path, size_t room)
{
	uint8_t *head = malloc(room);
	enum verdict v = MAY_BE_TRACE;          /* unreadable: the reader reports the error */
	bool all;
	ssize_t n = head ? source_head(path, head, room, &all) : -1;

	if (n >= 0)
		v = verdict_of(head, (size_t)n, all, room == PROBE);
	free(head);
	return v;
}

bool import_may_be_trace(const char *path)
{
	static const size_t rooms[] = { 8u << 10, 64u << 10, PROBE };   /* for most files; for a long list of GPUs; for the rest */
	enum verdict v = UNDECIDED;

	for (size_t i = 0; i < sizeof rooms / sizeof *rooms && v == UNDECIDED; i++)
		v = look_at_file(path, rooms[i]);
	return v != NO_TRACE;
}

static void release(struct kineto *k)
{
	struct map *maps[] = { &k->labels, &k->thread_of, &k->configs, &k->contexts, &k->streams, &k->domains, &k->pairs };

	struct buf *b;

	for (size_t i = 0; (b = kineto_buffer(k, i)); i++)
		buf_free(b);
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		map_release(maps[i]);
	kineto_pack_end(k);
	buf_free(&k->early.bodies);
	buf_free(&k->early.list);
	free(k->hosts);
	free(k->threads);
	texts_free(&k->texts);
	free(k);
}

/* Sets k->base, which all times are relative to.  Call it when the whole file is read: it needs k->first and k->last. */
static int find_base(struct kineto *k)
{
	int64_t first;

	if (!k->understood && k->first == INT64_MAX) {
		k->first = k->last = 0;
		return 0;
	}
	if (!k->has_base && k->first >= 0 && k->first < NO_ZERO)
		k->base = NO_ZERO;
	if (__builtin_add_overflow(k->first, k->base, &first) || first <= 0)
		return trace_fail(k->err, 0, "cannot import '%s': the first event begins before 1970, at %lld.%03lld us; correct its time",
				  k->file->path, (long long)(k->first / 1000), (long long)llabs(k->first % 1000));
	if (k->last == INT64_MAX || __builtin_add_overflow(k->last, k->base, &first))
		return trace_fail(k->err, 0, "cannot import '%s': the last event ends after the year 2262; correct its time",
				  k->file->path);
	return 0;
}

/* Lists the counts above 0 in file->trouble: "3 events of unknown categories (first: foo); 1 unescaped quotes (in texts)". */
static void say_trouble(struct kineto *k)
{
	static const char *const words[N_IMPORT_COUNTS] = {
		[COUNT_CUT] = "the file ends too early", [COUNT_BROKEN] = "parts that are not valid JSON",
		[COUNT_CATEGORY] = "events of unknown categories", [COUNT_PHASE] = "events of unknown types",
		[COUNT_TIME] = "events without a valid time", [COUNT_NEGATIVE] = "negative durations",
		[COUNT_CROSSING] = "rows that overlap without nesting", [COUNT_VALUE] = "unexpected values",
		[COUNT_QUOTES] = "unescaped quotes", [COUNT_TABLE] = "rows of unsupported tables",
	};
	char *text = k->file->trouble;
	size_t size = sizeof k->file->trouble, n = 0;

	for (size_t i = 0; i < N_IMPORT_COUNTS && n < size; i++) {
		const struct counted *c = &k->counts[i];

		if (!c->count)
			continue;
		n += (size_t)snprintf(text + n, size - n, "%s", n ? "; " : "");
		if (n < size && i != COUNT_CUT)
			n += (size_t)snprintf(text + n, size - n, "%llu ", (unsigned long long)c->count);
		if (n < size)
			n += (size_t)snprintf(text + n, size - n, "%s (%s%s)", words[i],
					      c->count > 1 && i != COUNT_TABLE ? "first: " : "", c->first);
	}
}

static struct kineto *new_kineto(struct import *im, size_t i, struct trace_error *err)
{
	struct kineto *k = malloc(sizeof *k);

	if (!k) {
		trace_fail(err, 0, "out of memory");
		return NULL;
	}
	memset(k, 0, offsetof(struct kineto, tokens.list[1]));
	k->file = &im->files[i];
	k->first = INT64_MAX;
	k->last = INT64_MIN;
	k->format = "kineto";
	k->err = err;
	return k;
}

/* What is computed between reading the file and writing rows. */
static int finish(struct kineto *k)
{
	kineto_pack_end(k);
	if (find_base(k) < 0 || kineto_nest(k) < 0)
		return -1;
	k->file->rows += k->understood + k->memory_change.len / sizeof(struct memory_change_row);
	say_trouble(k);
	return 0;
}

/* Fails when file i cannot be of the same job as the files before it. */
static int check_ranks(const struct import *im, size_t i, struct trace_error *err)
{
	const struct import_file *f = &im->files[i];

	for (size_t j = 0; j < i; j++) {
		const struct import_file *o = &im->files[j];

		if (f->rank >= 0 && f->rank == o->rank)
			return trace_fail(err, 0, "'%s' and '%s' are both from rank %lld; name one file for each rank", o->path, f->path,
					  (long long)f->rank);
		if ((f->rank >= 0) != (o->rank >= 0))
			return trace_fail(err, 0, "'%s' is from rank %lld, but '%s' has no rank; name files of one job",
					  f->rank >= 0 ? f->path : o->path, (long long)(f->rank >= 0 ? f->rank : o->rank),
					  f->rank >= 0 ? o->path : f->path);
		if (f->world >= 0 && o->world >= 0 && f->world != o->world)
			return trace_fail(err, 0, "'%s' is from a job of %lld ranks, '%s' from a job of %lld; name files of one job",
					  o->path, (long long)o->world, f->path, (long long)f->world);
	}
	return 0;
}

struct sink {
	struct kineto_sink to;          /* to.writer is created by begin() */
	int fd;                         /* -1 when to.writer owns it */
	const char *name;               /* of the trace in memory */
	bool begun;
	uint32_t process;               /* number of the next process */
	struct trace_error *err;
};

/* An imported trace has one clock: both columns of its clock rows are equal. */
static int put_clock(struct writer *w, int64_t first, struct trace_error *err)
{
	struct clock_row rows[2] = { { 0, first, first }, { 0, first + 1000000000, first + 1000000000 } };

	return writer_rows(w, 0, 0, record_by_kind(ROW_clock), rows, 2, NULL, 0, err);
}

/* Copies the host name, which recent versions of Kineto write, to `to`; leaves it unchanged if there is none. */
static void put_host(const struct kineto *k, char *to, size_t size)
{
	static const char key[] = "kineto.host_name=";
	const char *p = (const char *)k->attributes.data;

	for (size_t at = 0; at < k->attributes.len; at += strlen(p) + 1, p = (const char *)k->attributes.data + at)
		if (strncmp(p, key, sizeof key - 1) == 0)
			snprintf(to, size, "%s", p + sizeof key - 1);
}

static int begin(struct sink *s, struct kineto *k)
{
	struct file_header h = { .start_real = k->first + k->base, .start_mono = k->first + k->base };

	put_host(k, h.host, sizeof h.host);
	s->begun = true;
	if (s->to.memory)
		return trace_begin(s->to.memory, s->name, &h) < 0 ? trace_fail(s->err, 0, "out of memory") : 0;
	if (getrandom(&h.session, sizeof h.session, 0) != sizeof h.session)
		h.session = (uint64_t)getpid() << 32 ^ (uint64_t)h.start_real;
	s->to.writer = writer_new(s->fd, &h, s->err);
	s->fd = -1;
	return s->to.writer ? put_clock(s->to.writer, h.start_real, s->err) : -1;
}

static int put_rows(struct sink *s, struct kineto *k)
{
	if (!s->begun && begin(s, k) < 0)
		return -1;
	return kineto_write(k, &s->to, &s->process);
}

static int put_kineto(struct sink *s, struct import *im, size_t i)
{
	struct kineto *k = new_kineto(im, i, s->err);
	int rc = -1;

	if (k)
		k->early.wanted = !s->to.memory;
	if (k && kineto_read(k, im->paths[i]) == 0 && finish(k) == 0 && check_ranks(im, i, s->err) == 0)
		rc = put_rows(s, k);
	if (k)
		release(k);
	return rc;
}

static int put_nsys(struct sink *s, struct import *im, size_t i)
{
	struct sqlite *db = sqlite_open(im->paths[i], s->err);
	struct buf pids = { 0 };
	int rc = db ? nsys_processes(db, im->paths[i], &pids, s->err) : -1;

	for (size_t p = 0; p < pids.len / sizeof(int64_t) && rc == 0; p++) {
		struct kineto *k = new_kineto(im, i, s->err);

		rc = k && nsys_read(k, db, ((const int64_t *)pids.data)[p], p == 0) == 0 && finish(k) == 0 ? put_rows(s, k) : -1;
		if (k)
			release(k);
	}
	buf_free(&pids);
	sqlite_close(db);
	return rc;
}

static bool is_sqlite(const char *path)
{
	char head[sizeof SQLITE_MAGIC];
	struct stat st;
	int fd = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	bool is = fd >= 0 && pread(fd, head, sizeof head, 0) == sizeof head && memcmp(head, SQLITE_MAGIC, sizeof head) == 0;

	if (fd >= 0)
		close(fd);
	return is;
}

/*
 * Estimated memory of the import, in bytes.  Compressed JSON expands 15-fold; rows and derived data take twice the expanded
 * size, and a small file is kept whole: 15 * 3, rounded up to 48.
 */
static size_t memory_of(const struct import *im)
{
	struct stat st;
	size_t sum = 0;

	for (size_t i = 0; i < im->n; i++)
		if (stat(im->paths[i], &st) == 0 && S_ISREG(st.st_mode))
			sum += (size_t)st.st_size * 48;
	return sum;
}

static int put_all(struct sink *s, struct import *im)
{
	int rc = 0;

	heap_expect(memory_of(im));
	for (size_t i = 0; i < im->n && rc == 0; i++) {
		im->files[i] = (struct import_file){ .path = im->paths[i], .rank = -1, .world = -1 };
		rc = is_sqlite(im->paths[i]) ? put_nsys(s, im, i) : put_kineto(s, im, i);
	}
	return rc;
}

int import_files(struct import *im, int fd, struct trace_error *err)
{
	struct sink s = { .fd = fd, .process = 1, .err = err };

	if (put_all(&s, im) == 0 && s.to.writer)
		return writer_finish(s.to.writer, err);
	if (s.to.writer)
		writer_abandon(s.to.writer);
	if (s.fd >= 0)
		close(s.fd);
	return -1;
}

int import_rows(struct import *im, const char *name, struct trace *t, struct trace_error *err)
{
	struct sink s = { .to = { .memory = t }, .fd = -1, .name = name, .process = 1, .err = err };

	*t = (struct trace)TRACE_INIT;
	if (put_all(&s, im) == 0 && s.begun)
		return 0;
	trace_close(t);
	return -1;
}
