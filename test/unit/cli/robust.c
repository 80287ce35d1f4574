/* Rows with meaningless numbers, as from a faulty writer or a forged file: no report and no export may crash. */
#include "cli/report/parts/report.h"
#include "cli/export/export.h"
#include "cli/model/steps/steps.h"
#include "cli/input/input.h"
#include "cli/page/page.h"
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"

#include <stdlib.h>

static uint64_t state;

static uint64_t dice(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Ranges of PyTorch's that cross, lie in each other in circles, and mean everything that phases know. */
static void put_torch(struct making *k, uint32_t process)
{
	static const char *const names[] = {
		"PyTorch", "enumerate(DataLoader)#x", "Optimizer.step#x", "aten::convolution", "gloo:all_reduce",
	};

	for (uint32_t id = 0; id < 5; id++)
		make_string(k, process, id + 1, names[id]);
	ROWS(k, process, domain, { 1, 1 }, { 2, 1 }, { 3, 1 });
}

/* Small numbers meet (ids that exist, levels, kinds), large ones overflow. */
static uint64_t number(void)
{
	switch (dice() % 8) {
	case 0:
		return dice();
	case 1:
		return UINT64_MAX - dice() % 3;
	case 2:
		return (uint64_t)INT64_MIN + dice() % 3 - 1;
	case 3:
		return T0 + dice() % 100000;
	default:
		return dice() % 6;
	}
}

#define EACH 60

static void put_kind(struct making *k, const struct record *r, uint32_t process)
{
	char rows[EACH * 256];
	uint8_t tails[EACH * 8];
	size_t bytes = 0;

	for (size_t i = 0; i < EACH; i++) {
		char *row = rows + i * r->size;

		for (unsigned f = 0; f < r->n_fields; f++)
			field_store(&r->fields[f], row, number());
		if (r->len_field >= 0) {
			uint64_t n = dice() % 8;

			field_store(&r->fields[r->len_field], row, n);
			for (; n > 0; n--)
				tails[bytes++] = (uint8_t)(dice() % 3 ? 'a' + dice() % 26 : dice() % 4 ? '=' : dice());
		}
	}
	CHECK_EQ(writer_rows(k->writer, process, dice() % 2 ? CLOCK_MONO : CLOCK_REAL, r, rows, EACH, tails, bytes,
			     NULL),
		 0);
}

static void all_reports(struct model *m)
{
	for (size_t i = 0; i < n_reports; i++)
		for (enum table_format f = TABLE_TEXT; f <= TABLE_JSON; f++) {
			char *text = report_text(m, reports[i]->name, f, NULL, 0);

			CHECK(text != NULL);
			free(text);
		}
}

static void sums_to_memory(struct model *m)
{
	static const struct exporter *const formats[] = { &export_folded, &export_pprof };

	for (unsigned i = 0; i < 2 * METRICS; i++) {
		char *text = NULL;
		size_t n = 0;
		FILE *file = open_memstream(&text, &n);
		struct out out;
		struct export x = { .format = formats[i % 2], .m = m, .out = &out, .title = "x", .metric = i / 2 };

		CHECK_EQ(out_init(&out, file), 0);
		CHECK_EQ(export_walk(&x), 0);
		export_release(&x);
		CHECK_EQ(out_finish(&out), 0);
		fclose(file);
		free(text);
	}
}

static void export_to_memory(struct model *m, bool merged, bool integers)
{
	char *text = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&text, &n);
	struct out out;
	struct export x = {
		.format = &export_kineto, .m = m, .out = &out, .title = "x", .merged = merged, .integers = integers
	};

	CHECK_EQ(out_init(&out, file), 0);
	CHECK_EQ(export_walk(&x), 0);
	export_release(&x);
	CHECK_EQ(out_finish(&out), 0);
	fclose(file);
	CHECK(n > 0);
	free(text);
}

static void page_to_memory(const char *path)
{
	char *text = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&text, &n);

	CHECK_EQ(page_print(&(struct input){ .path = path }, file, 0, NULL), 0);
	fclose(file);
	CHECK(n > 0);
	free(text);
}

TEST(numbers_without_meaning_break_no_report_and_no_export)
{
	for (uint64_t round = 1; round <= 12; round++) {
		struct making k;
		struct model *m;

		state = round * 0x9e3779b97f4a7c15;
		make_begin(&k);
		for (size_t i = 0; i < n_records; i++)
			for (uint32_t process = 0; process < 3; process++)
				if (round % 3 == 0 ||
				    records[i].id != ROW_clock) /* without clock rows times come as they are */
					put_kind(&k, &records[i], process);
		for (uint32_t process = 1; round % 2 && process < 3; process++)
			put_torch(&k, process);
		make_end(&k);
		m = model_open(k.path, NULL);
		if (CHECK(m != NULL)) {
			all_reports(m);
			export_to_memory(m, round % 2, round % 3 == 0);
			sums_to_memory(m);
			CHECK(model_select(m, &(struct selection){ .steps = round % 2, .first = 1, .last = 4,
								   .window = round % 4 ? 1 : 0 }) >= 0);
			all_reports(m);
			export_to_memory(m, round % 2, round % 3 == 0);
			model_close(m);
			page_to_memory(k.path);
		}
		unmake(&k);
	}
}
