/* The page's lines about the GPUs: which rank has which GPU, and of what each share is. */
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"

#include "cli/model/steps/steps.h"
#include "cli/page/page_gpu.h"
#include "cli/page/page_lines.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME = 1, KERNEL };

/*
 * Ranks with a GPU each; GPU i is busy in 500 + 40 * i of 1000 ns, all of it in a step.  windows: how many of them have a window; untimed:
 * how many of the last ones have rows without times.  Only the first rank has another step, with nothing in it.
 */
static struct model *open_ranks(struct making *k, uint32_t ranks, uint32_t windows, uint32_t untimed)
{
	char rank[20];

	make_begin(k);
	for (uint32_t p = 1; p <= ranks; p++) {
		bool timed = p + untimed <= ranks;

		ROWS(k, 0, process, { T0 + 1, T0 + 100000, p, 100 * p, 100 * p, 1, 0, PROCESS_CONNECTED | PROCESS_CUDA });
		snprintf(rank, sizeof rank, "rank=%u", p - 1);
		make_attribute(k, p, rank);
		make_string(k, p, NAME, "NVIDIA H200");
		make_string(k, p, KERNEL, "vecadd");
		ROWS(k, p, device, { .id = p - 1, .name = NAME, .uuid_high = 5, .uuid_low = p });
		ROWS(k, p, step, { T0 + 1000, 1000, 0, 1, 0, 0, 0, 1, 1, 10, 12, 100, 0 });
		if (p == 1)
			ROWS(k, p, step, { T0 + 5000, 1000, 0, 2, 0, 0, 0, 1, 1, 12, 13, 100, 0 });
		if (p <= windows)
			ROWS(k, p, window, { T0 + 1000, 1000, 1, 10, 12, 4, 0, 0 });
		ROWS(k, p, kernel, { timed ? T0 + 1000 : 0, timed ? 490 + 40 * (p - 1) : 0, 0, 10, KERNEL, p - 1, 1, 7, 0, 0, 0 },
		     { timed ? T0 + 1990 : 0, timed ? 10 : 0, 0, 11, KERNEL, p - 1, 1, 7, 0, 0, 0 });
	}
	return make_model(k);
}

/* Checks the GPU lines, and ends the trace. */
static void check_lines(struct making *k, struct model *m, const struct selection *selection, const char *lines)
{
	struct page_lines p = { .width = PAGE_WIDTH };
	char *text = NULL;
	size_t n = 0;
	struct out out;
	FILE *file = open_memstream(&text, &n);

	if (selection)
		CHECK_EQ(model_select(m, selection), 0);
	CHECK_EQ(page_gpus(&p, m), 0);
	CHECK(file && out_init(&out, file) == 0);
	CHECK_EQ(page_lines_print(&p, &out), 0);
	out_finish(&out);
	fclose(file);
	CHECK_STR(text, lines);
	free(text);
	page_lines_release(&p);
	unmake_model(k, m);
}

TEST(the_gpu_of_each_of_a_few_ranks_has_a_line)
{
	struct making k;

	check_lines(&k, open_ranks(&k, 2, 0, 0), NULL,
		    "  GPUs      2 x NVIDIA H200\n"
		    "  GPU 0     busy 50.0 % of 1.00 us from first to last GPU row (rank 0)\n"
		    "  GPU 1     busy 54.0 % of 1.00 us from first to last GPU row (rank 1)\n");
}

static const struct selection first_step = { .steps = true, .first = 1, .last = 1 }, other_step = { .steps = true, .first = 2, .last = 2 };

#define SPREAD                                                                 \
	"  GPUs      4 x NVIDIA H200\n"                                        \
	"            busy 50.0 % (GPU 0, rank 0) to 62.0 % (GPU 3, rank 3)\n"

TEST(the_spread_of_many_gpus_says_of_what_the_shares_are)
{
	struct making k;

	check_lines(&k, open_ranks(&k, 4, 0, 0), NULL,
		    SPREAD "            median 54.0 %, each of the time from its first to its last row\n");
	check_lines(&k, open_ranks(&k, 4, 4, 0), NULL, SPREAD "            median 54.0 %, each of its recorded windows\n");
	check_lines(&k, open_ranks(&k, 4, 1, 0), NULL, SPREAD "            median 54.0 %, each of its recorded time\n");
	check_lines(&k, open_ranks(&k, 4, 4, 0), &first_step, SPREAD "            median 54.0 %, each of its selected steps\n");
}

TEST(the_spread_of_many_gpus_tells_rows_without_times_from_rows_outside_the_selected_part)
{
	struct making k;

	check_lines(&k, open_ranks(&k, 5, 0, 1), NULL,
		    "  GPUs      5 x NVIDIA H200\n"
		    "            busy unknown for 1 GPU: no row has a time\n"
		    "            busy 50.0 % (GPU 0, rank 0) to 62.0 % (GPU 3, rank 3)\n"
		    "            median 54.0 %, each of the time from its first to its last row\n");
	check_lines(&k, open_ranks(&k, 5, 0, 1), &other_step,
		    "  GPUs      5 x NVIDIA H200\n"
		    "            no row of 3 GPUs in the selected part\n"
		    "            busy unknown for 1 GPU: no row has a time\n"
		    "            busy 0.0 % (GPU 0, rank 0) to 0.0 % (GPU 0, rank 0)\n"
		    "            median 0.0 %, each of its selected steps\n");
}
