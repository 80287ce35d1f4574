/*
 * synth_trace OUT KERNELS [KEY=N...]: writes a trace as a training job leaves it, through the real writer: per kernel one launch on the
 * host, some copies, a range for each layer and each step, forty kernel names, two streams.  The same bytes for the same arguments.
 * Prints rows for `make bench`: how fast that was, and how many bytes a row takes.
 *
 * Keys, for what only much of something shows:
 *   names=N      kernel names, few of them frequent; their lengths differ a thousandfold
 *   streams=N    streams on which kernels run at the same time
 *   threads=N    threads that launch, in turns within a step
 *   processes=N  ranks; KERNELS is of all together
 *   ops=1        each kernel is launched by an operator of PyTorch, every two of them in an operator around them
 *   texts=1      the range of each layer has a text of its own
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
#define NAMES      40           /* of kernels, if not asked for more */
#define LAYER      12           /* kernels in a layer's range */
#define STEP       600          /* kernels in a step */
#define OPERATORS  200          /* names of operators */
#define MOST       256          /* streams, threads */

enum { NAME_LAUNCH = 1, NAME_STEP, NAME_GPU, NAME_TORCH, NAME_LAYERS, NAME_OPERATORS = NAME_LAYERS + 10,
	NAME_KERNELS = NAME_OPERATORS + OPERATORS };

struct pushed {
	int64_t start;
	uint64_t id;
	uint32_t name, domain;
};

struct host_thread {
	struct pushed open[8];
	uint32_t depth;
	uint64_t ranges;
};

struct synth {
	struct writer *w;
	struct trace_error err;
	uint64_t names, streams, threads, processes, ops, texts;        /* what was asked for */
	uint64_t random;
	int64_t gpu, cpu;               /* ns; where the GPU and the launching thread are */
	int64_t busy[MOST];             /* until when each stream is */
	uint64_t bytes_kernel, bytes_api;
	struct kernel_row kernels[CHUNK_ROWS];
	struct api_row api[CHUNK_ROWS];
	struct memcpy_row copies[CHUNK_ROWS];
	struct range_row ranges[3 * CHUNK_ROWS];
	struct op_row op_rows[3 * CHUNK_ROWS];
	size_t n_kernels, n_api, n_copies, n_ranges, n_ops;
	struct string_row strings[CHUNK_ROWS];
	char tails[1 << 20];
	size_t n_strings, n_tails;
	struct host_thread hosts[MOST + 1];
	uint32_t process, texts_made;
	int64_t clock_rows;
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
	if (n && writer_rows(s->w, s->process, clock, record_by_kind(kind), rows, n, tails, tail_bytes, &s->err) < 0) {
		fprintf(stderr, "synth_trace: %s\n", s->err.text);
		exit(1);
	}
}

/* The clocks are not read in the same moment: their distance moves by some ns from row to row. */
static void put_clock(struct synth *s)
{
	struct clock_row row = { .mono = s->cpu - start_real + start_mono, .real = s->cpu + ++s->clock_rows * 17 % 41 };

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
	put(s, CLOCK_NONE, ROW_op, s->op_rows, s->n_ops, NULL, 0);
	put_clock(s);
	s->n_kernels = s->n_api = s->n_copies = s->n_ranges = s->n_ops = 0;
}

static int64_t mono(int64_t real)
{
	return real - start_real + start_mono;
}

static void open_range(struct synth *s, uint32_t thread, uint32_t name, uint32_t domain)
{
	struct host_thread *h = &s->hosts[thread];

	h->open[h->depth++] = (struct pushed){ s->cpu, (uint64_t)thread << 40 | ++h->ranges, name, domain };
	s->cpu += s->ops ? 50 : 0;
}

static void close_range(struct synth *s, uint32_t thread)
{
	struct host_thread *h = &s->hosts[thread];
	struct pushed *r = &h->open[--h->depth];

	s->ranges[s->n_ranges++] = (struct range_row){ .start = mono(r->start), .duration = s->cpu - r->start, .name = r->name,
		.thread = thread, .end_thread = thread, .id = r->id, .domain = r->domain, .level = h->depth, .step = -1 };
	if (r->domain)
		s->op_rows[s->n_ops++] = (struct op_row){ .range = r->id, .sequence = -1, .torch_thread = thread };
}

/* Those with more than NAMES: the low ones often, the others seldom. */
static uint32_t kernel_name(struct synth *s, uint64_t i)
{
	uint64_t mixed = (i % (STEP * 32) + 1) * 0x9e3779b97f4a7c15ull;

	if (s->names <= NAMES)
		return (uint32_t)(i % STEP * 7 % s->names);
	return (uint32_t)((mixed >> 40) % s->names * ((mixed >> 16 & 0xffffff) % s->names) / s->names);
}

static int64_t kernel_length(struct synth *s, uint32_t name)
{
	int64_t usual = s->names <= NAMES ? 1800 + name * 300 : (int64_t)1200 << name % 11;

	return usual + (int64_t)dice(s, s->names <= NAMES ? 400 : (uint64_t)usual / 16);
}

static void run_kernel(struct synth *s, uint64_t i, uint32_t corr)
{
	uint32_t name = kernel_name(s, i), stream = i % 50 ? 7 : 13;
	int64_t length = kernel_length(s, name), start;

	if (s->gpu < s->cpu + 2000)
		s->gpu = s->cpu + 2000;
	start = s->gpu;
	if (s->streams > 2) {
		uint32_t other = (uint32_t)(i % s->streams);

		start = s->busy[other] > s->cpu + 2000 ? s->busy[other] : s->cpu + 2000;
		s->busy[other] = start + length + 800 + (int64_t)dice(s, 300);
		s->gpu = s->busy[other] > s->gpu ? s->busy[other] : s->gpu;
		stream = 7 + 6 * other;
	} else {
		s->gpu += length + 800 + (int64_t)dice(s, 300);
	}
	s->kernels[s->n_kernels++] = (struct kernel_row){ .start = start, .duration = length, .corr = corr,
		.name = NAME_KERNELS + name, .context = 1, .stream = stream, .config = 1 + name % 8 };
	if (i % 50 == 49)
		s->copies[s->n_copies++] = (struct memcpy_row){ .start = s->gpu, .duration = 4000, .bytes = 65536 << dice(s, 6),
			.corr = corr, .context = 1, .stream = 7, .kind = 1, .src_kind = 2, .dst_kind = 3, .flags = MEMCPY_ASYNC };
}

/* One launch and the kernel it causes; the GPU runs behind the host and is sometimes idle. */
static void add_kernel(struct synth *s, uint64_t i)
{
	uint32_t thread = 1 + (uint32_t)(i % STEP / LAYER * s->threads / (STEP / LAYER)), corr = (uint32_t)(i + 1);
	uint32_t layer = s->texts ? s->texts_made : (uint32_t)(NAME_LAYERS + i / LAYER % 10);
	int64_t call = 3500 + (int64_t)dice(s, 1500);

	if (i % STEP == 0)
		open_range(s, 1, NAME_STEP, 0);
	if (i % LAYER == 0)
		open_range(s, thread, layer, 0);
	if (s->ops && i % 2 == 0)
		open_range(s, thread, (uint32_t)(NAME_OPERATORS + (i % STEP + 7) % OPERATORS), 1);
	if (s->ops)
		open_range(s, thread, (uint32_t)(NAME_OPERATORS + i % STEP % OPERATORS), 1);
	s->api[s->n_api++] = (struct api_row){ .start = mono(s->cpu), .duration = call, .corr = corr, .thread = thread,
		.name = NAME_LAUNCH, .cbid = 2u << 16 | 211, .step = -1,
		.range = s->hosts[thread].open[s->hosts[thread].depth - 1].id };
	s->cpu += call + 600 + (int64_t)dice(s, 800);
	run_kernel(s, i, corr);
	if (s->cpu < s->gpu - 4000000)          /* a full launch queue blocks the host */
		s->cpu = s->gpu - 4000000;
	if (s->ops)
		close_range(s, thread);
	if (s->ops && i % 2)
		close_range(s, thread);
	if (i % LAYER == LAYER - 1)
		close_range(s, thread);
	if (i % STEP == STEP - 1)
		close_range(s, 1);
}

static void put_strings(struct synth *s)
{
	put(s, CLOCK_NONE, ROW_string, s->strings, s->n_strings, s->tails, s->n_tails);
	s->n_strings = s->n_tails = 0;
}

static void add_string(struct synth *s, uint32_t id, const char *text)
{
	size_t n = strlen(text);

	if (s->n_strings == CHUNK_ROWS || s->n_tails + n > sizeof s->tails)
		put_strings(s);
	s->strings[s->n_strings++] = (struct string_row){ .id = id, .bytes = (uint32_t)n };
	memcpy(s->tails + s->n_tails, text, n);
	s->n_tails += n;
}

static void add_attribute(struct synth *s, uint32_t process, const char *text)
{
	struct attribute_row row = { .process = process, .bytes = (uint32_t)strlen(text) };

	if (writer_rows(s->w, process, CLOCK_NONE, record_by_kind(ROW_attribute), &row, 1, (const uint8_t *)text,
			strlen(text), &s->err) < 0)
		exit(1);
}

static void add_texts(struct synth *s, uint64_t layers)
{
	char text[200];

	add_string(s, NAME_LAUNCH, "cudaLaunchKernel_v7000");
	add_string(s, NAME_STEP, "step");
	add_string(s, NAME_GPU, "synthetic GPU");
	add_string(s, NAME_TORCH, "PyTorch");
	for (uint32_t i = 0; i < 10; i++) {
		snprintf(text, sizeof text, "layer %u", i);
		add_string(s, NAME_LAYERS + i, text);
	}
	for (uint32_t i = 0; s->ops && i < OPERATORS; i++) {
		snprintf(text, sizeof text, "aten::synthetic_%u", i);
		add_string(s, NAME_OPERATORS + i, text);
	}
	for (uint32_t i = 0; i < s->names; i++) {
		snprintf(text, sizeof text,
			 "void at::native::vectorized_elementwise_kernel<4, synthetic_functor_%u<float>>(int, float*)",
			 i + 1);
		add_string(s, NAME_KERNELS + i, text);
	}
	s->texts_made = (uint32_t)(NAME_KERNELS + s->names);
	for (uint32_t i = 0; s->texts && i < layers; i++) {
		snprintf(text, sizeof text, "request %u", i);
		add_string(s, s->texts_made + i, text);
	}
	put_strings(s);
}

static void definitions(struct synth *s, uint64_t kernels)
{
	struct device_row device = { .memory = 80ull << 30, .bandwidth = 3350000000, .name = NAME_GPU, .sm_count = 132, .cc_major = 9,
		.clock_khz = 1980000, .warp = 32, .max_threads_block = 1024, .max_warps_sm = 64, .max_blocks_sm = 32 };
	struct context_row context = { .id = 1, .null_stream = 7, .api = 1 };
	struct domain_row domain = { .id = 1, .name = NAME_TORCH };
	struct process_row process = { .start = start_real, .number = s->process, .pid = 4241 + s->process,
		.host_pid = 4241 + s->process, .ppid = 1,
		.flags = PROCESS_CONNECTED | PROCESS_CUDA | PROCESS_CUPTI | PROCESS_KERNELS | PROCESS_NVTX | PROCESS_CLEAN };
	char text[64];

	add_attribute(s, s->process, "name=train.py");
	snprintf(text, sizeof text, "rank=%u", s->process - 1);
	if (s->processes > 1)
		add_attribute(s, s->process, text);
	add_texts(s, kernels / LAYER + 1);
	for (uint32_t i = 1; i <= 8; i++) {
		struct config_row config = { .id = i, .grid_x = 64 * i, .grid_y = 1, .grid_z = 1, .block_x = 128, .block_y = 1, .block_z = 1,
			.registers = 32 };

		put(s, CLOCK_NONE, ROW_config, &config, 1, NULL, 0);
	}
	put(s, CLOCK_NONE, ROW_device, &device, 1, NULL, 0);
	put(s, CLOCK_NONE, ROW_context, &context, 1, NULL, 0);
	if (s->ops)
		put(s, CLOCK_NONE, ROW_domain, &domain, 1, NULL, 0);
	for (uint32_t i = 0; i < s->streams; i++)
		put(s, CLOCK_NONE, ROW_stream, &(struct stream_row){ .id = 7 + 6 * i, .context = 1, .flags = i ? 2 : 3 }, 1, NULL, 0);
	for (uint32_t i = 1; i <= s->threads; i++)
		put(s, CLOCK_MONO, ROW_thread, &(struct thread_row){ .start = mono(start_real), .id = i, .tid = 4241 + i, .bytes = 4 },
			1, "main", 4);
	if (writer_rows(s->w, 0, CLOCK_REAL, record_by_kind(ROW_process), &process, 1, NULL, 0, &s->err) < 0)
		exit(1);
}

/* All of one process.  Those of a job run at the same time. */
static void make_process(struct synth *s, uint64_t kernels)
{
	s->gpu = s->cpu = start_real;
	memset(s->busy, 0, sizeof s->busy);
	memset(s->hosts, 0, sizeof s->hosts);
	definitions(s, kernels);
	for (uint64_t i = 0; i < kernels; i++) {
		add_kernel(s, i);
		s->texts_made += i % LAYER == LAYER - 1;
		if (s->n_kernels == CHUNK_ROWS)
			flush(s);
	}
	for (uint32_t thread = 1; thread <= s->threads; thread++)
		while (s->hosts[thread].depth)
			close_range(s, thread);
	flush(s);
}

static bool set(struct synth *s, const char *key)
{
	const struct {
		const char *name;
		uint64_t *at, most;
	} keys[] = { { "names", &s->names, 1000000 }, { "streams", &s->streams, MOST }, { "threads", &s->threads, STEP / LAYER },
		     { "processes", &s->processes, 1024 }, { "ops", &s->ops, 1 }, { "texts", &s->texts, 1 } };
	const char *equal = strchr(key, '=');

	for (size_t i = 0; equal && i < sizeof keys / sizeof *keys; i++) {
		if (strlen(keys[i].name) != (size_t)(equal - key) || strncmp(key, keys[i].name, (size_t)(equal - key)))
			continue;
		*keys[i].at = strtoull(equal + 1, NULL, 10);
		return *keys[i].at && *keys[i].at <= keys[i].most;
	}
	return false;
}

int main(int argc, char **argv)
{
	static struct synth s = { .random = 88172645463325252ull, .names = NAMES, .streams = 2, .threads = 1, .processes = 1 };
	struct file_header header = { .session = 0x5e55, .start_real = start_real, .start_mono = start_mono, .host = "synthetic" };
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	int64_t begin;
	double seconds;
	int fd = -1;

	for (int i = 3; i < argc; i++)
		if (!set(&s, argv[i]))
			n = 0;
	if (n)
		fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0) {
		fprintf(stderr, "usage: synth_trace OUT KERNELS [KEY=N...]\n");
		return 2;
	}
	s.w = writer_new(fd, &header, &s.err);
	if (!s.w) {
		fprintf(stderr, "synth_trace: %s\n", s.err.text);
		return 1;
	}
	begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	add_attribute(&s, 0, "command=python train.py (synthetic)");
	for (s.process = 1; s.process <= s.processes; s.process++)
		make_process(&s, n / s.processes + (s.process <= n % s.processes));
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
