#include "test/unit/trace/sample.h"

#include <stdio.h>
#include <unistd.h>

#include "trace/wire.h"

#define N 6

/* A small file of N chunks of different kinds, and where each begins. */
struct original {
	struct sample chunks[N];
	uint64_t at[N + 1];             /* the last: end of the last chunk */
	struct buf bytes;
};

static void original_make(struct original *o, bool finish)
{
	static const unsigned kinds[N] = { ROW_string, ROW_range, ROW_kernel, ROW_api, ROW_attribute, ROW_kernel };
	struct trace_error err = { 0 };
	struct mem_file f;
	struct writer *w = writer_to(&f);

	*o = (struct original){ 0 };
	for (unsigned i = 0; i < N; i++) {
		sample_make(&o->chunks[i], record_by_kind(kinds[i]), 3 + i, i);
		o->at[i] = writer_size(w);
		write_sample(w, i + 1, &o->chunks[i]);
	}
	o->at[N] = writer_size(w);
	if (finish)
		CHECK_EQ(writer_finish(w, &err), 0);
	else
		writer_abandon(w);
	slurp(f.fd, &o->bytes);
	mem_file_free(&f);
}

static void original_free(struct original *o)
{
	for (unsigned i = 0; i < N; i++)
		sample_free(&o->chunks[i]);
	buf_free(&o->bytes);
}

/* Which of the original chunks can be read from the trace, as bits.  What is read and differs is a failure. */
static unsigned intact(struct trace *t, const struct original *o)
{
	unsigned found = 0;

	trace_check(t);
	for (struct chunk *c = t->chunks; c < t->chunks + t->n_chunks; c++) {
		unsigned i = c->head.process - 1;

		if (c->bad)
			continue;
		if (CHECK(i < N && o->at[i] == c->offset) && CHECK(chunk_holds(t, c, &o->chunks[i])))
			found |= 1u << i;
	}
	return found;
}

/* Opens the bytes; damage is copied into text, "" for none. */
static unsigned intact_of(const void *bytes, size_t n, const struct original *o, char *text, size_t size)
{
	struct trace_error err = { 0 };
	struct mem_file f;
	struct trace t;
	unsigned found;

	mem_file_make(&f, bytes, n);
	CHECK_EQ(trace_open(&t, f.path, 0, &err), 0);
	CHECK_STR(err.text, "");
	found = intact(&t, o);
	text[0] = '\0';
	for (size_t i = 0; i < t.n_damage; i++)
		snprintf(text + strlen(text), size - strlen(text), "%s;", t.damage[i].text);
	trace_close(&t);
	mem_file_free(&f);
	return found;
}

TEST(a_file_cut_anywhere_in_its_last_two_chunks_keeps_all_others_and_names_the_loss)
{
	struct original o;
	char text[2000];

	original_make(&o, true);
	for (uint64_t cut = o.at[N - 2]; cut < o.bytes.len; cut++) {
		unsigned whole = 0;

		for (unsigned i = 0; i < N; i++) {
			struct chunk_header h;

			memcpy(&h, o.bytes.data + o.at[i], sizeof h);
			whole |= (unsigned)(o.at[i] + sizeof h + h.stored <= cut) << i;
		}
		CHECK_EQ(intact_of(o.bytes.data, cut, &o, text, sizeof text), whole);
		if (cut > o.at[N - 2] && cut < o.at[N - 2] + 64) {
			char want[40];

			snprintf(want, sizeof want, "%u bytes;", (unsigned)(cut - o.at[N - 2]));
			CHECK_STR(text, want);
		} else if (whole == (1u << (N - 2)) - 1 && cut > o.at[N - 2]) {
			CHECK(strstr(text, "chunk of 7 attribute rows of process 5, cut off after"));
		} else if (whole == (1u << (N - 1)) - 1 && cut >= o.at[N - 1] + 64) {
			CHECK(strstr(text, "chunk of 8 kernel rows of process 6, cut off after"));
		} else if (cut > o.at[N] + 64) {
			CHECK(strstr(text, cut < o.bytes.len - 24 ? "the index, cut off" : "the footer") ||
			      cut == o.bytes.len - 24);
		}
	}
	original_free(&o);
}

/* Chunk that byte `at` belongs to; N: none, or the zeros between two. */
static unsigned owner(const struct original *o, uint64_t at)
{
	for (unsigned i = 0; i < N; i++) {
		struct chunk_header h;

		memcpy(&h, o->bytes.data + o->at[i], sizeof h);
		if (at >= o->at[i] && at < o->at[i] + sizeof h + h.stored)
			return i;
	}
	return N;
}

static void flip_every_byte(bool finish)
{
	static const uint8_t masks[] = { 0x01, 0x80, 0xff };
	struct original o;
	char text[2000];

	original_make(&o, finish);
	for (uint64_t at = sizeof(struct file_header); at < o.bytes.len; at++) {
		unsigned hit = owner(&o, at), all = (1u << N) - 1;

		for (size_t m = 0; m < ARRAY_SIZE(masks); m++) {
			unsigned found;

			o.bytes.data[at] ^= masks[m];
			found = intact_of(o.bytes.data, o.bytes.len, &o, text, sizeof text);
			o.bytes.data[at] ^= masks[m];
			if (hit == N) {
				CHECK_EQ(found, all);
				CHECK(at < o.at[N] || strstr(text, "the index") || strstr(text, "the footer"));
			} else if (finish && at < o.at[hit] + 64) {
				CHECK_EQ(found, all);   /* the index has a copy of the header */
				CHECK(strstr(text, "header of a chunk of"));
			} else {
				CHECK_EQ(found, all & ~(1u << hit));
				CHECK(*text);
			}
			if (hit == 2 && at >= o.at[hit] + 64)
				CHECK_STR(text, "chunk of 5 kernel rows of process 3;");
		}
	}
	original_free(&o);
}

TEST(a_finished_file_with_any_byte_changed_keeps_all_other_chunks_and_names_the_loss)
{
	flip_every_byte(true);
}

TEST(an_unfinished_file_with_any_byte_changed_keeps_all_other_chunks_and_names_the_loss)
{
	flip_every_byte(false);
}

TEST(a_damaged_chunk_and_a_damaged_index_still_leave_the_others)
{
	struct original o;
	char text[2000];

	original_make(&o, true);
	o.bytes.data[o.at[1] + 70] ^= 1;
	o.bytes.data[o.at[3] + 8] ^= 1;
	o.bytes.data[o.at[N] + 100] ^= 1;
	CHECK_EQ(intact_of(o.bytes.data, o.bytes.len, &o, text, sizeof text), 0x3f & ~0x2 & ~0x8);
	CHECK(strstr(text, "the index (every chunk was found without it)"));
	CHECK(strstr(text, "chunk of 4 range rows of process 2"));
	original_free(&o);
}

TEST(copies_of_headers_in_a_lost_index_are_not_taken_for_chunks)
{
	struct domain_row row = { 1, 2 };
	struct trace_error err = { 0 };
	struct mem_file f;
	struct trace t;
	struct writer *w = writer_to(&f);
	uint64_t index;

	for (int i = 0; i < 100; i++)
		writer_rows(w, 1, CLOCK_MONO, record_by_kind(ROW_domain), &row, 1, NULL, 0, &err);
	index = writer_size(w);
	writer_finish(w, &err);
	CHECK_EQ(pwrite(f.fd, "oops", 4, (off_t)index), 4);
	CHECK_EQ(trace_open(&t, f.path, 0, &err), 0);
	CHECK_EQ(t.n_chunks, 100);
	CHECK_EQ(t.n_damage, 1);
	trace_close(&t);
	mem_file_free(&f);
}

/* The checksum says that the index is as it was written; it does not say that this made sense. */
TEST(an_index_that_makes_no_sense_is_not_believed)
{
	static const uint64_t offsets[] = { 0, 64, 132, 1 << 20, UINT64_MAX - 7 };
	struct original o;
	char text[2000];

	original_make(&o, true);
	struct chunk_header *h = (struct chunk_header *)(o.bytes.data + o.at[N]);
	struct index_entry *e = (struct index_entry *)(h + 1);

	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		e[2].offset = offsets[i];
		h->body_crc = crc32_of(0, e, h->stored);
		h->crc = crc32_of(0, h, offsetof(struct chunk_header, crc));
		CHECK_EQ(intact_of(o.bytes.data, o.bytes.len, &o, text, sizeof text), (1u << N) - 1);
	}
	original_free(&o);
}

TEST(a_hole_of_zeros_in_the_middle_costs_what_was_there)
{
	struct original o;
	char text[2000];

	original_make(&o, false);
	memset(o.bytes.data + o.at[2] + 3, 0, o.at[4] - o.at[2] - 6);
	CHECK_EQ(intact_of(o.bytes.data, o.bytes.len, &o, text, sizeof text), 0x3f & ~0x4 & ~0x8);
	original_free(&o);
}

TEST(a_chunk_of_another_session_is_not_taken)
{
	struct original o, other;
	char text[2000], want[40];

	original_make(&o, false);
	original_make(&other, false);
	struct chunk_header *h = (struct chunk_header *)(other.bytes.data + other.at[2]);

	h->session++;
	h->crc = crc32_of(0, h, offsetof(struct chunk_header, crc));
	memcpy(o.bytes.data + o.at[2], other.bytes.data + other.at[2], other.at[3] - other.at[2]);
	CHECK_EQ(intact_of(o.bytes.data, o.bytes.len, &o, text, sizeof text), 0x3f & ~0x4);
	snprintf(want, sizeof want, "%u bytes;", (unsigned)(o.at[3] - o.at[2]));
	CHECK_STR(text, want);
	original_free(&o);
	original_free(&other);
}

TEST(a_kind_of_the_future_is_listed_and_has_no_record)
{
	struct field fields[] = { { "id", "", 0, 8, CODEC_PLAIN, UNIT_NONE, 0 } };
	struct record r = { .id = 250, .size = 8, .n_fields = 1, .len_field = -1, .name = "novelty", .fields = fields };
	struct trace_error err = { 0 };
	struct mem_file f;
	struct trace t;
	struct writer *w = writer_to(&f);

	CHECK_EQ(writer_rows(w, 1, CLOCK_MONO, &r, (uint64_t[]){ 1, 2 }, 2, NULL, 0, &err), 0);
	writer_finish(w, &err);
	CHECK_EQ(trace_open(&t, f.path, 0, &err), 0);
	CHECK_EQ(t.n_chunks, 1);
	CHECK(!t.chunks[0].record);
	CHECK_EQ(trace_check(&t), 0);
	trace_close(&t);
	mem_file_free(&f);
}

/* The message with which a file of these bytes is refused. */
static void refused(const void *bytes, size_t n, char *text, size_t size)
{
	struct trace_error err = { 0 };
	struct mem_file f;
	struct trace t;
	char *path;

	mem_file_make(&f, bytes, n);
	CHECK_EQ(trace_open(&t, f.path, 0, &err), -1);
	trace_close(&t);
	CHECK(!strchr(err.text, '\n'));
	text[0] = '\0';
	/* The path has a changing number in it: FILE instead. */
	for (const char *rest = err.text; *rest; ) {
		path = strstr(rest, f.path);
		snprintf(text + strlen(text), size - strlen(text), "%.*s%s", path ? (int)(path - rest) : 512, rest,
			 path ? "FILE" : "");
		rest = path ? path + strlen(f.path) : "";
	}
	mem_file_free(&f);
}

TEST(a_damaged_header_is_refused_and_recover_named)
{
	struct original o;
	char text[700];

	original_make(&o, true);
	for (size_t at = 0; at < sizeof(struct file_header); at++) {
		o.bytes.data[at] ^= 0x5a;
		refused(o.bytes.data, o.bytes.len, text, sizeof text);
		CHECK_STR(text, "the header of 'FILE' is damaged; 'gprof-trace recover FILE' rebuilds it");
		o.bytes.data[at] ^= 0x5a;
	}
	original_free(&o);
}

TEST(files_that_are_no_traces_are_refused_with_what_to_do)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *message;
	} files[] = {
		{ "gtrace\r\n\5\0\0\0\20\0\0\0", 16, "'FILE' has format 5; this program reads up to 1, use a newer one" },
		{ "gtrace\r\n", 8, "'FILE' is 8 bytes, too short for a trace" },
		{ "", 0, "'FILE' is empty; was the program that wrote it killed at its start?" },
		{ " {\"a\":1}", 8, "'FILE' is not a trace but JSON; if it is Kineto's, 'gprof-trace import' makes one of it" },
		{ "\xef\xbb\xbf[", 4, "'FILE' is not a trace but JSON; if it is Kineto's, 'gprof-trace import' makes one of it" },
		{ "gtrace\n\1\0\0\0", 11, "'FILE' was changed by a transfer in text mode; copy it again as binary" },
		{ "\x1f\x8b\x08", 3, "'FILE' is compressed by gzip; run gunzip on it first" },
		{ "#!/bin/sh\n", 10, "'FILE' is not a trace; gprof-run writes them, as NAME.gtrace" },
	};
	char text[700];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		refused(files[i].bytes, files[i].n, text, sizeof text);
		CHECK_STR(text, files[i].message);
	}
}

TEST(what_is_not_a_file_is_refused)
{
	struct trace_error err = { 0 };
	struct trace t;

	CHECK_EQ(trace_open(&t, "/nonexistent/x.gtrace", 0, &err), -1);
	CHECK_STR(err.text, "cannot open '/nonexistent/x.gtrace': No such file or directory; name an existing trace");
	err.text[0] = '\0';
	CHECK_EQ(trace_open(&t, "/", 0, &err), -1);
	CHECK_STR(err.text, "cannot open '/': Is a directory");
	trace_close(&t);
	trace_close(&t);
}
