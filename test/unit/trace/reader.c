#include "test/unit/trace/sample.h"

#include <pthread.h>
#include <unistd.h>

#include "trace/wire.h"

TEST(a_trace_can_be_read_while_it_is_written)
{
	struct trace_error err = { 0 };
	struct sample s;
	struct mem_file f;
	struct trace t;
	struct writer *w = writer_to(&f);

	sample_make(&s, record_by_kind(ROW_api), 100, 1);
	for (size_t written = 0; written < 20; written++) {
		CHECK_EQ(trace_open(&t, f.path, 0, &err), 0);
		CHECK(!t.finished);
		CHECK_EQ(t.n_chunks, written);
		CHECK_EQ(t.n_damage, 0);
		/* What comes after the opening is not seen, and disturbs nothing. */
		write_sample(w, 1, &s);
		CHECK_EQ(trace_check(&t), 0);
		for (size_t i = 0; i < t.n_chunks; i++)
			CHECK(chunk_holds(&t, &t.chunks[i], &s));
		trace_close(&t);
	}
	writer_finish(w, &err);
	mem_file_free(&f);
	sample_free(&s);
}

TEST(a_trace_in_memory_reads_like_one_in_a_file)
{
	struct file_header h = { .start_real = 5 };
	struct sample s[ROW_KINDS] = { 0 };
	struct trace t;
	size_t n = 0;

	CHECK_EQ(trace_begin(&t, "a name", &h), 0);
	for (unsigned k = 0; k < ROW_KINDS; k++) {
		if (!record_by_kind(k))
			continue;
		sample_make(&s[n], record_by_kind(k), 100, k);
		CHECK_EQ(trace_add(&t, 3, s[n].record, s[n].rows, s[n].n, s[n].tails.data, s[n].tails.len), 0);
		n++;
	}
	CHECK_EQ(trace_add(&t, 3, record_by_kind(ROW_api), NULL, 0, NULL, 0), 0);
	CHECK_EQ(trace_keep(&t, malloc(1)), 0);
	CHECK(n > 10);
	CHECK_EQ(t.n_chunks, n);
	CHECK(t.finished);
	CHECK_STR(t.path, "a name");
	CHECK_EQ(trace_check(&t), 0);
	for (size_t i = 0; i < n; i++)
		CHECK(chunk_holds(&t, &t.chunks[i], &s[i]));
	trace_close(&t);
	while (n)
		sample_free(&s[--n]);
}

#define THREADS 4
#define CHUNKS  40

struct reading {
	struct trace *t;
	const struct sample *s;
	unsigned first, good;
};

static void *read_some(void *arg)
{
	struct reading *r = arg;

	for (size_t i = r->first; i < r->t->n_chunks; i += THREADS)
		r->good += chunk_holds(r->t, &r->t->chunks[i], r->s);
	return NULL;
}

TEST(several_threads_can_read_chunks_of_one_trace)
{
	struct trace_error err = { 0 };
	pthread_t threads[THREADS];
	struct reading r[THREADS];
	unsigned good = 0;
	struct sample s;
	struct mem_file f;
	struct trace t;
	struct writer *w = writer_to(&f);
	uint64_t at[CHUNKS];

	sample_make(&s, record_by_kind(ROW_kernel), 300, 1);
	for (int i = 0; i < CHUNKS; i++) {
		at[i] = writer_size(w);
		write_sample(w, 1, &s);
	}
	writer_finish(w, &err);
	for (int i = 0; i < CHUNKS; i += 5)
		CHECK_EQ(pwrite(f.fd, "oops", 4, (off_t)at[i] + 100), 4);
	CHECK_EQ(trace_open(&t, f.path, 0, &err), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		r[i] = (struct reading){ &t, &s, i, 0 };
		pthread_create(&threads[i], NULL, read_some, &r[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		good += r[i].good;
	}
	CHECK_EQ(good, CHUNKS - CHUNKS / 5);
	CHECK_EQ(t.n_damage, CHUNKS / 5);
	trace_close(&t);
	mem_file_free(&f);
	sample_free(&s);
}

TEST(starts_and_lengths_together_are_what_they_are_apart)
{
	struct clock_row clock[] = { { 0, 100, INT64_MAX / 4 }, { 0, 1ll << 60, INT64_MAX / 4 + (1ll << 60) - 40000 } };
	struct trace_error err = { 0 };
	int64_t starts[200], lengths[200], apart[200];
	struct sample s;
	struct mem_file f;
	struct trace t;
	struct writer *w = writer_to(&f);

	sample_make(&s, record_by_kind(ROW_range), 200, 3);
	write_sample(w, 1, &s);
	writer_rows(w, 1, CLOCK_MONO, record_by_kind(ROW_domain), &(struct domain_row){ 1, 2 }, 1, NULL, 0, &err);
	writer_rows(w, 0, CLOCK_MONO, record_by_kind(ROW_clock), clock, 2, NULL, 0, &err);
	writer_finish(w, &err);
	CHECK_EQ(trace_open(&t, f.path, 0, &err), 0);
	CHECK_EQ(trace_spans(&t, &t.chunks[0], starts, lengths), 0);
	CHECK_EQ(trace_column(&t, &t.chunks[0], COL_range_start, apart), 0);
	CHECK_EQ(memcmp(starts, apart, sizeof apart), 0);
	CHECK_EQ(trace_column(&t, &t.chunks[0], COL_range_duration, apart), 0);
	CHECK_EQ(memcmp(lengths, apart, sizeof apart), 0);
	CHECK_EQ(trace_spans(&t, &t.chunks[1], starts, lengths), -1);   /* has neither */
	CHECK(!t.chunks[1].bad);
	trace_close(&t);
	mem_file_free(&f);
	sample_free(&s);
}
