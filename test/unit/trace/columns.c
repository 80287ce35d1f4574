#include "test/unit/trace/sample.h"

#include <zstd.h>

TEST(a_length_with_a_start_is_called_duration)
{
	for (size_t i = 0; i < n_records; i++) {
		const struct record *r = &records[i];

		for (unsigned f = 0; f < r->n_fields; f++)
			if ((r->fields[f].unit == UNIT_SPAN || r->fields[f].unit == UNIT_GSPAN) && record_field(r, "start") >= 0)
				CHECK_STR(r->fields[f].name, "duration");
	}
}

/* Columns of a sample, in `body`; the number of columns. */
static int encode(const struct sample *s, struct buf *body)
{
	struct packer *p = packer_new();
	int n = columns_encode(p, body, s->record, s->rows, s->n, s->tails.data, s->tails.len);

	packer_free(p);
	CHECK(n >= 0);
	return n;
}

/* All columns equal the sample's fields, read from a copy that is exactly as long as the body. */
static bool decodes_to(const struct sample *s, const struct buf *body, int columns)
{
	const struct record *r = s->record;
	uint64_t *out = malloc((s->n + 1) * sizeof *out);
	uint8_t *exact = malloc(body->len + !body->len);
	struct buf tails = { 0 };
	bool same = true;

	memcpy(exact, body->data, body->len);
	for (unsigned f = 0; f < r->n_fields; f++) {
		const struct field *field = &r->fields[f];

		same = same && column_decode(exact, body->len, (unsigned)columns, r, f, out, s->n) == 0;
		for (size_t i = 0; same && i < s->n; i++)
			same = memcmp((char *)out + i * field->size, s->rows + i * r->size + field->offset, field->size) == 0;
	}
	same = same && column_tails(exact, body->len, (unsigned)columns, CHUNK_RAW_MAX, &tails) == 0 && tails.len == s->tails.len &&
	       (!tails.len || memcmp(tails.data, s->tails.data, tails.len) == 0);
	buf_free(&tails);
	free(exact);
	free(out);
	return same;
}

TEST(columns_of_every_record_type_come_back_as_they_were)
{
	static const size_t sizes[] = { 1, 2, 3, 7, 8, 9, 15, 16, 17, 100, 1000 };

	for (size_t i = 0; i < n_records; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
			struct buf body = { 0 };
			struct sample s;

			sample_make(&s, &records[i], sizes[k], k);
			int columns = encode(&s, &body);

			if (!CHECK(decodes_to(&s, &body, columns)))
				test_check_str(records[i].name, "", "record", __FILE__, (int)sizes[k]);
			sample_free(&s);
			buf_free(&body);
		}
	}
}

/* Rows whose values have about so many bits, so that every length of varint meets every neighbour. */
static void shape(struct sample *s, unsigned bits, struct random *random)
{
	for (size_t i = 0; i < s->n; i++)
		for (unsigned f = 0; f < s->record->n_fields; f++)
			if ((int)f != s->record->len_field)
				field_store(&s->record->fields[f], s->rows + i * s->record->size,
					    random_next(random) >> (63 - (bits + random_next(random) % 8) % 64));
}

TEST(columns_of_numbers_of_every_length_come_back_as_they_were)
{
	struct random random = { 5 };

	for (unsigned bits = 0; bits < 64; bits++) {
		struct buf body = { 0 };
		struct sample s;

		sample_make(&s, record_by_kind(ROW_kernel), 300, bits);
		shape(&s, bits, &random);
		CHECK(decodes_to(&s, &body, encode(&s, &body)));
		sample_free(&s);
		buf_free(&body);
	}
}

/* Values that stay for a while, and then are larger or smaller by about so many bits. */
static void shape_runs(struct sample *s, unsigned longest, struct random *random)
{
	for (unsigned f = 0; f < s->record->n_fields; f++) {
		uint64_t value = random_next(random) >> random_next(random) % 64, bits = random_next(random) % 64;
		size_t left = 0;

		for (size_t i = 0; i < s->n && (int)f != s->record->len_field; i++, left--) {
			if (!left) {
				left = 1 + random_next(random) % longest;
				value += random_next(random) % 2 ? random_next(random) >> bits : 0 - (random_next(random) >> bits);
			}
			field_store(&s->record->fields[f], s->rows + i * s->record->size, value);
		}
	}
}

TEST(columns_that_stay_the_same_for_any_number_of_rows_come_back_as_they_were)
{
	static const size_t sizes[] = { 257, 513, 2000 };
	static const unsigned longest[] = { 2, 100, 256, 1000 };
	struct random random = { 7 };

	for (size_t i = 0; i < n_records; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(sizes) * ARRAY_SIZE(longest); k++) {
			struct buf body = { 0 };
			struct sample s;

			sample_make(&s, &records[i], sizes[k % ARRAY_SIZE(sizes)], k);
			shape_runs(&s, longest[k / ARRAY_SIZE(sizes)], &random);
			if (!CHECK(decodes_to(&s, &body, encode(&s, &body))))
				test_check_str(records[i].name, "", "record", __FILE__, (int)k);
			sample_free(&s);
			buf_free(&body);
		}
	}
}

TEST(no_rows_make_an_empty_body)
{
	struct buf body = { 0 };
	struct sample s;

	sample_make(&s, record_by_kind(ROW_kernel), 0, 1);
	CHECK_EQ(encode(&s, &body), 0);
	CHECK_EQ(body.len, 0);
	sample_free(&s);
	buf_free(&body);
}

TEST(columns_of_one_value_cost_one_value_and_columns_of_zeros_nothing)
{
	const struct record *r = record_by_kind(ROW_kernel);
	struct buf body = { 0 };
	struct sample s;

	sample_make(&s, r, 1000, 1);
	memset(s.rows, 0, s.n * r->size);
	CHECK_EQ(encode(&s, &body), 0);
	CHECK(decodes_to(&s, &body, 0));
	for (size_t i = 0; i < s.n; i++)
		((struct kernel_row *)s.rows)[i].duration = INT64_MIN;
	body.len = 0;
	CHECK_EQ(encode(&s, &body), 1);
	CHECK_EQ(body.len, sizeof(struct column));
	CHECK(decodes_to(&s, &body, 1));
	sample_free(&s);
	buf_free(&body);
}

TEST(columns_cut_anywhere_are_refused_and_never_read_past)
{
	static const unsigned kinds[] = { ROW_kernel, ROW_string };

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		const struct record *r = record_by_kind(kinds[k]);
		struct buf body = { 0 }, tails = { 0 };
		uint64_t out[50];
		struct sample s;

		sample_make(&s, r, 50, 3);
		int columns = encode(&s, &body);

		for (size_t len = 0; len < body.len; len++) {
			uint8_t *exact = malloc(len + !len);    /* exactly so long: ASan sees one byte too many */

			memcpy(exact, body.data, len);
			for (unsigned f = 0; f < r->n_fields; f++)
				CHECK_EQ(column_decode(exact, len, (unsigned)columns, r, f, out, s.n), -1);
			CHECK_EQ(column_tails(exact, len, (unsigned)columns, CHUNK_RAW_MAX, &tails), -1);
			free(exact);
		}
		sample_free(&s);
		buf_free(&body);
		buf_free(&tails);
	}
}

TEST(bytes_behind_the_last_column_are_refused)
{
	const struct record *r = record_by_kind(ROW_domain);
	struct buf body = { 0 };
	uint32_t out[50];
	struct sample s;

	sample_make(&s, r, 50, 3);
	int columns = encode(&s, &body);

	buf_put(&body, "", 1);
	CHECK_EQ(column_decode(body.data, body.len, (unsigned)columns, r, 0, out, 50), -1);
	CHECK_EQ(column_decode(body.data, body.len - 1, (unsigned)columns, r, 0, out, 50), 0);
	sample_free(&s);
	buf_free(&body);
}

TEST(columns_with_any_byte_changed_are_never_read_past)
{
	const struct record *r = record_by_kind(ROW_attribute);
	struct buf body = { 0 }, tails = { 0 };
	struct random random = { 9 };
	uint64_t out[60];
	struct sample s;

	sample_make(&s, r, 60, 4);
	int columns = encode(&s, &body);

	for (size_t i = 0; i < body.len * 8; i++) {
		uint8_t *exact = malloc(body.len);

		memcpy(exact, body.data, body.len);
		exact[i / 8] ^= (uint8_t)(random_next(&random) | 1);
		for (unsigned f = 0; f < r->n_fields; f++)
			column_decode(exact, body.len, (unsigned)columns, r, f, out, s.n);
		tails.len = 0;
		column_tails(exact, body.len, (unsigned)columns, CHUNK_RAW_MAX, &tails);
		free(exact);
	}
	sample_free(&s);
	buf_free(&body);
	buf_free(&tails);
}

TEST(columns_with_another_number_of_rows_are_refused)
{
	const struct record *r = record_by_kind(ROW_api);
	struct buf body = { 0 };
	uint64_t out[60];
	struct sample s;

	sample_make(&s, r, 50, 3);
	int columns = encode(&s, &body);

	for (unsigned f = 0; f < r->n_fields; f++) {
		CHECK_EQ(column_decode(body.data, body.len, (unsigned)columns, r, f, out, 49), -1);
		CHECK_EQ(column_decode(body.data, body.len, (unsigned)columns, r, f, out, 51), -1);
	}
	sample_free(&s);
	buf_free(&body);
}

/* As encode(), by a program that knows only some of the fields. */
static int encode_as(const struct sample *s, struct buf *body, unsigned n_fields)
{
	struct record other = *s->record;
	struct packer *p = packer_new();
	int n;

	other.n_fields = (uint16_t)n_fields;
	n = columns_encode(p, body, &other, s->rows, s->n, NULL, 0);
	packer_free(p);
	return n;
}

TEST(a_field_that_an_older_writer_did_not_know_is_zero)
{
	const struct record *r = record_by_kind(ROW_kernel);
	struct buf body = { 0 };
	uint32_t out[10];
	struct sample s;

	sample_make(&s, r, 10, 1);
	int columns = encode_as(&s, &body, COL_kernel_flags);

	memset(out, 0xff, sizeof out);
	CHECK_EQ(column_decode(body.data, body.len, (unsigned)columns, r, COL_kernel_flags, out, 10), 0);
	for (int i = 0; i < 10; i++)
		CHECK_EQ(out[i], 0);
	sample_free(&s);
	buf_free(&body);
}

TEST(a_column_that_a_newer_writer_added_is_skipped)
{
	const struct record *r = record_by_kind(ROW_kernel);
	struct record older = *r;
	struct buf body = { 0 };
	uint32_t out[10];
	struct sample s;

	sample_make(&s, r, 10, 1);
	int columns = encode(&s, &body);

	older.n_fields = COL_kernel_name + 1;
	CHECK_EQ(column_decode(body.data, body.len, (unsigned)columns, &older, COL_kernel_name, out, 10), 0);
	for (int i = 0; i < 10; i++)
		CHECK_EQ(out[i], ((struct kernel_row *)s.rows)[i].name);
	sample_free(&s);
	buf_free(&body);
}

TEST(a_column_in_an_encoding_of_the_future_is_refused)
{
	const struct record *r = record_by_kind(ROW_domain);
	struct { struct column c; uint8_t data[11]; } body = { { .encoding = 77, .width = 1, .stored = 11 }, { 10 << 1 } };
	uint32_t out[10];

	CHECK_EQ(column_decode((uint8_t *)&body, sizeof body.c + 11, 1, r, 0, out, 10), -1);
	body.c.encoding = ENCODING_PLAIN;
	CHECK_EQ(column_decode((uint8_t *)&body, sizeof body.c + 11, 1, r, 0, out, 10), 0);
	body.c.width = 5;
	CHECK_EQ(column_decode((uint8_t *)&body, sizeof body.c + 11, 1, r, 0, out, 10), -1);
	body.c.width = 1;
	body.c.encoding = ENCODING_GAP;         /* only for a start with a duration */
	CHECK_EQ(column_decode((uint8_t *)&body, sizeof body.c + 11, 1, r, 0, out, 10), -1);
	body.c.encoding = ENCODING_BYTES;
	CHECK_EQ(column_decode((uint8_t *)&body, sizeof body.c + 11, 1, r, 0, out, 10), -1);
}

TEST(a_zstd_frame_that_does_not_hold_a_byte_for_each_row_is_refused)
{
	const struct record *r = record_by_kind(ROW_domain);
	struct column c = { .encoding = ENCODING_PLAIN, .width = 1 };
	uint8_t zeros[4096] = { 0 }, frame[4096];
	uint32_t out[sizeof zeros];

	for (size_t claimed = 4095; claimed <= 4097; claimed++) {
		size_t n = ZSTD_compress(frame, sizeof frame, zeros, sizeof zeros, 1);
		struct buf body = { 0 };

		buf_put(&body, &c, sizeof c);
		buf_put_varint(&body, n << 1 | 1);
		buf_put(&body, frame, n);
		c.stored = (uint32_t)(body.len - sizeof c);
		memcpy(body.data, &c, sizeof c);
		CHECK_EQ(column_decode(body.data, body.len, 1, r, 0, out, claimed), claimed == 4096 ? 0 : -1);
		buf_free(&body);
	}
}

/* Kernels one behind the other, or all over the place. */
static size_t stored_start(bool queued, unsigned *encoding)
{
	const struct record *r = record_by_kind(ROW_kernel);
	struct random random = { 4 };
	struct buf body = { 0 };
	struct sample s;
	struct kernel_row *rows;
	struct column c;
	int64_t now = 1790000000000000000;

	sample_make(&s, r, 2000, 1);
	rows = (struct kernel_row *)s.rows;
	for (size_t i = 0; i < s.n; i++) {
		rows[i].start = now;
		rows[i].duration = 1000 + (int64_t)(random_next(&random) % 1000000);
		now += queued ? rows[i].duration + (int64_t)(random_next(&random) % 200) : 300;
	}
	CHECK(decodes_to(&s, &body, encode(&s, &body)));
	memcpy(&c, body.data, sizeof c);
	CHECK_EQ(c.id, COL_kernel_start);
	*encoding = c.encoding;
	sample_free(&s);
	buf_free(&body);
	return c.stored;
}

TEST(starts_are_stored_from_whatever_they_are_nearest_to)
{
	unsigned encoding;

	CHECK(stored_start(true, &encoding) < 2000 * 5 / 4);
	CHECK_EQ(encoding, ENCODING_GAP);
	CHECK(stored_start(false, &encoding) < 100);
	CHECK_EQ(encoding, ENCODING_DELTA);
}
