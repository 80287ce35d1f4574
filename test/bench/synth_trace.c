/*
 * synth_trace OUT KERNELS: writes a trace as a training job leaves it, through the real writer: per kernel one launch on the host, some
 * copies, a range for each layer and each step, forty kernel names, two streams.  The same bytes for the same count.
 * Prints rows for `make bench`: how fast that was, and how many bytes a row takes.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trace/clock.h"
#include "trace/file.h"
#include "trace/wire.h"

#define CHUNK_ROWS 16384        /* about 1 MiB of kernel rows, as the collector writes them */
#define NAMES      40
#define LAYER      12           /* kernels in a layer's range */
#define STEP       600          /* kernels in a step */
#define PROCESS    1

struct synth {
	struct writer *w;
	struct trace_error err;
	uint64_t random;
	int64_t gpu, cpu;               /* ns; where the GPU and the launching thread are */
	uint64_t bytes_kernel, bytes_api;
	struct kernel_row kernels[CHUNK_ROWS];
	struct api_row api[CHUNK_ROWS];
	struct memcpy_row copies[CHUNK_ROWS];
	struct range_row ranges[CHUNK_ROWS];
	size_t n_kernels, n_api, n_copies, n_ranges;
	uint64_t range_id;
	int64_t layer_start, step_start;
};

static const int64_t start_real = 1700000000000000000, start_mono = 1000000000000;

static uint64_t dice(struct synth *s, uint64_t n)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random % n;
}

static void put(struct synth *s, unsigned clock, unsigned kind, const void *rows, size_t n, const void *tails,
		size_t tail_bytes)
{
	if (n && writer_rows(s->w, PROCESS, clock, record_by_kind(kind), rows, n, tails, tail_bytes, &s->err) < 0) {
		fprintf(stderr, "synth_trace: %s\n", s->err.text);
		exit(1);
	}
}

static void put_clock(struct synth *s)
{
	struct clock_row row = { .mono = s->cpu - start_real + start_mono, .real = s->cpu };

	if (writer_rows(s->w, 0, CLOCK_MONO, record_by_kind(ROW_clock), &row, 1, NULL, 0, &s->err) < 0)
		exit(1);
}

static void flush(struct synth *s)
{
	uint64_t before = writer_size(s->w);

	put(s, CLOCK_REAL, ROW_kernel, s->kernels, s->n_kernels, NULL, 0);
	s->bytes_kernel += writer_size(s->w) - before;
	before = writer_size(s->w);
	put(s, CLOCK_MONO, ROW_api, s->api, s->n_api, NULL, 0);
	s->bytes_api += writer_size(s->w) - before;
	put(s, CLOCK_REAL, ROW_memcpy, s->copies, s->n_copies, NULL, 0);
	put(s, CLOCK_MONO, ROW_range, s->ranges, s->n_ranges, NULL, 0);
	put_clock(s);
	s->n_kernels = s->n_api = s->n_copies = s->n_ranges = 0;
}

static int64_t mono(int64_t real)
{
	return real - start_real + start_mono;
}

static void add_range(struct synth *s, int64_t start, uint32_t name, uint32_t level)
{
	s->ranges[s->n_ranges++] = (struct range_row){ .start = mono(start), .duration = s->cpu - start, .name = name, .thread = 1,
		.id = (uint64_t)1 << 40 | ++s->range_id, .level = level, .step = -1 };
}

/* One launch and the kernel it causes; the GPU runs behind the host and is sometimes idle. */
static void add_kernel(struct synth *s, uint64_t i)
{
	uint32_t name = (uint32_t)(1 + i % STEP * 7 % NAMES), corr = (uint32_t)(i + 1);
	int64_t call = 3500 + (int64_t)dice(s, 1500), length = 1500 + (int64_t)name * 300 + (int64_t)dice(s, 400);

	s->api[s->n_api++] = (struct api_row){ .start = mono(s->cpu), .duration = call, .corr = corr, .thread = 1, .name = NAMES + 1,
		.cbid = 2u << 16 | 211, .step = -1, .range = (uint64_t)1 << 40 | (s->range_id + 1) };
	s->cpu += call + 600 + (int64_t)dice(s, 800);
	if (s->gpu < s->cpu + 2000)
		s->gpu = s->cpu + 2000;
	s->kernels[s->n_kernels++] = (struct kernel_row){ .start = s->gpu, .duration = length, .corr = corr, .name = name,
		.context = 1, .stream = i % 50 ? 7 : 13, .config = 1 + name % 8 };
	s->gpu += length + 800 + (int64_t)dice(s, 300);
	if (s->cpu < s->gpu - 4000000)          /* a full launch queue blocks the host */
		s->cpu = s->gpu - 4000000;
	if (i % 50 == 49)
		s->copies[s->n_copies++] = (struct memcpy_row){ .start = s->gpu, .duration = 4000, .bytes = 65536 << dice(s, 6),
			.corr = corr, .context = 1, .stream = 7, .kind = 1, .src_kind = 2, .dst_kind = 3, .flags = MEMCPY_ASYNC };
	if (i % LAYER == LAYER - 1) {
		add_range(s, s->layer_start, (uint32_t)(NAMES + 3 + i / LAYER % 10), 1);
		s->layer_start = s->cpu;
	}
	if (i % STEP == STEP - 1) {
		add_range(s, s->step_start, NAMES + 2, 0);
		s->step_start = s->cpu;
	}
}

static void add_string(struct synth *s, uint32_t id, const char *text)
{
	struct string_row row = { .id = id, .bytes = (uint32_t)strlen(text) };

	put(s, CLOCK_NONE, ROW_string, &row, 1, text, strlen(text));
}

static void add_attribute(struct synth *s, uint32_t process, const char *text)
{
	struct attribute_row row = { .process = process, .bytes = (uint32_t)strlen(text) };

	if (writer_rows(s->w, process, CLOCK_NONE, record_by_kind(ROW_attribute), &row, 1, (const uint8_t *)text,
			strlen(text), &s->err) < 0)
		exit(1);
}

static void definitions(struct synth *s)
{
	struct device_row device = { .memory = 80ull << 30, .bandwidth = 3350000000, .name = NAMES + 20, .sm_count = 132, .cc_major = 9,
		.clock_khz = 1980000, .warp = 32, .max_threads_block = 1024, .max_warps_sm = 64, .max_blocks_sm = 32 };
	struct context_row context = { .id = 1, .null_stream = 7, .api = 1 };
	struct stream_row streams[] = { { .id = 7, .context = 1, .flags = 3 }, { .id = 13, .context = 1, .flags = 2 } };
	struct thread_row thread = { .start = mono(start_real), .id = 1, .tid = 4242, .bytes = 4 };
	struct process_row process = { .start = start_real, .number = PROCESS, .pid = 4242, .host_pid = 4242, .ppid = 1,
		.flags = PROCESS_CONNECTED | PROCESS_CUDA | PROCESS_CUPTI | PROCESS_KERNELS | PROCESS_NVTX | PROCESS_CLEAN };
	char text[200];

	add_attribute(s, 0, "command=python train.py (synthetic)");
	add_attribute(s, PROCESS, "name=train.py");
	for (uint32_t i = 1; i <= NAMES; i++) {
		snprintf(text, sizeof text,
			 "void at::native::vectorized_elementwise_kernel<4, synthetic_functor_%u<float>>(int, float*)",
			 i);
		add_string(s, i, text);
	}
	add_string(s, NAMES + 1, "cudaLaunchKernel_v7000");
	add_string(s, NAMES + 2, "step");
	for (uint32_t i = 0; i < 10; i++) {
		snprintf(text, sizeof text, "layer %u", i);
		add_string(s, NAMES + 3 + i, text);
	}
	add_string(s, NAMES + 20, "synthetic GPU");
	for (uint32_t i = 1; i <= 8; i++) {
		struct config_row config = { .id = i, .grid_x = 64 * i, .grid_y = 1, .grid_z = 1, .block_x = 128, .block_y = 1, .block_z = 1,
			.registers = 32 };

		put(s, CLOCK_NONE, ROW_config, &config, 1, NULL, 0);
	}
	put(s, CLOCK_NONE, ROW_device, &device, 1, NULL, 0);
	put(s, CLOCK_NONE, ROW_context, &context, 1, NULL, 0);
	put(s, CLOCK_NONE, ROW_stream, streams, 2, NULL, 0);
	put(s, CLOCK_MONO, ROW_thread, &thread, 1, "main", 4);
	if (writer_rows(s->w, 0, CLOCK_REAL, record_by_kind(ROW_process), &process, 1, NULL, 0, &s->err) < 0)
		exit(1);
}

int main(int argc, char **argv)
{
	static struct synth s = { .random = 88172645463325252ull, .gpu = 1700000000000000000, .cpu = 1700000000000000000 };
	struct file_header header = { .session = 0x5e55, .start_real = start_real, .start_mono = start_mono, .host = "synthetic" };
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	int fd = argc > 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	int64_t begin;
	double seconds;

	if (fd < 0 || n == 0) {
		fprintf(stderr, "usage: synth_trace OUT KERNELS\n");
		return 2;
	}
	s.w = writer_new(fd, &header, &s.err);
	if (!s.w) {
		fprintf(stderr, "synth_trace: %s\n", s.err.text);
		return 1;
	}
	s.layer_start = s.step_start = s.cpu;
	definitions(&s);
	begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (uint64_t i = 0; i < n; i++) {
		add_kernel(&s, i);
		if (s.n_kernels == CHUNK_ROWS)
			flush(&s);
	}
	flush(&s);
	seconds = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / 1e9;
	if (writer_finish(s.w, &s.err) < 0)
		return 1;
	printf("writer: %" PRIu64
	       " kernels and their launches\t%.2f\tM rows/s\tone core, making the rows up included\n",
	       n, 2 * (double)n / seconds / 1e6);
	printf("bytes of a kernel row\t%.2f\tB\tgoal 3\n", (double)s.bytes_kernel / (double)n);
	printf("bytes of an API row\t%.2f\tB\tgoal 4\n", (double)s.bytes_api / (double)n);
	return 0;
}
