#include "test/unit/cli/make_trace.h"

#include <stdlib.h>
#include <string.h>

#include "cli/model/nvtx/payload.h"
#include "test/unit/test.h"
#include "trace/payload.h"
#include "trace/reader.h"

static void put_payload(struct making *k, uint64_t range, uint64_t schema, const void *data, uint32_t kept, uint32_t bytes)
{
	const struct payload_row row = { .start = T0 + 10, .range = range, .schema = schema, .size = kept, .thread = 1,
					 .place = 1, .kept = kept, .bytes = bytes };

	CHECK_EQ(writer_rows(k->writer, 1, CLOCK_MONO, record_by_kind(ROW_payload), &row, 1, data, bytes, NULL), 0);
}

static void begin(struct making *k)
{
	make_begin(k);
	ROWS(k, 0, process, { T0 + 1, T0 + 9000, 1, 100, 100, 1, 0, PROCESS_CONNECTED | PROCESS_NVTX | PROCESS_ENDED });
	make_string(k, 1, 1, "n");
	make_string(k, 1, 2, "Sizes");
	make_string(k, 1, 3, "small");
	make_string(k, 1, 4, "step");
	ROWS(k, 1, range, { T0 + 5, 100, 1ull << 40 | 1, 0, 1, 1, 0, 0, 4, 0, 0, 0, 0, -1 });
}

static struct model *opened(struct making *k)
{
	struct trace_error err;
	struct model *m = model_open(k->path, &err);

	CHECK(m != NULL);
	return m;
}

TEST(a_payload_is_shown_by_the_newest_schema_of_its_id)
{
	const uint32_t data[] = { 7, 1 };
	struct making k;
	struct model *m;
	char *text;

	begin(&k);
	ROWS(&k, 1, schema, { .id = 1 << 24, .name = 3, .type = 1, .entries = 1 });
	ROWS(&k, 1, schema_entry, { .schema = 1 << 24, .type = PAYLOAD_UINT8, .name = 3 });
	ROWS(&k, 1, schema, { .id = 1 << 24, .name = 2, .type = 1, .entries = 2 },
	     { .id = (1 << 24) + 1, .size = 4, .type = PAYLOAD_IS_ENUM, .entries = 1 });
	ROWS(&k, 1, schema_entry, { .schema = 1 << 24, .type = PAYLOAD_UINT32, .name = 1 },
	     { .schema = 1 << 24, .type = (1 << 24) + 1, .position = 1 }, { .schema = (1 << 24) + 1, .type = 1, .name = 3 });
	put_payload(&k, 1ull << 40 | 1, 1 << 24, data, 8, 8);
	make_end(&k);
	m = opened(&k);
	text = report_text(m, "nvtx_payloads", TABLE_CSV, NULL, 0);
	CHECK_STR(strchr(text, '\n') + 1, "10,100,begin,Sizes,n,7,:step\n10,100,begin,Sizes,#1,small,:step\n");
	free(text);
	model_close(m);
	unmake(&k);
}

static void count(void *arg, const struct payload_shown *f)
{
	(void)f;
	++*(size_t *)arg;
}

/* Each names the next one many times, and the last one the first. */
TEST(schemas_that_name_each_other_have_an_end)
{
	static const uint8_t data[256];
	struct making k;
	struct model *m;
	size_t n = 0;

	begin(&k);
	for (uint64_t i = 0; i < 20; i++) {
		struct schema_entry_row rows[100];

		for (uint32_t e = 0; e < 100; e++)
			rows[e] = (struct schema_entry_row){ .schema = (1 << 24) + i, .type = (1 << 24) + (i + 1) % 20,
							     .offset = e ? 1 : 0, .position = e };
		ROWS(&k, 1, schema, { .id = (1 << 24) + i, .size = i % 2 ? 0 : 250 - i, .type = 1, .entries = 100 });
		make_rows(&k, 1, ROW_schema_entry, rows, 100);
	}
	put_payload(&k, 1ull << 40 | 1, 1 << 24, data, 256, 256);
	make_end(&k);
	m = opened(&k);
	CHECK_EQ(model_payloads(m), 1);
	model_payload_fields(m, 0, count, &n);
	CHECK(n < 100000);
	model_close(m);
	unmake(&k);
}

TEST(lengths_that_lie_show_less_and_read_nothing_else)
{
	struct making k;
	struct model *m;
	size_t n = 0;

	begin(&k);
	ROWS(&k, 1, schema, { .id = 1 << 24, .size = 4, .type = 1, .entries = 1000000 });
	ROWS(&k, 1, schema_entry, { .schema = 1 << 24, .type = PAYLOAD_CSTRING }, { .schema = 1 << 24, .type = 18, .position = 1 });
	put_payload(&k, 1ull << 40 | 1, 1 << 24, "abcdefgh", 4000000000u, 8);
	put_payload(&k, 1ull << 40 | 1, 77, "abc", 2, 3);
	put_payload(&k, 1ull << 40 | 1, 1 << 24, "", 0, 0);
	make_end(&k);
	m = opened(&k);
	CHECK_EQ(model_payloads(m), 3);
	for (size_t i = 0; i < 3; i++)
		model_payload_fields(m, i, count, &n);
	CHECK_EQ(n, 2);
	model_close(m);
	unmake(&k);
}
