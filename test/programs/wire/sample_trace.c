/*
 * sample_trace OUT one|ranks|steps|loop|marks|empty: writes a small trace with cases that are difficult for reports and exports, and prints
 * its content, for comparison.  Uses only trace/file.h, so tests of gprof-trace do not depend on recording.
 */
#include "trace/file.h"
#include "trace/wire.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define T0 1700000000123456789ll

static struct writer *writer;
static uint32_t process;                /* the process of the rows that are written */

/* Times below are microseconds after T0. */
static void to_ns(const struct record *r, char *row)
{
	for (unsigned i = 0; i < r->n_fields; i++) {
		const struct field *f = &r->fields[i];
		int64_t v = (int64_t)field_load(f, row);

		if ((f->unit == UNIT_TIME || f->unit == UNIT_GTIME) && v)
			field_store(f, row, (uint64_t)(T0 + (v - T0) * 1000));
		if (f->unit == UNIT_SPAN || f->unit == UNIT_GSPAN)
			field_store(f, row, (uint64_t)v * 1000);
	}
}

static void put(unsigned kind, const void *rows, size_t n, const char *tail)
{
	const struct record *r = record_by_kind(kind);
	struct trace_error err = { 0 };
	static char copy[4096];

	memcpy(copy, rows, n * r->size);
	for (size_t i = 0; i < n; i++)
		to_ns(r, copy + i * r->size);
	if (writer_rows(writer, process, CLOCK_MONO, r, copy, n, (const uint8_t *)tail, tail ? strlen(tail) : 0,
			&err) == 0)
		return;
	fprintf(stderr, "sample_trace: %s\n", err.text);
	exit(1);
}

#define ROWS(rec, ...) do {                                                     \
	const struct rec##_row rows_[] = { __VA_ARGS__ };                       \
	put(ROW_##rec, rows_, sizeof rows_ / sizeof *rows_, NULL);              \
} while (0)

static void string(uint32_t id, const char *text)
{
	put(ROW_string, &(struct string_row){ id, (uint32_t)strlen(text) }, 1, text);
}

static void thread(uint32_t id, uint32_t tid, const char *name)
{
	put(ROW_thread, &(struct thread_row){ T0, id, tid, 0, (uint32_t)strlen(name) }, 1, name);
}

static void attribute(const char *text)
{
	put(ROW_attribute, &(struct attribute_row){ process, (uint32_t)strlen(text) }, 1, text);
}

static void describe(uint32_t number, uint32_t pid, uint32_t parent, uint32_t flags)
{
	process = 0;
	ROWS(process, { T0 + number, T0 + 100000 + number, number, pid, pid, 1, parent,
			flags | PROCESS_CONNECTED | PROCESS_ENDED });
	process = number;
}

enum { LAUNCH = 1, GRAPH, WAIT, VECADD, ODD, STEP, FORWARD, DOMAIN_MODEL, PHASE, CROSSING, OPEN, MARK, GPU, COPY };

static void names(void)
{
	string(LAUNCH, "cudaLaunchKernel_v7000");
	string(GRAPH, "cudaGraphLaunch_v10000");
	string(WAIT, "cudaDeviceSynchronize_v3020");
	string(COPY, "cudaMemcpyAsync_v3020");
	string(VECADD, "_Z6vecaddPfS_i");
	string(ODD, "odd \"name\" \\ gr\xc3\xbc\xc3\x9f" "e \xff\n");
	string(STEP, "training_step");
	string(FORWARD, "forward, pass");
	string(DOMAIN_MODEL, "model");
	string(PHASE, "phase");
	string(CROSSING, "crossing");
	string(OPEN, "open at the end");
	string(MARK, "here");
	string(GPU, "Simulated GPU");
}

static void gpu(void)
{
	ROWS(device, { .uuid_high = process,
		       .uuid_low = 1,
		       .memory = 1ull << 34,
		       .id = 0,
		       .name = GPU,
		       .sm_count = 80,
		       .cc_major = 9,
		       .warp = 32,
		       .max_threads_block = 1024,
		       .max_warps_sm = 64 });
	ROWS(context, { .id = 1, .device = 0, .null_stream = 7, .api = 1 });
	ROWS(config, { .id = 1,
		       .grid_x = 100,
		       .grid_y = 2,
		       .grid_z = 1,
		       .block_x = 256,
		       .block_y = 1,
		       .block_z = 1,
		       .registers = 40,
		       .static_shared = 1024 });
}

#define RANGE(n) ((1ull << 40) | (n))

/* Two steps with a phase in each; a range that crosses them; one still open at the end, before a call that never
 * returned. */
static void host_rows(void)
{
	ROWS(domain, { 1, DOMAIN_MODEL });
	ROWS(category, { 1, 3, PHASE, 0 });
	ROWS(range,
	     { T0 + 1000, 500, RANGE(2), 42, 1, 1, 1, 3, FORWARD, 0xff00ff00, 1, 1, 0, -1 },
	     { T0 + 1000, 1000, RANGE(1), 0, 1, 1, 0, 0, STEP, 0, 0, 0, 0, -1 },
	     { T0 + 3000, 500, RANGE(4), 0, 1, 1, 1, 3, FORWARD, 0, 0, 1, 0, -1 },
	     { T0 + 3000, 1001, RANGE(3), 0, 1, 1, 0, 0, STEP, 0, 0, 0, 0, -1 },
	     { T0 + 1400, 2000, RANGE(5), 0, 1, 2, 0, 0, CROSSING, 0, 0, 0, RANGE_STARTEND, -1 },
	     { T0 + 5000, 10, RANGE(6), 0, 1, 1, 0, 0, OPEN, 0, 0, 0, RANGE_INCOMPLETE, -1 });
	ROWS(mark, { T0 + 1450, 0, RANGE(2), 1, 0, 0, MARK, 0, 0 });
	ROWS(api,
	     { T0 + 1100, 50, RANGE(2), 1, 1, LAUNCH, 2 << 16 | 211, 0, -1, 0, 0 },
	     { T0 + 1200, 60, RANGE(2), 2, 1, LAUNCH, 2 << 16 | 211, 0, -1, 0, 0 },
	     { T0 + 1600, 40, RANGE(1), 3, 1, GRAPH, 2 << 16 | 311, 0, -1, 0, 0 },
	     { T0 + 3100, 70, RANGE(4), 4, 1, COPY, 2 << 16 | 41, 0, -1, 0, 0 },
	     { T0 + 3200, 30, RANGE(4), 5, 1, COPY, 2 << 16 | 41, 700, -1, 0, 0 },
	     { T0 + 3900, 20, 0, 6, 2, LAUNCH, 2 << 16 | 211, 0, -1, 0, 0 },
	     { T0 + 5100, 300, RANGE(6), 7, 1, LAUNCH, 2 << 16 | 211, 0, -1, 0, 0 },
	     { T0 + 5500, 100, RANGE(6), 8, 1, WAIT, 2 << 16 | 165, 0, -1, 0, 1 });
}

/* A graph of three kernels, kernels of one stream that overlap, one without a time, one whose call is not in the
 * trace. */
static void gpu_rows(void)
{
	ROWS(kernel,
	     { T0 + 2000, 300, 0, 1, VECADD, 0, 1, 7, 1, 0, 0 },
	     { T0 + 2200, 300, 0, 2, ODD, 0, 1, 7, 1, 0, 0 },
	     { T0 + 2400, 900, 0, 2, ODD, 0, 1, 7, 1, 0, 0 },
	     { T0 + 4000, 100, 11, 3, VECADD, 0, 1, 13, 1, 5, 0 },
	     { T0 + 4100, 100, 12, 3, VECADD, 0, 1, 13, 1, 5, 0 },
	     { T0 + 4200, 100, 13, 3, ODD, 0, 1, 13, 1, 5, 0 },
	     { 0, 0, 0, 6, VECADD, 0, 1, 7, 1, 0, 0 },
	     { T0 + 9000, 77, 0, 999, VECADD, 0, 1, 7, 2, 0, 0 });
	ROWS(memcpy,
	     { T0 + 5000, 200, 1 << 20, 0, 4, 0, 1, 7, 1, 1, 3, MEMCPY_ASYNC, 0, 0, 0, 1 },
	     { T0 + 5300, 0, 10, 0, 5, 0, 1, 7, 10, 3, 3, MEMCPY_ASYNC | MEMCPY_PEER, 0, 1, 0, 1 });
	ROWS(memset, { T0 + 5400, 16, 4096, 0, 7, 0, 1, 7, 0, 3, 0, 0 });
	ROWS(sync,
	     { T0 + 5500, 90, 8, 1, STREAM_NONE, STREAM_NONE, 4, 0 },
	     { T0 + 2050, 200, 2, 1, 7, STREAM_NONE, 3, 0 });
	ROWS(overhead, { T0 + 900, 50, 4 << 16, 2, 4242, 0 }, { T0 + 920, 50, 1 << 16, 2, 4242, 0 });
}

static void cuda_process(uint32_t number, uint32_t pid, uint32_t parent)
{
	describe(number, pid, parent, PROCESS_CUDA | PROCESS_CUPTI | PROCESS_KERNELS | PROCESS_NVTX);
	names();
	thread(1, pid, "main");
	thread(2, pid + 1, "loader");
	gpu();
	host_rows();
	gpu_rows();
	attribute("name=train \"x\".py");
	attribute("cupti.version=130001");
}

static void one(void)
{
	cuda_process(1, 4242, 0);
	puts("calls 8\nannotations 6\nsteps 2\nkernels 7\nuntimed 1\ncopies 2\nsets 1\nwaits 2\noverhead 2\nmarks "
	     "1\nflows 9\nintervals 1");
}

/* Four processes: a launcher with a range, two ranks with CUDA, and a child of the second rank with a range. */
static void ranks(void)
{
	describe(1, 100, 0, PROCESS_NVTX);
	string(1, "launch");
	thread(1, 100, "");
	ROWS(range, { T0 + 10, 90000, RANGE(1), 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, -1 });
	for (uint32_t rank = 0; rank < 2; rank++) {
		char text[32];

		cuda_process(2 + rank, 200 + 10 * rank, 1);
		snprintf(text, sizeof text, "rank=%u", rank);
		attribute(text);
		attribute("world_size=2");
	}
	describe(4, 230, 3, PROCESS_NVTX);
	string(1, "load");
	thread(1, 230, "pt_data_worker");
	ROWS(range, { T0 + 2000, 300, RANGE(1), 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, -1 });
}

/* Ranges that are no steps: reports use one step around everything. */
static void steps(void)
{
	describe(1, 4242, 0, PROCESS_CUDA | PROCESS_CUPTI | PROCESS_NVTX);
	string(1, "work");
	string(2, "cudaLaunchKernel_v7000");
	string(3, "k");
	thread(1, 4242, "main");
	ROWS(range, { T0 + 1000, 100, RANGE(1), 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, -1 });
	ROWS(api, { T0 + 1010, 10, RANGE(1), 1, 1, 2, 2 << 16 | 211, 0, -1, 0, 0 });
	ROWS(kernel, { T0 + 5000, 1000, 0, 1, 3, 0, 1, 7, 1, 0, 0 });
}

enum { TRAIN = 20, VAL, GEMM, NCCL, STEP_0, MOST_STEPS = 10 };

/*
 * One step: two overlapping kernels (100 and 200 us, 250 us together), then a communication kernel (300 us), and a copy of 300 us that
 * overlaps it by 150 us: busy 700 us of 700 us.
 */
static void loop_step(uint32_t kind, uint32_t number, int64_t at, int64_t wall, uint32_t window, uint32_t corr)
{
	ROWS(step, { T0 + at, wall, 0, number, kind, kind == TRAIN ? STEP_0 + number : 0, 0, 1, window, window ? corr : 0,
		     window ? corr + 4 : 0, 100, window ? 0 : STEP_WARMUP });
	if (!window)
		return;
	for (uint32_t i = 0; i < 4; i++)
		ROWS(api, { T0 + at + 10 * i, 5, 0, corr + i, 1, i == 3 ? COPY : LAUNCH, 2 << 16 | 211, 0, -1, 0, 0 });
	ROWS(kernel, { T0 + at + 2000, 100, 0, corr, GEMM, 0, 1, 7, 1, 0, 0 }, { T0 + at + 2050, 200, 0, corr + 1, GEMM, 0, 1, 13, 1, 0, 0 },
	     { T0 + at + 2250, 300, 0, corr + 2, NCCL, 0, 1, 7, 1, 0, 0 });
	ROWS(memcpy, { T0 + at + 2400, 300, 1 << 20, 0, corr + 3, 0, 1, 14, 1, 1, 3, MEMCPY_ASYNC, 0, 0, 0, 1 });
}

/* Ten steps of training, two of them warm-up, the eighth slow on the host; two of validation; two windows. */
static void loop(void)
{
	describe(1, 4242, 0, PROCESS_CUDA | PROCESS_CUPTI | PROCESS_KERNELS | PROCESS_NVTX);
	names();
	string(TRAIN, "train");
	string(VAL, "val");
	string(GEMM, "gemm");
	string(NCCL, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	thread(1, 4242, "main");
	gpu();
	for (uint32_t n = 0; n < MOST_STEPS; n++) {
		char name[16];

		snprintf(name, sizeof name, "batch %u", n + 100);
		string(STEP_0 + n, name);
		loop_step(TRAIN, n, 10000 + n * 6000, n == 7 ? 5000 : 1000, n < 2 ? 0 : n < 6 ? 1 : 2, n * 10 + 1);
	}
	loop_step(VAL, 0, 100000, 1000, 2, 201);
	loop_step(VAL, 1, 102000, 1000, 2, 211);
	/* before the first step, and after the last */
	ROWS(api, { T0 + 21950, 5, 0, 20, 1, LAUNCH, 2 << 16 | 211, 0, -1, 0, 0 }, { T0 + 110000, 5, 0, 300, 1, LAUNCH, 2 << 16 | 211, 0, -1, 0, 0 });
	ROWS(kernel, { T0 + 22100, 7, 0, 20, GEMM, 0, 1, 7, 1, 0, 0 });
	ROWS(window, { T0 + 21900, 30000, 1, 20, 56, 4, 0, 0 }, { T0 + 46000, 65000, 2, 61, 301, 4, 0, WINDOW_INCOMPLETE });
	puts("steps 10\nkernels 31");
}

/* Marks begin steps in the middle of ranges. */
static void marks(void)
{
	describe(1, 4242, 0, PROCESS_CUDA | PROCESS_CUPTI | PROCESS_NVTX);
	names();
	string(STEP_0, "step 0");
	string(STEP_0 + 1, "step 1");
	string(STEP_0 + 2, "step 2");
	thread(1, 4242, "main");
	ROWS(range, { T0 + 500, 1000, RANGE(1), 0, 1, 1, 0, 0, FORWARD, 0, 0, 0, 0, -1 });
	ROWS(mark, { T0 + 1000, 0, RANGE(1), 1, 0, 0, STEP_0, 0, 0 }, { T0 + 2000, 0, 0, 1, 0, 0, STEP_0 + 1, 0, 0 },
	     { T0 + 3000, 0, 0, 1, 0, 0, STEP_0 + 2, 0, 0 });
	ROWS(api, { T0 + 1990, 20, 0, 1, 1, LAUNCH, 2 << 16 | 211, 0, -1, 0, 0 });
}

static void nothing(void)
{
	describe(1, 4242, 0, PROCESS_PRELOADED);
	attribute("name=true");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(void);
	} kinds[] = { { "one", one }, { "ranks", ranks }, { "steps", steps },
		    { "loop", loop }, { "marks", marks }, { "empty", nothing } };
	const size_t n_kinds = sizeof kinds / sizeof *kinds;
	const struct file_header header = {
		.session = 0x5a3b1e, .start_real = T0, .start_mono = 1, .host = "testhost"
	};
	int fd = argc == 3 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	size_t i = 0;

	while (i < n_kinds && fd >= 0 && strcmp(kinds[i].name, argv[2]) != 0)
		i++;
	if (fd < 0 || i == n_kinds || !(writer = writer_new(fd, &header, NULL))) {
		fprintf(stderr, "usage: sample_trace OUT one|ranks|steps|loop|marks|empty\n");
		return 2;
	}
	process = 0;
	attribute("command=python train.py");
	kinds[i].make();
	return writer_finish(writer, NULL) < 0;
}
