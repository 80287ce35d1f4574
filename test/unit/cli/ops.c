/* Operators: formulas for floating-point operations; sums of the reports over a small trace; the operators in a Kineto export. */
#include "cli/model/torch/flops.h"

#include "cli/export/export.h"
#include "cli/model/torch/torch.h"
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"
#include "trace/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers are what torch.utils.flop_counter of PyTorch 2.13 says of such inputs; -1: no number. */
static void check_flops(const char *name, const char *dims, int64_t want)
{
	uint64_t flops;

	CHECK_EQ(flops_of(flop_rule_of(name), dims, &flops) ? (int64_t)flops : -1, want);
}

TEST(flops_are_those_of_torch_utils_flop_counter)
{
	check_flops("aten::mm", "[[8, 16], [16, 4]]", 1024);
	check_flops("aten::addmm", "[[16], [8, 576], [576, 16], [], []]", 147456);
	check_flops("aten::bmm", "[[3, 8, 16], [3, 16, 4]]", 3072);
	check_flops("aten::baddbmm", "[[8, 4], [3, 8, 16], [3, 16, 4]]", 3072);
	check_flops("aten::_scaled_dot_product_flash_attention", "[[8, 2, 4, 8], [8, 2, 4, 8], [8, 2, 4, 8]]", 8192);
	/* Two heads of keys and values serve eight of queries. */
	check_flops("aten::_scaled_dot_product_efficient_attention", "[[1, 8, 5, 16], [1, 2, 7, 16], [1, 2, 7, 4], []]", 11200);
	check_flops("aten::_scaled_dot_product_flash_attention_backward", "[[8, 2, 4, 8], [8, 2, 4, 8], [8, 2, 4, 8], [8, 2, 4, 8]]",
		    20480);
}

TEST(shapes_that_do_not_fit_a_formula_have_no_flops)
{
	check_flops("aten::mm", "[[8, 16], [15, 4]]", -1);
	check_flops("aten::mm", "[[8, 16]]", -1);
	check_flops("aten::mm", "[[[8, 16], [16, 4]]]", -1);
	check_flops("aten::mm", "", -1);
	check_flops("aten::mm", "[[8, 16], [16, 4", -1);
	check_flops("aten::mm", "[[4294967296, 4294967296], [4294967296, 4]]", -1);
	check_flops("aten::bmm", "[[3, 8, 16], [2, 16, 4]]", -1);
	check_flops("aten::_scaled_dot_product_flash_attention", "[[8, 3, 4, 8], [8, 2, 4, 8], [8, 2, 4, 8]]", -1);
	check_flops("aten::add", "[[8, 16], [16, 4]]", -1);
	check_flops("mm", "[[8, 16], [16, 4]]", -1);
}

TEST(a_convolution_is_counted_by_the_points_of_its_output_or_if_transposed_of_its_input)
{
	static const char dims[] = "[[8, 8, 14, 14], [8, 4, 2, 2], [4], [], [], [], [], [], []]";
	const struct shape out = { 4, { 8, 4, 28, 28 } }, odd = { 3, { 8, 4, 28 } };
	uint64_t flops;

	CHECK(flops_of_convolution_into(dims, &out, true, &flops));
	CHECK_EQ(flops, 2ull * 8 * 14 * 14 * 8 * 4 * 2 * 2);
	CHECK(flops_of_convolution_into(dims, &out, false, &flops));
	CHECK_EQ(flops, 2ull * 8 * 28 * 28 * 8 * 4 * 2 * 2);
	CHECK(!flops_of_convolution_into(dims, &odd, false, &flops));
}

#define IMAGE "[[2, 4, 11, 14], [6, 4, 3, 2], [], [], [], [], [], [], []]"
#define IMAGE_BACK "[[2, 6, 9, 13], [2, 4, 11, 14], [6, 4, 3, 2], [], [], [], [], [], [], [], []]"
#define ONES "\"[1, 1]\", \"[0, 0]\", \"[1, 1]\", "
#define PER_POINT (2ll * 2 * 6 * 4 * 3 * 2)

static void check_convolution(const char *name, const char *dims, const char *values, int64_t want)
{
	uint64_t flops;

	CHECK_EQ(flops_of_convolution(flop_rule_of(name), dims, values, &flops) ? (int64_t)flops : -1, want);
}

TEST(a_convolution_is_counted_by_its_stride_padding_and_dilation)
{
	check_convolution("aten::convolution", IMAGE, "[\"\", \"\", \"\", " ONES "\"False\", \"[0, 0]\", \"1\"]", PER_POINT * 9 * 13);
	check_convolution("aten::_convolution", IMAGE,
			  "[\"\", \"\", \"\", \"[2, 3]\", \"[1, 2]\", \"[3, 1]\", \"False\", \"[0, 0]\", \"1\", \"False\"]", PER_POINT * 4 * 6);
	/* One number for all dimensions; another writer's blanks. */
	check_convolution("aten::convolution", IMAGE, "[\"\",\"\",\"\",\"[2]\",\"1\",\"[1,1]\",\"False\",\"[0]\",\"1\"]", PER_POINT * 6 * 8);
	check_convolution("aten::convolution", IMAGE, "[\"\", \"\", \"\", " ONES "\"True\", \"[0, 0]\", \"1\"]", PER_POINT * 11 * 14);
	/* cuDNN has padding first, and once had a bias before it; the slow one has the size of the filter, and no dilation. */
	check_convolution("aten::cudnn_convolution", IMAGE, "[\"\", \"\", \"[1, 0]\", \"[2, 2]\", \"[1, 1]\", \"1\", \"False\"]",
			  PER_POINT * 6 * 7);
	check_convolution("aten::cudnn_convolution", IMAGE, "[\"\", \"\", \"\", \"[1, 0]\", \"[2, 2]\", \"[1, 1]\", \"1\"]", PER_POINT * 6 * 7);
	check_convolution("aten::_slow_conv2d_forward", IMAGE, "[\"\", \"\", \"[3, 2]\", \"\", \"[2, 2]\", \"[1, 0]\"]", PER_POINT * 6 * 7);
}

TEST(a_convolutions_backward_pass_is_counted_by_the_gradients_that_it_made)
{
#define BACK "[\"\", \"\", \"\", \"[6]\", " ONES "\"False\", \"[0, 0]\", \"1\", "

	check_convolution("aten::convolution_backward", IMAGE_BACK, BACK "\"[True, True, True]\"]", PER_POINT * 9 * 13 * 2);
	check_convolution("aten::convolution_backward", IMAGE_BACK, BACK "\"[False, True, False]\"]", PER_POINT * 9 * 13);
	check_convolution("aten::convolution_backward", IMAGE_BACK, BACK "\"[False, False, True]\"]", 0);
	check_convolution("aten::convolution_backward", IMAGE_BACK, BACK "\"\"]", -1);
	check_convolution("aten::convolution_backward", IMAGE_BACK, "[\"\"]", -1);
}

TEST(a_convolution_whose_inputs_make_no_sense_has_no_flops)
{
	static const char *const wrong[] = {
		"", "[", "[]", "[\"", "[\"\", \"\", \"\", \"[1, 1", "[\"\\", "[1, 2, 3]", "False",
		"[\"\", \"\", \"\", \"[0, 1]\", \"[0, 0]\", \"[1, 1]\", \"False\"]", "[\"\", \"\", \"\", \"[1, 1, 1]\", \"[0, 0]\", \"[1, 1]\", \"False\"]",
		"[\"\", \"\", \"\", \"[1, 1]\", \"[0, -9]\", \"[1, 1]\", \"False\"]", "[\"\", \"\", \"\", \"[1, 1]\", \"[0, 0]\", \"[9, 9]\", \"False\"]",
		"[\"\", \"\", \"\", \"[1, 1]\", \"[0.5, 0]\", \"[1, 1]\", \"False\"]", "[\"\", \"\", \"\", " ONES "\"\"]",
		"[\"\", \"\", \"\", \"[1, 99999999999999999999]\", \"[0, 0]\", \"[1, 1]\", \"False\"]",
		"[\"\", \"\", \"\", \"[1, 1, 1, 1, 1, 1, 1, 1, 1]\", \"[0, 0]\", \"[1, 1]\", \"False\"]",
		"[\"\", \"\", \"\", \"[1, 1 \\\" 1]\", \"[0, 0]\", \"[1, 1]\", \"False\"]",
	};

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		check_convolution("aten::convolution", IMAGE, wrong[i], -1);
	check_convolution("aten::convolution", "[[2, 4], [6, 4]]", "[\"\", \"\", \"\", " ONES "\"False\"]", -1);
	check_convolution("aten::convolution", "[]", "[\"\", \"\", \"\", " ONES "\"False\"]", -1);
}

/* ---- the report ---- */

enum { TORCH = 1, LINEAR, ADDMM, NODE, MM, LAUNCH, KERNEL, SCOPE, DIMS, DIMS2, EVALUATE, FIRST, SECOND, PATHS, PATHS2 };

#define PUSHED(n) (1ull << 40 | (n))
#define RANGE(at, length, n, level, name) { T0 + (at), (length), PUSHED(n), 0, 1, 1, 1, 0, (name), 0, 0, (level), 0, -1 }
#define CALL(at, corr, range) { T0 + (at), 10, PUSHED(range), (corr), 1, LAUNCH, 2 << 16 | 211, 0, -1, 0, 0 }
#define RUN(at, length, corr) { T0 + (at), (length), 0, (corr), KERNEL, 0, 1, 7, 1, 0, 0 }

/* A scope around linear(addmm), and the backward pass of addmm, which is an mm. */
static struct model *make_ops(struct making *k, bool gpu)
{
	struct model *m;

	make_begin(k);
	ROWS(k, 0, process, { T0 + 1, T0 + 100000, 1, 100, 100, 1, 0, PROCESS_CONNECTED | PROCESS_ENDED });
	make_string(k, 1, TORCH, "PyTorch");
	make_string(k, 1, LINEAR, "aten::linear");
	make_string(k, 1, ADDMM, "aten::addmm");
	make_string(k, 1, NODE, "AddmmBackward0");
	make_string(k, 1, EVALUATE, "autograd::engine::evaluate_function: AddmmBackward0");
	make_string(k, 1, MM, "aten::mm");
	make_string(k, 1, LAUNCH, "cudaLaunchKernel_v7000");
	make_string(k, 1, KERNEL, "_Z4gemmPfS_S_");
	make_string(k, 1, SCOPE, "forward");
	make_string(k, 1, DIMS, "[[4], [8, 16], [16, 4], [], []]");
	make_string(k, 1, DIMS2, "[[4], [8, 32], [32, 4], [], []]");
	make_string(k, 1, FIRST, "Net_0 > Block_3 > Linear_12");
	make_string(k, 1, SECOND, "Net_0 > Linear_0");
	make_string(k, 1, PATHS2, ". > ?");
	make_string(k, 1, PATHS, ". > layers.3 > layers.3.out");
	make_thread(k, 1, 1, 100, "main");
	ROWS(k, 1, domain, { 1, TORCH });
	ROWS(k, 1, range, RANGE(0, 1000, 1, 0, SCOPE), RANGE(100, 800, 2, 1, LINEAR), RANGE(200, 500, 3, 2, ADDMM),
	     RANGE(2000, 500, 4, 0, EVALUATE), RANGE(2100, 300, 5, 1, NODE), RANGE(2200, 100, 6, 2, MM), RANGE(3000, 50, 7, 0, ADDMM));
	ROWS(k, 1, op, { PUSHED(2), 7, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0 }, { PUSHED(3), 7, 0, 1, 0, 0, DIMS, 0, 0, 0, 0, 0 },
	     { PUSHED(4), 7, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0 }, { PUSHED(5), 7, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0 }, { PUSHED(6), -1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0 },
	     { PUSHED(7), -1, 0, 1, 0, 0, DIMS2, 0, 0, 0, 0, 0 });
	ROWS(k, 1, modules, { PUSHED(2), FIRST, 0, PATHS, 0 }, { PUSHED(7), SECOND, 0, PATHS2, 0 }, { PUSHED(99), SECOND, 0, 0, 0 });
	if (gpu) {
		ROWS(k, 1, api, CALL(300, 1, 3), CALL(850, 2, 2), CALL(2250, 3, 6));
		ROWS(k, 1, kernel, RUN(5000, 100, 1), RUN(5100, 10, 2), RUN(5200, 200, 3));
	}
	make_end(k);
	m = model_open(k->path, NULL);
	CHECK(m != NULL);
	return m;
}

static void check_report(const char *name, bool gpu, const char *want)
{
	struct making k;
	struct model *m = make_ops(&k, gpu);
	char *text = report_text(m, name, TABLE_CSV, NULL, 0);

	CHECK_STR(strchr(text, '\n') + 1, want);
	free(text);
	model_close(m);
	unmake(&k);
}

/* mm has no shapes, so its operations are not known; those of addmm are 1024 and 2048. */
TEST(operators_add_up_by_name_with_what_is_inside_them)
{
	check_report("ops", false,
		     "35.5,550,35.5,550,275,,,,,2,300,,3072,5585454545,operator,aten::addmm\n"
		     "19.4,300,51.6,800,800,,,,,1,,,,,operator,aten::linear\n"
		     "12.9,200,19.4,300,300,,,,,1,,,,,backward,AddmmBackward0\n"
		     "12.9,200,32.3,500,500,,,,,1,,,,,operator,autograd::engine::evaluate_function: AddmmBackward0\n"
		     "12.9,200,64.5,1000,1000,,,,,1,,,,,user,forward\n"
		     "6.5,100,6.5,100,100,,,,,1,,,,,operator,aten::mm\n");
}

TEST(gpu_time_is_of_what_an_operator_or_one_inside_it_launched)
{
	check_report("ops", true,
		     "6.5,100,6.5,100,100,64.5,200,200,200,1,,,,,operator,aten::mm\n"
		     "35.5,550,35.5,550,275,32.3,100,100,50,2,300,200,3072,30720000000,operator,aten::addmm\n"
		     "19.4,300,51.6,800,800,3.2,10,110,110,1,,,,,operator,aten::linear\n"
		     "12.9,200,19.4,300,300,0.0,0,200,200,1,,,,,backward,AddmmBackward0\n"
		     "12.9,200,32.3,500,500,0.0,0,200,200,1,,,,,operator,autograd::engine::evaluate_function: AddmmBackward0\n"
		     "12.9,200,64.5,1000,1000,0.0,0,110,110,1,,,,,user,forward\n");
}

TEST(floating_point_operations_are_said_with_two_or_three_digits)
{
	struct making k;
	struct model *m = make_ops(&k, true);
	char *text = report_text(m, "ops", TABLE_TEXT, NULL, 0);

	CHECK(strstr(text, "\n  3.1 kFLOP in operators with known shapes: 30.7 GFLOP/s of their GPU time\n") != NULL);
	free(text);
	model_close(m);
	unmake(&k);
}

TEST(operators_are_told_apart_by_shape)
{
	check_report("ops_by_shape", false,
		     "32.3,500,32.3,500,500,,,,,1,300,,1024,2048000000,operator,aten::addmm,\"[[4], [8, 16], [16, 4], [], []]\"\n"
		     "19.4,300,51.6,800,800,,,,,1,,,,,operator,aten::linear,\n"
		     "12.9,200,19.4,300,300,,,,,1,,,,,backward,AddmmBackward0,\n"
		     "12.9,200,32.3,500,500,,,,,1,,,,,operator,autograd::engine::evaluate_function: AddmmBackward0,\n"
		     "12.9,200,64.5,1000,1000,,,,,1,,,,,user,forward,\n"
		     "6.5,100,6.5,100,100,,,,,1,,,,,operator,aten::mm,\n"
		     "3.2,50,3.2,50,50,,,,,1,,,2048,40960000000,operator,aten::addmm,\"[[4], [8, 32], [32, 4], [], []]\"\n");
}

TEST(an_autograd_node_belongs_to_the_last_operator_with_its_sequence_number)
{
	struct making k;
	struct model *m = make_ops(&k, false);
	const struct torch_ranges *t = model_torch(m);
	uint32_t *forwards = torch_forwards(m, t);

	CHECK_EQ(t->n, 7);
	for (size_t i = 0; i < t->n; i++)
		CHECK_EQ(forwards[i], i == 4 ? 2 : NO_TORCH);
	CHECK_EQ(t->list[2].parent, 1);
	CHECK_EQ(t->list[3].parent, NO_TORCH);
	free(forwards);
	model_close(m);
	unmake(&k);
}

/* ---- the export ---- */

static void check_line(const char *text, const char *want)
{
	if (!CHECK(strstr(text, want) != NULL))
		fprintf(stderr, "missing: %s\n", want);
}

static char *export_text(struct model *m)
{
	char *text = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&text, &n);
	struct out out;
	struct export x = { .format = &export_kineto, .m = m, .out = &out, .title = "x.json" };

	CHECK_EQ(out_init(&out, file), 0);
	CHECK_EQ(export_walk(&x), 0);
	export_release(&x);
	CHECK_EQ(out_finish(&out), 0);
	fclose(file);
	return text;
}

TEST(kineto_files_have_operators_their_numbers_arrows_and_scopes_on_streams)
{
	struct making k;
	struct model *m = make_ops(&k, true);
	char *text = export_text(m);

	check_line(text, "\"cat\": \"user_annotation\", \"name\": \"forward\", \"pid\": 100, \"tid\": 100, \"ts\": 80000000000.000, "
		   "\"dur\": 1.000, \"args\": {\"External id\": 1}}");
	check_line(text, "\"cat\": \"cpu_op\", \"name\": \"aten::addmm\", \"pid\": 100, \"tid\": 100, \"ts\": 80000000000.200, \"dur\": 0.500, "
		   "\"args\": {\"External id\": 3, \"Record function id\": 0, \"Sequence number\": 7, \"Fwd thread id\": 0, "
		   "\"Input Dims\": [[4], [8, 16], [16, 4], [], []]}}");
	check_line(text, "\"cat\": \"cpu_op\", \"name\": \"AddmmBackward0\", \"pid\": 100, \"tid\": 100, \"ts\": 80000000002.100, "
		   "\"dur\": 0.300, \"args\": {\"External id\": 5, \"Record function id\": 0, \"Sequence number\": 7, "
		   "\"Fwd thread id\": 1}}");
	check_line(text, "{\"ph\": \"s\", \"id\": 1, \"pid\": 100, \"tid\": 100, \"ts\": 80000000000.200, \"cat\": \"fwdbwd\", "
		   "\"name\": \"fwdbwd\"}");
	check_line(text, "{\"ph\": \"f\", \"bp\": \"e\", \"id\": 1, \"pid\": 100, \"tid\": 100, \"ts\": 80000000002.100, "
		   "\"cat\": \"fwdbwd\", \"name\": \"fwdbwd\"}");
	/* From the begin of the first to the end of the last kernel that was launched in it. */
	check_line(text, "\"cat\": \"gpu_user_annotation\", \"name\": \"forward\", \"pid\": 0, \"tid\": 7, \"ts\": 80000000005.000, "
		   "\"dur\": 0.110, \"args\": {\"External id\": 1}}");
	check_line(text, "\"cat\": \"kernel\", \"name\": \"gemm(float*, float*, float*)\", \"pid\": 0, \"tid\": 7, \"ts\": 80000000005.200, "
		   "\"dur\": 0.200, \"args\": {\"External id\": 6, ");
	free(text);
	model_close(m);
	unmake(&k);
}

TEST(modules_have_what_their_operators_and_those_of_the_backward_pass_cost)
{
	check_report("modules", true,
		     "100.0,850,0,110,0,300,200,0,,Net_0\n"
		     "94.1,800,0,110,0,300,200,0,layers.3,Net_0 > Block_3\n"
		     "94.1,800,800,110,110,300,200,1,layers.3.out,Net_0 > Block_3 > Linear_12\n"
		     "5.9,50,50,0,0,0,0,1,,Net_0 > Linear_0\n");
	check_report("modules:class", false,
		     "100.0,850,0,,,300,,0,,Net\n"
		     "94.1,800,0,,,300,,0,layers.3,Net > Block\n"
		     "94.1,800,800,,,300,,1,layers.3.out,Net > Block > Linear\n"
		     "5.9,50,50,,,0,,1,,Net > Linear\n");
}

/* Two threads launch into one stream in turn: what their scopes had run crosses. */
TEST(scopes_that_cross_on_a_stream_lie_on_tracks_beside_it)
{
	struct making k;
	struct model *m;
	char *text;

	make_begin(&k);
	ROWS(&k, 0, process, { T0 + 1, T0 + 100000, 1, 100, 100, 1, 0, PROCESS_CONNECTED | PROCESS_ENDED });
	make_string(&k, 1, TORCH, "PyTorch");
	make_string(&k, 1, LAUNCH, "cudaLaunchKernel_v7000");
	make_string(&k, 1, KERNEL, "_Z4gemmPfS_S_");
	make_string(&k, 1, SCOPE, "first");
	make_string(&k, 1, LINEAR, "second");
	make_thread(&k, 1, 1, 100, "main");
	make_thread(&k, 1, 2, 101, "");
	ROWS(&k, 1, domain, { 1, TORCH });
	ROWS(&k, 1, range, RANGE(0, 1000, 1, 0, SCOPE), { T0, 1000, 2ull << 40 | 1, 0, 2, 2, 1, 0, LINEAR, 0, 0, 0, 0, -1 });
	ROWS(&k, 1, api, CALL(100, 1, 1), { T0 + 110, 10, 2ull << 40 | 1, 2, 2, LAUNCH, 2 << 16 | 211, 0, -1, 0, 0 }, CALL(200, 3, 1),
	     { T0 + 210, 10, 2ull << 40 | 1, 4, 2, LAUNCH, 2 << 16 | 211, 0, -1, 0, 0 });
	ROWS(&k, 1, kernel, RUN(5000, 10, 1), RUN(5010, 10, 2), RUN(5020, 10, 3), RUN(5030, 10, 4));
	make_end(&k);
	m = model_open(k.path, NULL);
	text = export_text(m);
	check_line(text, "\"name\": \"first\", \"pid\": 0, \"tid\": 7, \"ts\": 80000000005.000, \"dur\": 0.030");
	check_line(text, "\"name\": \"second\", \"pid\": 0, \"tid\": 1500007, \"ts\": 80000000005.010, \"dur\": 0.030");
	check_line(text, "\"name\": \"stream 7 (ranges)\"");
	free(text);
	model_close(m);
	unmake(&k);
}
