/* Launches without a kernel record: which launches count, and when the count is unknown. */
#include "cli/report/session/lost.h"
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"

#include <stdlib.h>

#define CALL(n, name_, result_, flags_) \
	{ .start = T0 + 1000 * (n), .duration = 10, .corr = (n), .thread = 1, .name = (name_), .result = (result_), .flags = (flags_) }

/* Nine calls, of which three launches have nothing: 4 and 5 failed or did not return, 6 was captured, 7 is no launch of a kernel. */
static uint64_t lost(const char *setting, bool ended)
{
	struct making k;
	struct model *m;
	uint64_t *n, found = 0;

	make_begin(&k);
	ROWS(&k, 0, process, { T0 + 1, 0, 1, 100, 100, 1, 0, PROCESS_CUDA | PROCESS_CUPTI });
	if (setting)
		make_attribute(&k, 0, setting);
	if (ended)
		make_attribute(&k, 0, "end=1700000001000000000");
	make_string(&k, 1, 1, "cudaLaunchKernel_v7000");
	make_string(&k, 1, 2, "cuLaunchKernelEx");
	make_string(&k, 1, 3, "cudaLaunchHostFunc_v10000");
	make_string(&k, 1, 4, "__cudaLaunchKernel_v13000");
	ROWS(&k, 1, api, CALL(1, 1, 0, 0), CALL(2, 1, 0, 0), CALL(3, 2, 0, 0), CALL(4, 1, 700, 0), CALL(5, 1, 0, 1), CALL(6, 1, 0, 0),
	     CALL(7, 3, 0, 0), CALL(8, 4, 0, 0), CALL(9, 4, 0, 0));
	ROWS(&k, 1, kernel, { .start = T0 + 5000, .duration = 10, .corr = 1 }, { .start = 0, .corr = 9 });
	ROWS(&k, 1, graph_node, { .start = T0 + 6000, .node = 1, .thread = 1, .corr = 6 });
	make_end(&k);
	m = model_open(k.path, NULL);
	n = CHECK(m != NULL) ? lost_launches(m) : NULL;
	if (CHECK(n != NULL))
		found = n[1];
	free(n);
	model_close(m);
	unmake(&k);
	return found;
}

TEST(launches_that_succeeded_and_have_neither_kernel_nor_node_are_lost)
{
	CHECK_EQ(lost(NULL, true), 3);
}

TEST(nothing_is_called_lost_where_it_may_rightly_be_missing)
{
	CHECK_EQ(lost(NULL, false), 0);
	CHECK_EQ(lost("setting.duration_ms=1000", true), 0);
	CHECK_EQ(lost("setting.capture_range=1", true), 0);
	CHECK_EQ(lost("setting.whole_graphs=1", true), 0);
}
