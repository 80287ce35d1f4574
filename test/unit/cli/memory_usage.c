#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"

#include <stdlib.h>

static char *usage(const struct memory_row *rows, size_t n)
{
	struct making k;
	struct model *m;
	char *text = NULL;

	make_begin(&k);
	ROWS(&k, 0, process, { T0 + 1, 0, 1, 100, 100, 1, 0, PROCESS_CUDA | PROCESS_CUPTI });
	make_attribute(&k, 0, "setting.memory_usage=1");
	if (n)
		make_rows(&k, 1, ROW_memory, rows, n);
	make_end(&k);
	m = model_open(k.path, NULL);
	if (CHECK(m != NULL))
		text = report_text(m, "cuda_memory", n ? TABLE_CSV : TABLE_TEXT, NULL, 0);
	model_close(m);
	unmake(&k);
	return text;
}

#define MEMORY(when, where, size, what, kind_) \
	{ .start = T0 + (when), .address = (where), .bytes = (size), .operation = (what), .mem_kind = (kind_) }

TEST(memory_is_followed_from_allocation_to_release_in_order_of_time)
{
	/* In the file out of order; an address used twice; a release without size; one of what nobody saw allocated. */
	const struct memory_row rows[] = {
		MEMORY(5000, 0x1000, 0, 2, 3), MEMORY(1000, 0x1000, 4000000, 1, 3), MEMORY(2000, 0x2000, 6000000, 1, 3),
		MEMORY(6000, 0x1000, 1000000, 1, 3), MEMORY(7000, 0x9000, 500, 2, 3), MEMORY(7500, 0x1000, 1000000, 2, 3),
		MEMORY(7600, 0x1000, 1000000, 2, 3), MEMORY(3000, 0x5000, 2000000, 1, 2),
	};
	char *text = usage(rows, sizeof rows / sizeof *rows);

	CHECK_STR(text + strcspn(text, "\n") + 1,
		  "100,0,Device,3,2,11.000,6.000,10.000,2000,6.000\n"
		  "100,0,Pinned,1,0,2.000,2.000,2.000,3000,2.000\n");
	free(text);
}

TEST(no_memory_rows_have_a_reason)
{
	char *text = usage(NULL, 0);

	CHECK(strstr(text, "no allocations: ") != NULL);
	free(text);
}
