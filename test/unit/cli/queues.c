#include "cli/model/gpu/queues.h"

#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"

#include <stdlib.h>

/* Streams of context 1: 7 null, 8 and 9 blocking, 10 not; 11 is not described. */
static void make_streams(struct making *k)
{
	make_begin(k);
	ROWS(k, 0, process, { T0 + 1, 0, 1, 100, 100, 1, 0, PROCESS_CUDA });
	ROWS(k, 1, stream, { 7, 1, 0, 3 }, { 8, 1, 0, 1 }, { 9, 1, 0, 1 }, { 10, 1, 0, 2 });
	ROWS(k, 1, api, { T0 + 100, 10, 0, 1, 1, 1, 2 << 16 | 211, 0, -1, 0, 0 },
	     { T0 + 200, 10, 0, 2, 1, 1, 2 << 16 | 211, 0, -1, 0, 0 },
	     { T0 + 300, 10, 0, 3, 1, 1, 2 << 16 | 211, 0, -1, 0, 0 },
	     { T0 + 400, 10, 0, 4, 1, 1, 2 << 16 | 211, 0, -1, 0, 0 },
	     { T0 + 500, 10, 0, 5, 1, 1, 2 << 16 | 211, 0, -1, 0, 0 });
	/* start, duration, node, corr, name, device, context, stream: the first of stream 8 ends after its second */
	ROWS(k, 1, kernel,
	     { T0 + 1000, 900, 0, 1, 1, 0, 1, 8, 1, 0, 0 }, { T0 + 1100, 100, 0, 2, 1, 0, 1, 8, 1, 0, 0 },
	     { T0 + 2000, 500, 0, 3, 1, 0, 1, 10, 1, 0, 0 }, { 0, 0, 0, 4, 1, 0, 1, 10, 1, 0, 0 });
	ROWS(k, 1, memcpy, { T0 + 3000, 50, 4, 0, 5, 0, 1, 7, 1, 1, 3, 0, 0, 0, 0, 1 });
	ROWS(k, 1, memset, { T0 + 150, 10, 4, 0, 99, 0, 1, 11, 0, 3, 0, 0 });
	make_end(k);
}

TEST(a_stream_is_done_with_what_was_launched_before)
{
	struct making k;
	struct queues *q;
	struct model *m;

	make_streams(&k);
	m = model_open(k.path, NULL);
	q = m ? queues_make(m) : NULL;
	if (!CHECK(q != NULL))
		return;
	CHECK_EQ(queues_done(q, 1, 1, 8, T0 + 100), 0);
	CHECK_EQ(queues_done(q, 1, 1, 8, T0 + 150), T0 + 1900);
	CHECK_EQ(queues_done(q, 1, 1, 8, T0 + 350), T0 + 1900);         /* the latest end, not that of the last one */
	CHECK_EQ(queues_done(q, 1, 1, 10, T0 + 9999), T0 + 2500);       /* without a time: as if it were not there */
	CHECK_EQ(queues_done(q, 1, 1, 11, T0 + 151), T0 + 160);         /* no call is known: launched when it began */
	CHECK_EQ(queues_done(q, 1, 2, 8, T0 + 9999), 0);
	/* the default stream waits for the blocking ones, and they for it */
	CHECK_EQ(queues_done(q, 1, 1, 7, T0 + 450), T0 + 1900);
	CHECK_EQ(queues_done(q, 1, 1, 9, T0 + 450), 0);
	CHECK_EQ(queues_done(q, 1, 1, 9, T0 + 600), T0 + 3050);
	queues_free(q);
	model_close(m);
	unmake(&k);
}
