/* Names of collective operations, and matching of collectives across ranks. */
#include "cli/report/job/collectives.h"
#include "cli/report/job/late.h"
#include "test/unit/test.h"

#include <string.h>

TEST(an_operation_is_known_by_kernel_scope_and_argument)
{
	static const struct {
		const char *name, *word;
		enum collective_kind kind;
	} all[] = {
		{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "all_reduce", COLLECTIVE_ALL },
		{ "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "all_reduce", COLLECTIVE_ALL },
		{ "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(int)", "reduce_scatter", COLLECTIVE_ALL },
		{ "ncclDevKernel_AllGather_RING_LL(int)", "all_gather", COLLECTIVE_ALL },
		{ "ncclDevKernel_Reduce_Sum_f32_RING_LL(int)", "reduce", COLLECTIVE_ROOTED },
		{ "ncclKernel_Broadcast_RING_LL_Sum_int8_t(int)", "broadcast", COLLECTIVE_ROOTED },
		{ "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(int)", "send, receive", COLLECTIVE_POINT },
		{ "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "unknown", COLLECTIVE_UNKNOWN },
		{ "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(int)", "all_reduce", COLLECTIVE_ALL },
		{ "void (anonymous namespace)::multimem_all_reduce_kernel<float, 16>(int)", "all_reduce", COLLECTIVE_ALL },
		{ "void foo<all_reduce>(all_gather)", "unknown", COLLECTIVE_UNKNOWN },
		{ "allreduce", "all_reduce", COLLECTIVE_ALL }, { "allreduce_coalesced", "all_reduce", COLLECTIVE_ALL },
		{ "_allgather_base", "all_gather", COLLECTIVE_ALL }, { "_reduce_scatter_base", "reduce_scatter", COLLECTIVE_ALL },
		{ "all_to_allv", "all_to_all", COLLECTIVE_ALL }, { "broadcast", "broadcast", COLLECTIVE_ROOTED },
		{ "gather", "gather", COLLECTIVE_ROOTED }, { "scatter", "scatter", COLLECTIVE_ROOTED }, { "reduce", "reduce", COLLECTIVE_ROOTED },
		{ "send 0->1", "send, receive", COLLECTIVE_POINT }, { "recv 0<-1", "send, receive", COLLECTIVE_POINT },
		{ "barrier", "barrier", COLLECTIVE_ALL }, { "", "unknown", COLLECTIVE_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		CHECK_STR(collective_op_of(all[i].name)->word, all[i].word);
		CHECK_EQ(collective_op_of(all[i].name)->kind, all[i].kind);
	}
}

TEST(ranges_of_pytorch_and_nccl_announce_collectives)
{
	CHECK_STR(collective_of_range("nccl:all_reduce"), "all_reduce");
	CHECK_STR(collective_of_range("nccl:_all_gather_base"), "_all_gather_base");
	CHECK_STR(collective_of_range("ncclAllReduce"), "AllReduce");
	CHECK_STR(collective_of_range("c10d::allreduce_"), "allreduce_");
	CHECK(!collective_of_range("ncclGroupEnd"));
	CHECK(!collective_of_range("nccl:coalesced"));
	CHECK(!collective_of_range("all_reduce 3"));
	CHECK(!collective_of_range(""));
}

/* ---- matching ---- */

#define RANKS 3
#define MOST  16

static struct collective lists[RANKS][MOST];
static struct collectives of[RANKS];
static struct matched m;

static void begin(void)
{
	for (size_t r = 0; r < RANKS; r++)
		of[r] = (struct collectives){ .list = lists[r] };
}

static void add(size_t rank, const char *op, uint32_t group, int64_t sequence, int64_t start, int64_t duration)
{
	lists[rank][of[rank].n++] = (struct collective){
		.start = start, .duration = duration, .sequence = sequence, .step = 7, .op = collective_op_of(op), .group = group,
	};
}

static enum match_answer match(void)
{
	matched_release(&m);
	CHECK_EQ(collectives_match(of, RANKS, COLLECTIVE_ALL, &m), 0);
	return m.answer;
}

static int64_t at(size_t collective, size_t rank)
{
	return m.durations[collective * RANKS + rank];
}

TEST(process_group_and_sequence_number_match_in_any_order)
{
	begin();
	add(0, "allreduce", 1, 5, 100, 10);
	add(0, "allreduce", 1, 6, 200, 11);
	add(0, "allreduce", 2, 5, 300, 12);
	add(1, "allreduce", 2, 5, 100000000, 22);       /* another order, and clocks that differ */
	add(1, "allreduce", 1, 6, 200000000, 21);
	add(2, "allreduce", 1, 6, 100, 31);
	add(2, "allreduce", 1, 4, 300, 32);             /* nobody else recorded it */
	CHECK_EQ(match(), MATCHED);
	CHECK(m.by_sequence);
	CHECK_EQ(m.n, 2);
	CHECK_EQ(m.unmatched, 2);
	CHECK_EQ(at(0, 0), 11);
	CHECK_EQ(at(0, 1), 21);
	CHECK_EQ(at(0, 2), 31);
	CHECK_EQ(at(1, 0), 12);
	CHECK_EQ(at(1, 1), 22);
	CHECK_EQ(at(1, 2), LATE_ABSENT);
	CHECK_EQ(m.steps[0], 7);
	matched_release(&m);
}

TEST(kernels_of_one_collective_match_one_by_one)
{
	begin();
	for (size_t r = 0; r < RANKS; r++)
		for (int64_t i = 0; i < 3; i++)
			add(r, "all_to_all", 1, 5, i * 100, 10 * (int64_t)r + i);
	CHECK_EQ(match(), MATCHED);
	CHECK_EQ(m.n, 3);
	for (size_t i = 0; i < 3; i++)
		CHECK_EQ(at(i, 2), 20 + (int64_t)i);
	matched_release(&m);
}

TEST(without_sequence_numbers_the_order_matches_where_counts_are_equal)
{
	begin();
	for (size_t r = 0; r < RANKS; r++) {
		add(r, "allreduce", 0, r ? NO_SEQUENCE : 3, 0, 10);     /* one without a number: none counts */
		add(r, r == 1 ? "allgather" : "allreduce", 0, NO_SEQUENCE, 100, 10);
		add(r, r == 1 ? "allreduce" : "allgather", 0, NO_SEQUENCE, 100, 11);
		add(r, "broadcast", 0, NO_SEQUENCE, 200, 10);
	}
	add(1, "broadcast", 0, NO_SEQUENCE, 300, 10);
	CHECK_EQ(match(), MATCHED);
	CHECK(!m.by_sequence);
	CHECK_EQ(m.n, 3);
	CHECK_EQ(at(0, 0), 11);                         /* all_gather */
	CHECK_EQ(at(0, 1), 10);
	CHECK_EQ(at(2, 1), 11);                         /* the second all_reduce */
	add(2, "allgather", 0, NO_SEQUENCE, 400, 10);
	CHECK_EQ(match(), MATCH_COUNTS);
	CHECK_STR(m.op->word, "all_gather");
	CHECK_EQ(m.rank[0], 0);
	CHECK_EQ(m.count[0], 1);
	CHECK_EQ(m.rank[1], 2);
	CHECK_EQ(m.count[1], 2);
	CHECK_EQ(m.n, 0);
	CHECK_EQ(collectives_match(of, RANKS, COLLECTIVE_ROOTED, &m), 0);
	CHECK_EQ(m.answer, MATCH_COUNTS);
	matched_release(&m);
}

TEST(a_rank_without_any_takes_part_only_where_groups_are_unknown)
{
	begin();
	add(0, "allreduce", 1, NO_SEQUENCE, 0, 10);
	add(2, "allreduce", 1, NO_SEQUENCE, 0, 10);
	CHECK_EQ(match(), MATCHED);
	CHECK_EQ(m.n, 1);
	CHECK_EQ(at(0, 1), LATE_ABSENT);
	lists[0][0].group = lists[2][0].group = 0;
	CHECK_EQ(match(), MATCH_COUNTS);
	CHECK_EQ(m.rank[1], 1);
	matched_release(&m);
}

TEST(what_did_not_run_at_one_time_is_not_one_collective)
{
	begin();
	for (size_t r = 0; r < RANKS; r++)
		add(r, "allreduce", 0, NO_SEQUENCE, r == 2 ? 10 + MATCH_TOLERANCE : 0, 10);
	CHECK_EQ(match(), MATCHED);
	lists[2][0].start++;
	CHECK_EQ(match(), MATCH_APART);
	CHECK_EQ(m.apart, MATCH_TOLERANCE + 1);
	CHECK_EQ(m.rank[0], 0);
	CHECK_EQ(m.rank[1], 2);
	CHECK_EQ(m.n, 0);
	matched_release(&m);
}

TEST(no_collective_is_an_answer_too)
{
	begin();
	add(0, "send", 0, NO_SEQUENCE, 0, 10);
	add(1, "send", 0, NO_SEQUENCE, 0, 10);
	CHECK_EQ(match(), MATCH_NONE);
	CHECK_EQ(collectives_match(of, 0, COLLECTIVE_ALL, &m), 0);
	CHECK_EQ(m.answer, MATCH_NONE);
	matched_release(&m);
}
