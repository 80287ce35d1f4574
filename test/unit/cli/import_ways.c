/* An import has the same rows whether the file is read, mapped, piped or packed, with a thread and without. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "cli/export/gzip.h"
#include "test/unit/import/random_json.h"
#include "test/unit/import/rows.h"
#include "test/unit/test.h"

#define MOST (10u << 20)

static char path[64];
static void (*pipe_signal)(int);

/* Of one name for all ways: it is a fact of the trace. */
static void put_file(const void *data, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write(fd, data, n) == (ssize_t)n);
	close(fd);
}

struct writing {
	const struct random_json *r;
	size_t most;                    /* bytes at a time */
};

static void *write_pieces(void *arg)
{
	const struct writing *w = arg;
	struct random_json chance = { .state = w->r->n };
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	for (size_t at = 0, n; at < w->r->n; at += n) {
		n = random_below(&chance, (unsigned)w->most) + 1;
		n = n < w->r->n - at ? n : w->r->n - at;
		if (write(fd, w->r->text + at, n) != (ssize_t)n)
			break;
	}
	close(fd);
	return NULL;
}

static struct imported by_pipe(const struct random_json *r, size_t most)
{
	struct writing w = { r, most };
	struct imported all;
	pthread_t thread;

	CHECK(mkfifo(path, 0600) == 0);
	pthread_create(&thread, NULL, write_pieces, &w);
	all = rows_of(path);
	pthread_join(thread, NULL);
	unlink(path);
	return all;
}

static struct imported by_zstd(const struct random_json *r, void *room)
{
	size_t n = ZSTD_compress(room, ZSTD_compressBound(MOST), r->text, r->n, 1);

	put_file(room, n);
	return rows_of(path);
}

static struct imported by_gzip(const struct random_json *r)
{
	FILE *f = fopen(path, "w");

	CHECK(f && gzip_write(f, r->text, r->n) == 0 && fclose(f) == 0);
	return rows_of(path);
}

static bool alike(const struct imported *a, struct imported b, const char *way, size_t n)
{
	const char *what = rows_differ(a, &b);

	if (what)
		fprintf(stderr, "%zu bytes, %s: other are %s: '%s' '%s', not '%s' '%s'\n", n, way, what, b.err.text, b.file.trouble,
			a->err.text, a->file.trouble);
	return CHECK(!what);
}

static bool all_ways(const struct random_json *r, void *room)
{
	struct imported plain, piped;

	put_file(r->text, r->n);
	plain = rows_of(path);
	unlink(path);
	piped = by_pipe(r, r->n < 100000 ? 50 : 5000);
	/* What is empty is said of the file, or of what was in it. */
	return alike(&plain, piped, "by a pipe", r->n) && alike(&plain, by_gzip(r), "packed by gzip", r->n) &&
	       alike(&plain, by_zstd(r, room), "packed by zstd", r->n);
}

static void begin(struct random_json *r, uint64_t seed, void **room)
{
	pipe_signal = signal(SIGPIPE, SIG_IGN);       /* who refuses a file does not read it to its end */
	snprintf(path, sizeof path, "/tmp/gprof-unit-ways-%d", (int)getpid());
	*r = (struct random_json){ .state = seed, .text = malloc(MOST), .size = MOST };
	*room = malloc(ZSTD_compressBound(MOST));
}

static void end(struct random_json *r, void *room)
{
	signal(SIGPIPE, pipe_signal);
	unlink(path);
	free(r->text);
	free(room);
}

TEST(rows_are_the_same_whichever_way_a_file_is_read_and_wherever_it_is_cut)
{
	/* Events: some that a thread is not started for, and such as take more than a MiB, and packed more than 64 KiB. */
	static const unsigned events[] = { 20, 200, 20000 };
	struct random_json r;
	void *room;

	begin(&r, 7, &room);
	for (size_t i = 0; i < sizeof events / sizeof *events; i++)
		for (unsigned k = 0; k < 4; k++) {
			size_t whole;

			do
				random_json(&r, events[i], 10 * (k % 2));
			while (r.n < events[i] * 60u);
			whole = r.n;
			for (unsigned cut = 0; cut < 3 && all_ways(&r, room); cut++)
				r.n = 1 + random_below(&r, (unsigned)whole);
		}
	end(&r, room);
}

/* Packed to a few KiB: begun without a thread, and anew with one. */
TEST(rows_are_the_same_of_a_small_file_that_becomes_a_large_one)
{
	struct random_json r;
	void *room;
	size_t one;

	begin(&r, 9, &room);
	do
		random_json(&r, 60, 0);
	while (r.text[1] != '"' || r.n < 8000 || r.n > 30000);
	one = r.n;
	while (r.n + one < 9u << 20) {  /* the object of a trace, again and again: what stands behind the first is counted */
		memcpy(r.text + r.n, r.text, one);
		r.n += one;
	}
	all_ways(&r, room);
	/* Events, again and again. */
	r.n = (size_t)snprintf(r.text, r.size, "[");
	for (unsigned i = 0; r.n < 9u << 20; i++)
		r.n += (size_t)snprintf(r.text + r.n, r.size - r.n, "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":%u,"
					"\"dur\":5,\"args\":{\"stream\":7,\"correlation\":%u}},", 1000 + i % 64 * 10, i % 64);
	all_ways(&r, room);
	end(&r, room);
}

/* Rows of each kind and process, however they are cut into chunks; but those that only a file has. */
static uint64_t sum_of(struct trace *t)
{
	static uint64_t of[ROW_KINDS][8];
	uint64_t sum = 0;

	memset(of, 0, sizeof of);
	for (struct chunk *c = t->chunks; c < t->chunks + t->n_chunks; c++) {
		size_t bytes = (size_t)c->head.rows * c->record->size;
		uint64_t *hash = &of[c->head.kind][c->head.process % 8];
		void *rows = malloc(bytes + 1);

		CHECK(trace_rows(t, c, rows) == 0);
		if (c->head.kind != ROW_clock)
			*hash = rows_mix(*hash, rows, bytes);
		free(rows);
	}
	for (size_t kind = 0; kind < ROW_KINDS; kind++)
		sum = rows_mix(sum, of[kind], sizeof of[kind]);
	return sum;
}

static void check_in_a_file(unsigned processes)
{
	struct random_json r;
	const char *from = path;
	struct import_file file = { 0 };
	struct import im = { .paths = &from, .n = 1, .files = &file };
	struct trace_error err = { 0 };
	struct trace memory, written;
	char to[80];
	void *room;

	begin(&r, processes, &room);
	snprintf(to, sizeof to, "%s.gtrace", path);
	r.n = (size_t)snprintf(r.text, r.size, "[");
	for (unsigned i = 0; i < 70000; i++)
		r.n += (size_t)snprintf(r.text + r.n, r.size - r.n, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"n%u\",\"pid\":%u,\"tid\":7,\"ts\":%u,"
					"\"dur\":5,\"args\":{\"a\":%u}},", i % 100, 5 + i % processes, 1000 + i * 10, i * i);
	put_file(r.text, r.n);
	CHECK(import_rows(&im, "in memory", &memory, &err) == 0);
	CHECK(import_files(&im, open(to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), &err) == 0);
	CHECK_STR(err.text, "");
	if (CHECK(trace_open(&written, to, 0, &err) == 0)) {
		CHECK(trace_check(&written) == 0);
		CHECK_EQ(sum_of(&memory), sum_of(&written));
		trace_close(&written);
	}
	trace_close(&memory);
	unlink(to);
	end(&r, room);
}

TEST(rows_in_a_file_are_those_in_memory_also_where_they_are_packed_as_they_come)
{
	check_in_a_file(1);
	check_in_a_file(3);
}
