/* A file's rows are the same whichever way its bytes come: read at once, mapped, through a pipe, packed, with a thread and without. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "cli/gzip.h"
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
