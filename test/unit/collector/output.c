#include "collector/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/unit/test.h"
#include "trace/health.h"
#include "trace/records.h"
#include "trace/wire.h"

#define ROWS 8192

/* Rows that do not compress, so that limits are met soon. */
static void random_rows(void *rows, size_t size)
{
	uint8_t *p = rows;

	for (size_t i = 0; i < size; i++)
		p[i] = (uint8_t)(rand() >> 8);
}

TEST(beyond_the_limit_detail_goes_first_then_ranges_and_never_the_session)
{
	static struct kernel_row kernels[ROWS];
	static struct range_row ranges[ROWS];
	static struct clock_row clocks[16];
	struct file_header h = { .session = 1 };
	struct output o = OUTPUT_INIT;
	struct health_counts t = { 0 };
	struct config c;
	int k = 0, r = 0;

	config_init(&c);
	c.max_size = 4 << 20;
	snprintf(c.output, sizeof c.output, "/tmp/gprof-unit-%d.gtrace", getpid());
	random_rows(kernels, sizeof kernels);
	random_rows(ranges, sizeof ranges);
	if (!CHECK_EQ(output_open(&o, &c, &h, &t), 0))
		return;
	while (k < 100 && output_rows(&o, 1, CLOCK_MONO, record_by_kind(ROW_kernel), kernels, ROWS, NULL, 0) == 0)
		k++;
	CHECK_EQ(o.level, OUTPUT_NO_DETAIL);
	CHECK(k > 4 && k < 20);
	CHECK(writer_size(o.writer) < (4 << 20) + (1 << 20));
	while (r < 100 && output_rows(&o, 1, CLOCK_MONO, record_by_kind(ROW_range), ranges, ROWS, NULL, 0) == 0)
		r++;
	CHECK_EQ(o.level, OUTPUT_SESSION);
	CHECK(r > 0 && r < 10);
	CHECK(writer_size(o.writer) < 6 << 20);
	CHECK_EQ(output_rows(&o, 0, CLOCK_MONO, record_by_kind(ROW_clock), clocks, 16, NULL, 0), 0);
	CHECK(health_counts_find(&t, HEALTH_file_limit) != NULL);
	CHECK_EQ(output_close(&o), 0);
	unlink(c.output);
	snprintf(c.output, sizeof c.output, "/tmp/gprof-unit-%d.log", getpid());
	unlink(c.output);
	health_counts_release(&t);
}
