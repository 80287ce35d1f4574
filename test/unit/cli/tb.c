/* The rules of the tb_ reports, on hand-written events. */
#include "cli/compat/tb/tb_comm.h"
#include "cli/compat/tb/tb_tree.h"
#include "test/unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

TEST(names_are_what_the_plugin_takes_them_for)
{
	CHECK_EQ(tb_flags_of("nccl:all_reduce"), TB_NCCL);
	CHECK_EQ(tb_flags_of("nccl:all_to_all"), 0);
	CHECK_EQ(tb_flags_of("gloo:broadcast"), TB_GLOO);
	CHECK_EQ(tb_flags_of("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"), TB_LOADER | TB_HIDDEN);
	CHECK_EQ(tb_flags_of("enumerate(DataLoader)#_X.reset"), 0);
	CHECK_EQ(tb_flags_of("ProfilerStep#12"), TB_PROFILER_STEP);
	CHECK_EQ(tb_flags_of("ProfilerStep#"), 0);
	CHECK_EQ(tb_flags_of("aten::mm"), TB_ELIGIBLE);
	CHECK_EQ(tb_flags_of("volta_h884gemm_64x64"), TB_TENSOR);
	CHECK_EQ(tb_flags_of("Optimizer.zero_grad#SGD"), TB_HIDDEN);
	CHECK_EQ(tb_type_of("CPU_OP"), TB_OP);
	CHECK_EQ(tb_type_of("cuda_driver"), TB_IGNORED);
}

static void worker_is(const char *path, const char *want)
{
	char *got = tb_worker_of(path);

	CHECK_STR(got, want);
	free(got);
}

TEST(a_worker_is_the_name_of_its_file_without_time_and_endings)
{
	worker_is("/tmp/node_17.1623143089861.pt.trace.json.gz", "node_17");
	worker_is("node_17.pt.trace.json", "node_17");
	worker_is("a/rank-0.Apr_03.1102.json.gz", "rank-0.Apr_03.1102");
	worker_is("a.gtrace", "a.gtrace");
}

#define NO TB_NO_ID
#define EVENT(type_, start_, end_, external_, ...) { .type = (type_), .start = (start_), .end = (end_), .external = (external_), \
		.link = TB_NONE, __VA_ARGS__ }

static struct tb_run run_of(struct tb_event *events, size_t n)
{
	struct tb_run r = { .n = n, .events = events, .rank = -1 };

	CHECK_EQ(tb_time(&r), 0);
	return r;
}

static void done(struct tb_run *r)
{
	for (unsigned k = 0; k < TB_ROLES; k++)
		spans_release(&r->roles[k]);
	free(r->calls);
	free(r->steps);
}

TEST(each_role_takes_what_no_role_before_it_has)
{
	struct tb_event events[] = {
		EVENT(TB_STEP, 0, 100, NO, .number = 3),
		EVENT(TB_OP, 0, 90, 1,),
		EVENT(TB_ANNOTATION, 0, 15, NO, .flags = TB_LOADER),
		EVENT(TB_CALL, 10, 20, NO, .corr = 7, .has_corr = true),
		EVENT(TB_KERNEL, 15, 40, NO, .corr = 7, .has_corr = true),
		EVENT(TB_MEMCPY, 35, 50, NO, .corr = 7, .has_corr = true),
	};
	struct tb_run r = run_of(events, 6);

	CHECK_EQ(r.n_steps, 1);
	CHECK_EQ(r.steps[0].number, 3);
	CHECK_EQ(r.steps[0].cost[TB_ROLE_KERNEL], 25);
	CHECK_EQ(r.steps[0].cost[TB_ROLE_MEMCPY], 10);
	CHECK_EQ(r.steps[0].cost[TB_ROLE_RUNTIME], 5);
	CHECK_EQ(r.steps[0].cost[TB_ROLE_LOADER], 10);
	CHECK_EQ(r.steps[0].cost[TB_ROLE_CPU], 40);
	CHECK_EQ(r.steps[0].other, 10);
	CHECK_EQ(r.calls[0].n, 2);
	CHECK_EQ(r.calls[0].duration, 40);
	done(&r);
}

TEST(a_step_lasts_until_the_gpu_is_done_and_the_next_begins_then)
{
	struct tb_event events[] = {
		EVENT(TB_STEP, 0, 100, NO, .number = 0),
		EVENT(TB_CALL, 10, 20, NO, .corr = 1, .has_corr = true),
		EVENT(TB_KERNEL, 90, 130, NO, .corr = 1, .has_corr = true),
		EVENT(TB_STEP, 100, 200, NO, .number = 1),
		EVENT(TB_CALL, 110, 120, NO, .corr = 2, .has_corr = true),
		EVENT(TB_KERNEL, 150, 160, NO, .corr = 2, .has_corr = true),
		EVENT(TB_STEP, 200, 210, NO, .number = 2),
	};
	struct tb_run r = run_of(events, 7);

	CHECK_EQ(r.n_steps, 2);         /* the last one started nothing on the GPU */
	CHECK_EQ(r.steps[0].end, 130);
	CHECK_EQ(r.steps[1].start, 130);
	CHECK_EQ(r.steps[1].end, 200);
	done(&r);
}

TEST(a_kernel_is_communication_by_the_id_of_a_collective)
{
	struct tb_event events[] = {
		EVENT(TB_STEP, 0, 100, NO, .number = 0),
		EVENT(TB_ANNOTATION, 0, 10, 5, .flags = TB_NCCL),
		EVENT(TB_KERNEL, 20, 50, 5,),
		EVENT(TB_KERNEL, 40, 60, 6,),
	};
	struct tb_run r = run_of(events, 4);

	CHECK_EQ(r.steps[0].cost[TB_ROLE_KERNEL], 20);
	CHECK_EQ(r.steps[0].cost[TB_ROLE_COMMUNICATION], 30);
	CHECK_EQ(r.steps[0].computation, 20);
	CHECK_EQ(r.steps[0].communication, 40);
	CHECK_EQ(r.steps[0].overlap, 10);
	done(&r);
}

TEST(a_mark_without_a_length_is_no_step)
{
	struct tb_event events[] = { EVENT(TB_STEP, 0, 10, NO, .number = 4), EVENT(TB_OP, 0, 9, NO), EVENT(TB_STEP, 10, 10, NO, .number = 5) };
	struct tb_run r = run_of(events, 3);

	CHECK_EQ(r.n_steps, 1);
	CHECK_EQ(r.steps[0].number, 4);
	done(&r);
}

TEST(without_a_step_the_hosts_events_are_one)
{
	struct tb_event events[] = { EVENT(TB_KERNEL, -20, 5, NO,), EVENT(TB_OP, 0, 10, NO,), EVENT(TB_OP, 20, 30, NO,) };
	struct tb_event gpu[] = { EVENT(TB_KERNEL, 7, 9, NO,) };
	struct tb_run r = run_of(events, 3);

	CHECK_EQ(r.made_up, 1);
	CHECK_EQ(r.steps[0].start, 0);
	CHECK_EQ(r.steps[0].end, 30);
	done(&r);
	r = run_of(gpu, 1);
	CHECK_EQ(r.steps[0].start, 7);
	CHECK_EQ(r.steps[0].end, 9);
	done(&r);
	r = run_of(NULL, 0);
	CHECK_EQ(r.n_steps, 0);
	done(&r);
}

TEST(calls_and_their_kernels_belong_to_the_operator_with_their_id)
{
	struct tb_event events[] = {
		EVENT(TB_STEP, 0, 100, 9, .tid = 1, .number = 0),
		EVENT(TB_OP, 10, 60, 1, .tid = 1, .name = 1, .flags = TB_ELIGIBLE),
		EVENT(TB_OP, 20, 40, 2, .tid = 1, .name = 2),
		EVENT(TB_CALL, 25, 30, 2, .tid = 1, .corr = 1, .has_corr = true),
		EVENT(TB_KERNEL, 30, 50, 2, .corr = 1, .has_corr = true, .flags = TB_TENSOR),
		EVENT(TB_OP, 35, 45, 3, .tid = 1, .name = 3),           /* crosses its parent's end: inside of nothing */
		EVENT(TB_CALL, 50, 55, NO, .tid = 1, .corr = 2, .has_corr = true),
		EVENT(TB_KERNEL, 60, 70, NO, .corr = 2, .has_corr = true),
	};
	struct tb_run r = run_of(events, 8);
	struct tb_tree t;
	const struct tb_node *outer, *inner;

	CHECK_EQ(tb_tree_make(&t, &r), 0);
	CHECK_EQ(t.n_roots, 1);
	CHECK_EQ(t.crossing, 1);
	CHECK_EQ(t.n_operators, 2);
	inner = &t.nodes[t.operators[0]];
	outer = &t.nodes[t.operators[1]];
	CHECK_EQ(events[inner->event].name, 2);
	CHECK_EQ(inner->device_self, 20);
	CHECK_EQ(inner->host_self, 15);
	CHECK_EQ(outer->device_self, 0);
	CHECK_EQ(outer->device, 20);
	CHECK_EQ(outer->host_self, 30);
	CHECK_EQ(outer->tensor, 20);
	CHECK_EQ(inner->eligible, 1);
	CHECK_EQ((int64_t)tb_tensor_share(&t, &r, (struct timed[]){ { .row = 4 }, { .row = 7 } }, 2), 100);
	CHECK(isnan(tb_tensor_share(&t, &r, (struct timed[]){ { .row = 7 } }, 1)));
	CHECK_EQ((int64_t)tb_eligible_share(&t, &r), 1);
	CHECK_EQ(tb_node_of(&t, &events[7]), TB_NONE);
	tb_tree_release(&t);
	done(&r);
}

TEST(an_operator_that_only_calls_its_own_name_counts_once)
{
	struct tb_event events[] = {
		EVENT(TB_OP, 0, 100, 1, .tid = 1, .name = 1),
		EVENT(TB_OP, 10, 90, 2, .tid = 1, .name = 1),
		EVENT(TB_OP, 20, 30, 3, .tid = 1, .name = 2),
		EVENT(TB_CALL, 40, 50, 2, .tid = 1, .corr = 1, .has_corr = true),
		EVENT(TB_MEMCPY, 60, 70, 2, .corr = 1, .has_corr = true),
	};
	struct tb_run r = run_of(events, 5);
	struct tb_tree t;

	CHECK_EQ(tb_tree_make(&t, &r), 0);
	CHECK_EQ(t.n_operators, 2);
	CHECK_EQ(t.nodes[t.operators[1]].host_self, 80);
	CHECK_EQ(t.nodes[t.operators[1]].device_self, 10);
	CHECK_EQ(t.call_node[0], t.operators[1]);
	tb_tree_release(&t);
	done(&r);
}

TEST(tensors_are_as_large_as_their_shapes_and_types_say)
{
	CHECK_EQ(tb_bytes("[[8, 3], [], [3]]", "[\"float\", \"\", \"long int\"]"), 8 * 3 * 4 + 3 * 8);
	CHECK_EQ(tb_bytes("[[2]]", "[\"c10::Half\"]"), 4);
	CHECK_EQ(tb_bytes("[]", "[]"), 0);
	CHECK_EQ(tb_bytes("", "[]"), -1);
	CHECK_EQ(tb_bytes("[[2], [3", "[\"int\", \"int"), -1);
	CHECK_EQ(tb_bytes("[[9223372036854775807, 2]]", "[\"int\"]"), -1);
}

TEST(what_the_shortest_of_all_ranks_takes_is_transfer_and_the_rest_waiting)
{
	struct tb_event one[] = {
		EVENT(TB_STEP, 0, 100, NO, .number = 0),
		EVENT(TB_ANNOTATION, 10, 12, 5, .flags = TB_NCCL, .name = 1),
		EVENT(TB_KERNEL, 20, 60, 5),
		EVENT(TB_ANNOTATION, 90, 110, 6, .flags = TB_NCCL, .name = 1),    /* beyond the step */
	};
	struct tb_event other[] = {
		EVENT(TB_STEP, 0, 100, NO, .number = 0),
		EVENT(TB_ANNOTATION, 10, 14, 5, .flags = TB_NCCL, .name = 1),
		EVENT(TB_KERNEL, 50, 60, 5),
		EVENT(TB_ANNOTATION, 90, 95, 6, .flags = TB_NCCL, .name = 1),
	};
	struct tb_run runs[] = { run_of(one, 4), run_of(other, 4) };
	struct tb_job job = { .runs = runs, .n = 2 };
	struct tb_collectives all[2];
	const struct tb_part part = { .to = 2, .step = 0, .name = TB_NONE };
	enum tb_match how;

	runs[0].worker = "a";
	runs[1].worker = "b";
	CHECK_EQ(tb_collectives_make(&all[0], &runs[0]), 0);
	CHECK_EQ(tb_collectives_make(&all[1], &runs[1]), 0);
	CHECK_EQ(all[0].n, 2);
	CHECK_EQ(all[0].list[0].n, 2);
	CHECK_EQ(all[0].list[1].step, TB_NONE);
	CHECK_EQ(all[1].list[1].step, 0);
	CHECK_EQ(tb_match(all, &job, &how), 0);
	CHECK_EQ(how, TB_MATCHED);
	CHECK_EQ(tb_comm_time(&all[0], &runs[0], all[0].ranges, part), 42);
	CHECK_EQ(tb_comm_time(&all[0], &runs[0], all[0].transfers, part), 12);
	CHECK_EQ(tb_comm_time(&all[1], &runs[1], all[1].transfers, part), 17);
	tb_collectives_release(&all[0]);
	tb_collectives_release(&all[1]);
	runs[1].worker = "a";
	CHECK_EQ(tb_collectives_make(&all[0], &runs[0]), 0);
	all[1] = (struct tb_collectives){ 0 };
	CHECK_EQ(tb_match(all, &job, &how), 0);
	CHECK_EQ(how, TB_SAME_WORKER);
	runs[1].worker = "b";
	CHECK_EQ(tb_match(all, &job, &how), 0);
	CHECK_EQ(how, TB_DIFFERENT);
	tb_collectives_release(&all[0]);
	done(&runs[0]);
	done(&runs[1]);
}
