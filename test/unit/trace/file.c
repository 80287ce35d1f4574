#include "test/unit/trace/sample.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "trace/wire.h"

TEST(checksums_are_those_of_zlib)
{
	uint8_t bytes[600];
	uint32_t whole;

	CHECK_EQ(crc32_of(0, "123456789", 9), 0xcbf43926);
	CHECK_EQ(crc32_of(0, "", 0), 0);
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 31 + i / 7);
	whole = crc32_of(0, bytes, sizeof bytes);
	for (size_t i = 0; i < sizeof bytes; i++)
		CHECK_EQ(crc32_of(crc32_of(0, bytes, i), bytes + i, sizeof bytes - i), whole);
}

/* The definition, a bit at a time. */
static uint32_t crc_by_bits(const uint8_t *p, size_t n)
{
	uint32_t crc = ~0u;

	for (size_t i = 0; i < n * 8; i++)
		crc = (crc ^ p[i / 8] >> i % 8) & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	return ~crc;
}

TEST(checksums_of_every_length_and_alignment_follow_the_definition)
{
	uint8_t bytes[700];
	struct random random = { 3 };

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)random_next(&random);
	for (size_t n = 0; n < 600; n++)
		CHECK_EQ(crc32_of(0, bytes + n % 17, n), crc_by_bits(bytes + n % 17, n));
}

static void every_kind_round_trip(bool finish)
{
	struct sample *s = calloc(n_records, sizeof *s);
	struct trace_error err = { 0 };
	struct mem_file f;
	struct trace t;
	struct writer *w = writer_to(&f);

	for (size_t i = 0; i < n_records; i++) {
		/* Not process 0, whose clock rows would set the time. */
		sample_make(&s[i], &records[i], 1 + i * 37 % 400, i);
		write_sample(w, (uint32_t)i + 1, &s[i]);
	}
	if (finish)
		CHECK_EQ(writer_finish(w, &err), 0);
	else
		writer_abandon(w);
	CHECK_EQ(trace_open(&t, f.path, 0, &err), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(t.finished, finish);
	CHECK_EQ(t.n_chunks, n_records);
	CHECK_EQ(t.n_damage, 0);
	CHECK_EQ(t.header.session, SAMPLE_SESSION);
	CHECK_STR(t.header.host, "node1");
	for (size_t i = 0; i < n_records && i < t.n_chunks; i++) {
		CHECK_EQ(t.chunks[i].head.process, i + 1);
		CHECK(chunk_holds(&t, &t.chunks[i], &s[i]));
		sample_free(&s[i]);
	}
	CHECK_EQ(trace_check(&t), 0);
	trace_close(&t);
	mem_file_free(&f);
	free(s);
}

TEST(rows_of_every_record_type_come_back_from_a_finished_file)
{
	every_kind_round_trip(true);
}

TEST(rows_of_every_record_type_come_back_from_an_unfinished_file)
{
	every_kind_round_trip(false);
}

TEST(rows_that_are_columns_already_come_back_beside_others)
{
	struct packer *p = packer_new();
	struct trace_error err = { 0 };
	struct buf body = { 0 };
	struct sample s[3];
	struct mem_file f;
	struct trace t;
	struct writer *w = writer_to(&f);
	int columns;

	for (unsigned i = 0; i < 3; i++)
		sample_make(&s[i], record_by_kind(ROW_imported), 100 + i, i);
	write_sample(w, 1, &s[0]);
	columns = columns_encode(p, &body, s[1].record, s[1].rows, s[1].n, NULL, 0);
	CHECK_EQ(writer_packed(w, 2, CLOCK_MONO, s[1].record, s[1].n, (unsigned)columns, body.data, body.len, &err), 0);
	write_sample(w, 3, &s[2]);
	CHECK_EQ(writer_finish(w, &err), 0);
	CHECK_EQ(trace_open(&t, f.path, 0, &err), 0);
	CHECK_EQ(t.n_chunks, 3);
	for (unsigned i = 0; i < 3 && i < t.n_chunks; i++) {
		CHECK_EQ(t.chunks[i].head.process, i + 1);
		CHECK_EQ(t.chunks[i].head.raw, s[i].n * s[i].record->size);
		CHECK(chunk_holds(&t, &t.chunks[i], &s[i]));
		sample_free(&s[i]);
	}
	CHECK_EQ(trace_check(&t), 0);
	trace_close(&t);
	mem_file_free(&f);
	buf_free(&body);
	packer_free(p);
}

TEST(a_chunk_knows_the_range_of_its_times_without_those_that_are_none)
{
	struct kernel_row rows[4] = { { .start = 70 }, { .start = 0 }, { .start = 30 }, { .start = 50 } };
	struct trace_error err = { 0 };
	struct mem_file f;
	struct trace t;
	struct writer *w = writer_to(&f);

	writer_rows(w, 1, CLOCK_REAL, record_by_kind(ROW_kernel), rows, 4, NULL, 0, &err);
	writer_rows(w, 1, CLOCK_REAL, record_by_kind(ROW_domain), &(struct domain_row){ 1, 2 }, 1, NULL, 0, &err);
	writer_rows(w, 1, CLOCK_REAL, record_by_kind(ROW_domain), NULL, 0, NULL, 0, &err);      /* no rows, no chunk */
	writer_finish(w, &err);
	CHECK_EQ(trace_open(&t, f.path, 0, &err), 0);
	CHECK_EQ(t.n_chunks, 2);
	CHECK_EQ(t.chunks[0].head.first, 30);
	CHECK_EQ(t.chunks[0].head.last, 70);
	CHECK_EQ(t.chunks[1].head.first, 0);
	CHECK_EQ(t.chunks[1].head.last, 0);
	trace_close(&t);
	mem_file_free(&f);
}

TEST(a_file_without_rows_is_a_trace)
{
	struct trace_error err = { 0 };
	struct mem_file f;
	struct trace t;
	struct writer *w = writer_to(&f);

	CHECK_EQ(writer_finish(w, &err), 0);
	CHECK_EQ(trace_open(&t, f.path, 0, &err), 0);
	CHECK(t.finished);
	CHECK_EQ(t.n_chunks, 0);
	CHECK_EQ(trace_check(&t), 0);
	trace_close(&t);
	mem_file_free(&f);
}

TEST(a_full_disk_costs_the_chunk_that_did_not_fit_and_no_other)
{
	struct rlimit old, small;
	struct trace_error err = { 0 };
	uint64_t size, good = 0;
	struct sample s;
	struct mem_file f;
	struct trace t;
	struct writer *w = writer_to(&f);

	sample_make(&s, record_by_kind(ROW_api), 300, 1);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){ 50000, old.rlim_max };
	setrlimit(RLIMIT_FSIZE, &small);
	do {
		size = writer_size(w);
	} while (writer_rows(w, 1, CLOCK_MONO, s.record, s.rows, s.n, NULL, 0, &err) == 0 && ++good < 1000);
	setrlimit(RLIMIT_FSIZE, &old);
	CHECK_STR(err.text, "cannot write the trace: File too large");
	CHECK(good > 2 && good < 1000);
	CHECK_EQ(writer_size(w), size);
	CHECK_EQ(lseek(f.fd, 0, SEEK_END), size);
	/* There is room again. */
	write_sample(w, 1, &s);
	err.text[0] = 0;
	CHECK_EQ(writer_finish(w, &err), 0);
	CHECK_EQ(trace_open(&t, f.path, 0, &err), 0);
	CHECK_EQ(t.n_chunks, good + 1);
	for (size_t i = 0; i < t.n_chunks; i++)
		CHECK(chunk_holds(&t, &t.chunks[i], &s));
	CHECK_EQ(t.n_damage, 0);
	trace_close(&t);
	mem_file_free(&f);
	sample_free(&s);
}

TEST(an_index_that_does_not_fit_leaves_a_file_that_opens_without_one)
{
	struct rlimit old, small;
	struct trace_error err = { 0 };
	struct sample s;
	struct mem_file f;
	struct trace t;
	struct writer *w = writer_to(&f);

	sample_make(&s, record_by_kind(ROW_api), 30, 1);
	write_sample(w, 1, &s);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){ writer_size(w) + 50, old.rlim_max };
	setrlimit(RLIMIT_FSIZE, &small);
	CHECK_EQ(writer_finish(w, &err), -1);
	setrlimit(RLIMIT_FSIZE, &old);
	CHECK_STR(err.text, "cannot write the trace: File too large");
	err.text[0] = 0;
	CHECK_EQ(trace_open(&t, f.path, 0, &err), 0);
	CHECK(!t.finished);
	CHECK_EQ(t.n_damage, 0);
	CHECK_EQ(t.n_chunks, 1);
	CHECK(t.n_chunks == 1 && chunk_holds(&t, &t.chunks[0], &s));
	trace_close(&t);
	mem_file_free(&f);
	sample_free(&s);
}

TEST(a_disk_that_is_full_from_the_start_is_told_and_the_descriptor_closed)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct trace_error err = { 0 };
	struct file_header h = { 0 };

	CHECK(fd >= 0);
	CHECK(!writer_new(fd, &h, &err));
	CHECK_STR(err.text, "cannot write the trace: No space left on device");
	CHECK_EQ(fcntl(fd, F_GETFD), -1);
}

static size_t open_descriptors(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Written to fd, of which *n chunks.  True: older entries were put aside. */
static bool write_many(int fd, size_t n)
{
	struct file_header h = { .session = SAMPLE_SESSION };
	struct trace_error err = { 0 };
	struct writer *w = writer_new(fd, &h, &err);
	size_t before = open_descriptors();
	struct sample s;
	bool aside;

	sample_make(&s, record_by_kind(ROW_stream), 1, 1);
	for (size_t i = 0; i < n; i++)
		if (writer_rows(w, 1 + (uint32_t)(i % 1000), CLOCK_MONO, s.record, s.rows, s.n, NULL, 0, &err) < 0)
			break;
	aside = open_descriptors() > before;
	CHECK_EQ(writer_finish(w, &err), 0);
	CHECK_STR(err.text, "");
	sample_free(&s);
	return aside;
}

TEST(an_index_of_more_chunks_than_are_kept_in_memory_is_whole)
{
	static const size_t counts[] = { 65535, 65536, 2 * 65536 + 5 };
	/* Not every file system has such files. */
	int nameless = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct trace_error err = { 0 };
	struct trace t;

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		char path[] = "/tmp/gprof-unit.XXXXXX";
		bool aside = write_many(mkstemp(path), counts[i]);

		CHECK_EQ(aside, nameless >= 0 && counts[i] >= 65536);
		CHECK_EQ(trace_open(&t, path, 0, &err), 0);
		CHECK(t.finished);
		CHECK_EQ(t.n_chunks, counts[i]);
		CHECK_EQ(t.n_damage, 0);
		for (size_t c = 0; c < t.n_chunks; c++)
			if (t.chunks[c].head.process != 1 + c % 1000 && !CHECK(!"chunks in another order"))
				break;
		trace_close(&t);
		unlink(path);
	}
	close(nameless);
}

TEST(a_chunk_beyond_all_measure_is_refused)
{
	struct trace_error err = { 0 };
	struct mem_file f;
	struct writer *w = writer_to(&f);
	uint64_t size = writer_size(w);

	CHECK_EQ(writer_rows(w, 1, CLOCK_MONO, record_by_kind(ROW_domain), "", CHUNK_RAW_MAX / 8 + 1, NULL, 0, &err), -1);
	CHECK_STR(err.text, "cannot write 8388609 domain rows in one chunk: they are over 64 MiB");
	CHECK_EQ(writer_size(w), size);
	writer_abandon(w);
	mem_file_free(&f);
}
