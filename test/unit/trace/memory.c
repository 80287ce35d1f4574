/* The n-th allocation fails, for every n: the error is reported, and no written data is lost. */
#include "test/unit/trace/sample.h"

#include <errno.h>
#include <unistd.h>

#include "trace/grow.h"
#include "trace/wire.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_ALLOCATOR 1                 /* clang's way to say it */
#endif
#endif
/* Sanitizers bring an allocator of their own, which cannot be replaced: these tests are for the plain build. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(OWN_ALLOCATOR) && defined(__GLIBC__)

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

static long left = -1;                  /* allocations until one fails; negative: none does */

static bool fails(void)
{
	if (left < 0 || left--)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t n)
{
	return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return fails() ? NULL : __libc_realloc(p, n);
}

/* Writes two chunks; how many of them are in the file. */
static size_t write_all(int fd, const struct sample *s, struct trace_error *err)
{
	struct file_header h = { .session = SAMPLE_SESSION };
	struct writer *w = writer_new(dup(fd), &h, err);
	size_t written = 0;

	if (!w)
		return 0;
	for (int i = 0; i < 2; i++)
		written += writer_rows(w, 1, CLOCK_MONO, s[i].record, s[i].rows, s[i].n, s[i].tails.data, s[i].tails.len, err) == 0;
	writer_finish(w, err);
	return written;
}

TEST(an_allocation_that_fails_anywhere_while_writing_is_said_and_costs_nothing_written)
{
	struct sample s[2];
	bool failed = true;

	sample_make(&s[0], record_by_kind(ROW_kernel), 500, 1);
	sample_make(&s[1], record_by_kind(ROW_string), 50, 1);
	for (long n = 0; failed && n < 1000; n++) {
		struct trace_error err = { 0 };
		struct mem_file f;
		struct trace t;
		size_t written;

		mem_file_make(&f, "", 0);
		left = n;
		written = write_all(f.fd, s, &err);
		failed = left < 0;
		left = -1;
		/* zstd's own failure costs size alone: the bytes go as they are. */
		CHECK(written == 2 ? failed || !err.text[0] : failed && err.text[0]);
		CHECK(!err.text[0] || strstr(err.text, "out of memory"));
		err.text[0] = '\0';
		if (lseek(f.fd, 0, SEEK_END) > 0) {
			CHECK_EQ(trace_open(&t, f.path, 0, &err), 0);
			CHECK_EQ(t.n_chunks, written);
			CHECK_EQ(trace_check(&t), 0);
			trace_close(&t);
		}
		mem_file_free(&f);
	}
	CHECK(!failed);
	sample_free(&s[0]);
	sample_free(&s[1]);
}

/* Opens, reads and recovers.  0 when all of it worked. */
static int read_all(const char *path, const struct sample *s, struct trace_error *err)
{
	struct trace t;
	int rc = 0;

	if (trace_open(&t, path, 0, err) < 0)
		return -1;
	trace_check(&t);
	for (struct chunk *c = t.chunks; c < t.chunks + t.n_chunks; c++) {
		const struct sample *of = &s[c->record->id == ROW_string];
		char *rows = __libc_malloc(of->n * of->record->size);
		struct buf tails = { 0 };

		if (trace_rows(&t, c, rows) < 0 || trace_tails(&t, c, &tails) < 0)
			rc = -1;
		else
			CHECK(memcmp(rows, of->rows, of->n * of->record->size) == 0 && tails.len == of->tails.len);
		buf_free(&tails);
		free(rows);
	}
	trace_close(&t);
	return rc < 0 || trace_recover(path, 0, err) < 0 ? -1 : 0;
}

TEST(an_allocation_that_fails_anywhere_while_reading_is_noticed)
{
	struct trace_error err = { 0 };
	struct mem_file f;
	struct sample s[2];
	bool failed = true;

	sample_make(&s[0], record_by_kind(ROW_kernel), 500, 1);
	sample_make(&s[1], record_by_kind(ROW_string), 50, 1);
	mem_file_make(&f, "", 0);
	CHECK_EQ(write_all(f.fd, s, &err), 2);
	for (long n = 0; failed && n < 1000; n++) {
		int rc;

		err.text[0] = '\0';
		left = n;
		rc = read_all(f.path, s, &err);
		failed = left < 0;
		left = -1;
		CHECK(!failed || rc < 0 || !err.text[0]);
		CHECK(failed || rc == 0);
	}
	CHECK(!failed);
	mem_file_free(&f);
	sample_free(&s[0]);
	sample_free(&s[1]);
}

TEST(a_list_that_gets_no_memory_is_unchanged)
{
	uint32_t *list = NULL, *before;
	size_t cap = 0;

	left = 0;
	CHECK(!GROW(list, 1, cap));
	left = -1;
	CHECK(!list);
	CHECK_EQ(cap, 0);
	CHECK(GROW(list, 1, cap));
	list[0] = 7;
	before = list;
	left = 0;
	CHECK(!GROW(list, cap + 1, cap));
	left = -1;
	CHECK(list == before);
	CHECK_EQ(list[0], 7);
	CHECK_EQ(cap, GROW_FIRST);
	free(list);
}

#endif
