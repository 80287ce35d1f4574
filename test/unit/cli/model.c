#include "cli/model/gpu/gpu.h"
#include "cli/model/join.h"
#include "cli/model/names.h"
#include "cli/model/process.h"
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"
#include "trace/error.h"
#include "trace/reader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static struct model *open_two(struct making *k)
{
	struct model *m;

	make_two_processes(k);
	m = model_open(k->path, NULL);
	CHECK(m != NULL);
	return m;
}

TEST(equal_texts_of_two_processes_have_one_id)
{
	struct making k;
	struct model *m = open_two(&k);
	const uint32_t *name = MODEL_U32(m, kernel, name), *process = model_row_process(m, ROW_kernel);

	CHECK_EQ(model_rows(m, ROW_kernel), 8);
	CHECK_EQ(process[4], 1);
	CHECK_EQ(process[5], 2);
	CHECK_EQ(name[0], name[5]);                     /* vecadd */
	CHECK_EQ(name[2], name[6]);                     /* gemm */
	CHECK_STR(model_string(m, name[7]), "?17");     /* its definition is lost */
	CHECK_STR(model_string(m, STRING_NONE), "");
	model_close(m);
	unmake(&k);
}

TEST(the_last_row_of_a_process_and_of_an_attribute_wins)
{
	struct making k;
	struct model *m = open_two(&k);
	uint32_t n;
	const struct process *p = model_processes(m, &n);

	CHECK_EQ(n, 3);
	CHECK_EQ(p[1].end, T0 + 10000);
	CHECK(p[1].flags & PROCESS_CLEAN);
	CHECK_STR(process_attribute(&p[1], "name"), "python3");
	CHECK_STR(model_attribute(m, "host"), "testhost");
	CHECK(process_attribute(&p[2], "name") == NULL);
	CHECK_EQ(model_process_at(m, 2), 2);
	CHECK_EQ(model_process_at(m, 77), 0);
	CHECK_EQ(model_process_rows(m, ROW_kernel, 1), 5);
	CHECK_EQ(model_process_rows(m, ROW_kernel, 2), 3);
	CHECK_EQ(model_process_rows(m, ROW_memset, 2), 0);
	CHECK(process_simulated(m, 1));
	CHECK(!process_simulated(m, 2));
	model_close(m);
	unmake(&k);
}

TEST(definitions_are_found_per_process)
{
	struct making k;
	struct model *m = open_two(&k);

	CHECK_EQ(model_config(m, 1, 1)->block_x, 256);
	CHECK(model_config(m, 2, 1) == NULL);
	CHECK(model_config(m, 1, 9) == NULL);
	CHECK_STR(model_string(m, model_device(m, 1, 0)->name), "Simulated GPU");
	CHECK_EQ(model_context(m, 1, 1)->null_stream, 7);
	CHECK_STR(model_string(m, model_domain(m, 1, 1)), "loader");
	CHECK_STR(model_string(m, model_domain(m, 1, 0)), "");
	CHECK_STR(model_string(m, model_domain(m, 2, 3)), "?3");
	CHECK_STR(model_thread(m, 1, 1)->name, "main");         /* a later row with the name replaced the first */
	CHECK_EQ(model_thread(m, 2, 1)->row.tid, 201);
	CHECK(model_thread(m, 2, 2) == NULL);
	model_close(m);
	unmake(&k);
}

TEST(calls_are_found_by_correlation_and_ranges_by_id)
{
	struct making k;
	struct model *m = open_two(&k);

	CHECK_EQ(model_api_of(m, 1, 11), 0);
	CHECK_EQ(model_api_of(m, 1, 14), 3);
	CHECK_EQ(model_api_of(m, 2, 12), 5);
	CHECK(model_api_of(m, 2, 14) == NO_ROW);
	CHECK(model_api_of(m, 1, 0) == NO_ROW);
	CHECK_EQ(model_range_of(m, 1, 1ull << 40 | 2), 0);
	CHECK_EQ(model_range_of(m, 2, 1ull << 40 | 1), 4);
	CHECK(model_range_of(m, 2, 1ull << 40 | 2) == NO_ROW);
	model_close(m);
	unmake(&k);
}

TEST(correlation_ids_far_apart_are_found_too)
{
	struct making k;
	struct model *m;

	make_begin(&k);
	ROWS(&k, 1, api, { T0, 1, 0, 4294967290, 1, 0, 0, 0, -1, 0, 0 }, { T0 + 5, 1, 0, 3, 1, 0, 0, 0, -1, 0, 0 });
	make_end(&k);
	m = model_open(k.path, NULL);
	CHECK_EQ(model_api_of(m, 1, 4294967290), 0);
	CHECK_EQ(model_api_of(m, 1, 3), 1);
	CHECK(model_api_of(m, 1, 4) == NO_ROW);
	model_close(m);
	unmake(&k);
}

TEST(ranges_are_found_however_far_apart_their_ids_are)
{
	enum { N = 8 };
	static const uint64_t ids[N] = { 1ull << 40 | 1, 7ull << 40 | 3, 5, UINT64_MAX, 1ull << 40 | 0xffffffffff, 1ull << 40 | 2,
		2ull << 40, 0xffffffull << 40 };
	struct range_row rows[N];
	struct making k;
	struct model *m;

	make_begin(&k);
	for (size_t i = 0; i < N; i++)
		rows[i] = (struct range_row){ .start = T0, .duration = 1, .id = ids[i], .thread = 1 };
	make_rows(&k, 1, ROW_range, rows, N);
	make_end(&k);
	m = model_open(k.path, NULL);
	for (size_t i = 0; i < N; i++)
		CHECK_EQ(model_range_of(m, 1, ids[i]), i);
	CHECK(model_range_of(m, 1, 1ull << 40 | 3) == NO_ROW);
	CHECK(model_range_of(m, 1, 0) == NO_ROW);
	CHECK(model_range_of(m, 1, 4) == NO_ROW);
	CHECK(model_range_of(m, 1, UINT64_MAX - 1) == NO_ROW);
	CHECK(model_range_of(m, 0, 5) == NO_ROW);
	model_close(m);
	unmake(&k);
}

TEST(each_range_knows_the_one_around_it)
{
	struct making k;
	struct model *m;
	uint32_t *up;

	make_begin(&k);
	/* written as they end: inner first.  a(b(c) d), then e on its own, f on another thread, g a start/end range */
	ROWS(&k, 1, range,
	     { T0 + 100, 10, 3, 0, 1, 1, 0, 0, 0, 0, 0, 2, 0, -1 },                     /* c */
	     { T0 + 100, 50, 2, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, -1 },                     /* b, begins with c and a */
	     { T0 + 200, 50, 4, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, -1 },                     /* d */
	     { T0 + 100, 200, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, -1 },                    /* a */
	     { T0 + 400, 10, 5, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, -1 },                     /* e */
	     { T0 + 120, 10, 2ull << 40 | 1, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, -1 },        /* f */
	     { T0 + 110, 10, 6, 0, 1, 1, 0, 0, 0, 0, 0, 1, RANGE_STARTEND, -1 });       /* g */
	make_end(&k);
	m = model_open(k.path, NULL);
	up = model_range_parents(m);
	CHECK(up != NULL);
	CHECK_EQ(up[0], 1);
	CHECK_EQ(up[1], 3);
	CHECK_EQ(up[2], 3);
	for (size_t i = 3; i < 7; i++)
		CHECK_EQ(up[i], UINT32_MAX);
	free(up);
	model_close(m);
	unmake(&k);
}

TEST(a_gpu_is_busy_for_the_union_of_its_rows)
{
	struct making k;
	struct model *m = open_two(&k);
	struct gpu *g;

	CHECK_EQ(model_gpus(m, &g), 2);
	/* 2000..2300, 2600..2650, 3000..4400 (with 4000..4400 following 3000..4000), 5000..5150, 5200..5450,
	 * 6000..6025 */
	CHECK_EQ(g[0].process, 1);
	CHECK_EQ(g[0].rows, 9);
	CHECK_EQ(g[0].untimed, 1);
	CHECK_EQ(g[0].first, T0 + 2000);
	CHECK_EQ(g[0].last, T0 + 6025);
	CHECK_EQ(g[0].busy, 300 + 50 + 1400 + 150 + 250 + 25);
	CHECK_EQ(g[1].busy, 3300 + 50);
	free(g);
	model_close(m);
	unmake(&k);
}

TEST(processes_that_share_a_gpu_are_one_entry)
{
	struct making k;
	struct model *m;
	struct gpu *g;

	make_begin(&k);
	for (uint32_t process = 1; process <= 2; process++) {
		ROWS(&k, process, device, { .id = process - 1, .uuid_high = 5, .uuid_low = 6 });
		ROWS(&k, process, kernel, { T0 + 100 * process, 150, 0, 1, 0, process - 1, 1, 7, 0, 0, 0 });
	}
	make_end(&k);
	m = model_open(k.path, NULL);
	CHECK_EQ(model_gpus(m, &g), 1);
	CHECK_EQ(g[0].processes, 2);
	CHECK_EQ(g[0].busy, 250);
	free(g);
	model_close(m);
	unmake(&k);
}

TEST(a_string_id_far_above_the_others_keeps_its_text_when_smaller_ones_follow)
{
	struct making k;
	struct model *m;

	make_begin(&k);
	make_string(&k, 1, 1030, "first");
	make_string(&k, 1, 1040, "far");        /* more than 4 * 3 + 1024 */
	make_string(&k, 1, 1035, "later");
	m = make_model(&k);
	CHECK_STR(model_file_string(m, 1, 1030), "first");
	CHECK_STR(model_file_string(m, 1, 1040), "far");
	CHECK_STR(model_file_string(m, 1, 1035), "later");
	CHECK_STR(model_file_string(m, 1, 1041), "?1041");
	unmake_model(&k, m);
}

TEST(rows_of_a_damaged_chunk_are_not_there_and_the_others_are)
{
	static const char text[] = "cudaLaunchKernel_v7000";
	struct making k;
	struct model *m;
	const int64_t *start;
	char byte;
	int fd;

	make_begin(&k);
	make_string(&k, 1, 1, text);
	for (uint32_t i = 0; i < 3; i++) {
		struct kernel_row rows[100] = { { 0 } };

		for (uint32_t j = 0; j < 100; j++)
			rows[j] = (struct kernel_row){
				.start = T0 + 1000 * i + j * j, .duration = 3 + i, .name = 1, .corr = j * 7
			};
		make_rows(&k, 1, ROW_kernel, rows, 100);
	}
	make_end(&k);
	/* One byte in the middle of the second kernel chunk. */
	m = model_open(k.path, NULL);
	uint64_t at = model_trace(m)->chunks[2].offset + sizeof(struct chunk_header) +
		      model_trace(m)->chunks[2].head.stored / 2;

	model_close(m);
	fd = open(k.path, O_RDWR);
	CHECK_EQ(pread(fd, &byte, 1, (off_t)at), 1);
	byte ^= 0x55;
	CHECK_EQ(pwrite(fd, &byte, 1, (off_t)at), 1);
	close(fd);
	m = model_open(k.path, NULL);
	start = MODEL_I64(m, kernel, start);
	CHECK_EQ(model_rows(m, ROW_kernel), 200);
	CHECK_EQ(start[0], T0);
	CHECK_EQ(start[100], T0 + 2000);
	CHECK_STR(model_damage(m, 0), "chunk of 100 kernel rows of process 1");
	CHECK(model_damage(m, 1) == NULL);
	CHECK_EQ(MODEL_I64(m, kernel, duration)[199], 5);
	model_close(m);
	unmake(&k);
}

static int count_rows(const struct batch *b, void *state)
{
	*(size_t *)state += b->n;
	return 0;
}

TEST(a_pass_meets_every_row_once_on_one_thread_or_two)
{
	enum { CHUNKS = 64, ROWS_EACH = 4000 };
	static struct api_row rows[ROWS_EACH];
	static const unsigned fields[] = { COL_api_start };
	size_t seen[MODEL_WORKERS] = { 0 };
	void *const states[MODEL_WORKERS] = { &seen[0], &seen[1] };
	struct making k;
	struct model *m;

	make_begin(&k);
	for (int i = 0; i < CHUNKS; i++)
		make_rows(&k, 1 + (uint32_t)i % 3, ROW_api, rows, ROWS_EACH);
	make_end(&k);
	m = model_open(k.path, NULL);
	CHECK_EQ(model_scan(m, ROW_api, fields, 1, count_rows, states), 0);
	CHECK_EQ(seen[0] + seen[1], CHUNKS * ROWS_EACH);
	CHECK(MODEL_I64(m, api, start) != NULL);
	CHECK_EQ(model_rows(m, ROW_api), CHUNKS * ROWS_EACH);
	model_close(m);
	unmake(&k);
}

TEST(an_open_that_fails_says_why)
{
	struct trace_error err = { 0 };

	CHECK(model_open("/nowhere/at/all.gtrace", &err) == NULL);
	CHECK_STR(err.text, "cannot open '/nowhere/at/all.gtrace': No such file or directory; name an existing trace");
}

static void check_base(const char *demangled, const char *base, const char *plain)
{
	char got[256];

	name_base(demangled, got, sizeof got);
	CHECK_STR(got, base);
	name_plain(demangled, got, sizeof got);
	CHECK_STR(got, plain);
}

TEST(kernel_names_are_cut_to_what_people_call_them)
{
	check_base("vecadd", "vecadd", "vecadd");
	check_base("vecadd(float*, int)", "vecadd", "vecadd");
	check_base("void at::native::foo<int, std::array<char*, 2ul> >(int, X<float>)", "foo",
		   "at::native::foo<int, std::array<char*, 2ul> >");
	check_base("void ns::(anonymous namespace)::k<(ns::E)3>(ns::T)", "k", "ns::(anonymous namespace)::k<(ns::E)3>");
	check_base("void f<g<int>()::{lambda(int)#1}>(int)", "f", "f<g<int>()::{lambda(int)#1}>");
	check_base("S::operator()(int) const", "operator()", "S::operator()");
	check_base("unsigned int ns::h<&(ns::q(int))>(int)", "h", "ns::h<&(ns::q(int))>");
	check_base("", "", "");
	check_base("ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn");
}

/* A list for each thread as long as its deepest level would be 1.5 GB. */
TEST(ranges_at_deep_levels_of_many_threads_take_little_memory)
{
	enum { THREADS = 3000, DEEP = 65535 };
	static struct range_row rows[2 * THREADS];
	struct rusage before, after;
	struct making k;
	struct model *m;
	uint32_t *up;

	for (uint32_t i = 0; i < THREADS; i++) {
		rows[2 * i] = (struct range_row){ .start = T0 + 10 * i, .duration = 8, .id = 2 * i + 1, .thread = i + 1, .level = DEEP - 1 };
		rows[2 * i + 1] = (struct range_row){ .start = T0 + 10 * i + 1, .duration = 2, .id = 2 * i + 2, .thread = i + 1, .level = DEEP };
	}
	make_begin(&k);
	make_rows(&k, 1, ROW_range, rows, 2 * THREADS);
	m = make_model(&k);
	getrusage(RUSAGE_SELF, &before);
	up = model_range_parents(m);
	getrusage(RUSAGE_SELF, &after);
	CHECK(after.ru_maxrss - before.ru_maxrss < 200 << 10);
	for (uint32_t i = 0; up && i < THREADS; i++)
		if (!CHECK(up[2 * i] == UINT32_MAX && up[2 * i + 1] == 2 * i))
			break;
	free(up);
	unmake_model(&k, m);
}
