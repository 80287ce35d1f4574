#include "test/unit/trace/sample.h"

#include <unistd.h>

#include "trace/wire.h"

static const struct clock_row points[] = { { 5000, 100, 1000100 }, { 6000, 600, 1000600 } };
static const char attributes[] = "host=node7" "boot_id=0a0b0c0d-0102-0304-0506-0708090a0b0c" "os=x";
static const struct attribute_row attribute_rows[] = { { 0, 10 }, { 0, 44 }, { 0, 4 } };

/* A session's file: clock, attributes, a chunk of kernels.  Returns where the kernels begin. */
static uint64_t session_file(struct mem_file *f, const struct sample *kernels, bool finish)
{
	struct trace_error err = { 0 };
	struct writer *w = writer_to(f);
	uint64_t at;

	writer_rows(w, 0, CLOCK_MONO, record_by_kind(ROW_clock), points, 2, NULL, 0, &err);
	writer_rows(w, 0, CLOCK_MONO, record_by_kind(ROW_attribute), attribute_rows, 3, (const uint8_t *)attributes,
		    sizeof attributes - 1, &err);
	at = writer_size(w);
	write_sample(w, 1, kernels);
	write_sample(w, 2, kernels);
	if (finish)
		CHECK_EQ(writer_finish(w, &err), 0);
	else
		writer_abandon(w);
	CHECK_STR(err.text, "");
	return at;
}

/* Domain rows have no times, so they read the same with and without a clock. */
static void sample_domains(struct sample *s)
{
	sample_make(s, record_by_kind(ROW_domain), 20, 1);
}

static void open_whole(struct trace *t, struct mem_file *f, size_t chunks)
{
	struct trace_error err = { 0 };

	CHECK_EQ(trace_open(t, f->path, 0, &err), 0);
	CHECK_STR(err.text, "");
	CHECK(t->finished);
	CHECK_EQ(t->n_chunks, chunks);
	trace_check(t);
	for (size_t i = 0; i < t->n_chunks; i++)
		CHECK(!t->chunks[i].bad);
}

static void recover(struct mem_file *f, long chunks)
{
	struct trace_error err = { 0 };

	CHECK_EQ(trace_recover(f->path, 0, &err), chunks);
	CHECK_STR(err.text, "");
}

TEST(a_lost_header_is_rebuilt_from_the_chunks)
{
	static const uint8_t boot_id[16] = { 10, 11, 12, 13, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
	struct sample s;
	struct mem_file f;
	struct trace t;
	char zeros[128] = { 0 };

	sample_domains(&s);
	for (int finish = 0; finish < 2; finish++) {
		session_file(&f, &s, finish);
		CHECK_EQ(pwrite(f.fd, zeros, sizeof zeros, 0), sizeof zeros);
		recover(&f, 4);
		open_whole(&t, &f, 4);
		CHECK_EQ(t.n_damage, 0);
		CHECK_STR(t.header.host, "node7");
		CHECK_EQ(memcmp(t.header.boot_id, boot_id, 16), 0);
		CHECK_EQ(t.header.start_real, 1000100);
		CHECK_EQ(t.header.start_mono, 100);
		CHECK_EQ(t.header.session, SAMPLE_SESSION);
		CHECK(t.n_chunks == 4 && chunk_holds(&t, &t.chunks[2], &s));
		trace_close(&t);
		mem_file_free(&f);
	}
	sample_free(&s);
}

TEST(recovering_a_whole_file_changes_nothing)
{
	struct buf before = { 0 }, after = { 0 };
	struct sample s;
	struct mem_file f;

	sample_domains(&s);
	session_file(&f, &s, true);
	slurp(f.fd, &before);
	recover(&f, 4);
	slurp(f.fd, &after);
	CHECK_EQ(before.len, after.len);
	CHECK(before.len == after.len && memcmp(before.data, after.data, before.len) == 0);
	buf_free(&before);
	buf_free(&after);
	mem_file_free(&f);
	sample_free(&s);
}

TEST(an_unfinished_file_gets_its_index_and_keeps_its_header)
{
	struct sample s;
	struct mem_file f;
	struct trace t;

	sample_domains(&s);
	session_file(&f, &s, false);
	recover(&f, 4);
	open_whole(&t, &f, 4);
	CHECK_EQ(t.n_damage, 0);
	CHECK_STR(t.header.host, "node1");
	trace_close(&t);
	mem_file_free(&f);
	sample_free(&s);
}

TEST(a_file_cut_anywhere_recovers_to_its_whole_chunks)
{
	struct buf bytes = { 0 };
	struct sample s;
	struct mem_file f;
	struct trace t;
	uint64_t at;

	sample_domains(&s);
	at = session_file(&f, &s, true);
	slurp(f.fd, &bytes);
	mem_file_free(&f);
	for (uint64_t cut = at + 1; cut < bytes.len; cut += 3) {
		struct trace_error err = { 0 };
		size_t chunks;

		mem_file_make(&f, bytes.data, cut);
		CHECK_EQ(trace_open(&t, f.path, 0, &err), 0);
		chunks = t.n_chunks;
		trace_close(&t);
		recover(&f, (long)chunks);
		recover(&f, (long)chunks);      /* and again: nothing grows */
		open_whole(&t, &f, chunks);
		CHECK(t.size < bytes.len + 256);
		trace_close(&t);
		mem_file_free(&f);
	}
	buf_free(&bytes);
	sample_free(&s);
}

TEST(a_damaged_chunk_is_left_out_of_the_index_and_still_named)
{
	struct sample s;
	struct mem_file f;
	struct trace t;
	uint64_t at;

	sample_domains(&s);
	at = session_file(&f, &s, true);
	CHECK_EQ(pwrite(f.fd, "oops", 4, (off_t)at + 80), 4);
	recover(&f, 3);
	open_whole(&t, &f, 3);
	CHECK_EQ(t.n_damage, 1);
	CHECK_STR(t.n_damage ? t.damage[0].text : "", "chunk of 20 domain rows of process 1");
	CHECK_EQ(t.n_damage ? t.damage[0].rows : 0, 20);
	trace_close(&t);
	mem_file_free(&f);
	sample_free(&s);
}

TEST(a_damaged_chunk_header_is_written_back_from_the_index)
{
	struct sample s;
	struct mem_file f;
	struct trace t;
	uint64_t at;

	sample_domains(&s);
	at = session_file(&f, &s, true);
	CHECK_EQ(pwrite(f.fd, "oops", 4, (off_t)at + 4), 4);
	recover(&f, 4);
	open_whole(&t, &f, 4);
	CHECK_EQ(t.n_damage, 0);
	trace_close(&t);
	mem_file_free(&f);
	sample_free(&s);
}

TEST(a_trace_that_is_being_written_is_not_recovered)
{
	struct trace_error err = { 0 };
	struct mem_file f;
	struct writer *w = writer_to(&f);

	CHECK_EQ(trace_recover(f.path, 0, &err), -1);
	CHECK(strstr(err.text, "is still being written"));
	writer_abandon(w);
	recover(&f, 0);
	mem_file_free(&f);
}

TEST(what_holds_no_chunk_cannot_be_recovered)
{
	struct trace_error err = { 0 };
	struct mem_file f;

	mem_file_make(&f, "gtrace\r\n\1\0\0\0", 12);
	CHECK_EQ(trace_recover(f.path, 0, &err), -1);
	CHECK(strstr(err.text, "too short for a trace"));
	mem_file_free(&f);
	err.text[0] = '\0';
	mem_file_make(&f, "{\"traceEvents\":[]}", 18);
	CHECK_EQ(trace_recover(f.path, 0, &err), -1);
	CHECK(strstr(err.text, "is not a trace but JSON"));
	mem_file_free(&f);
}
