/*
 * stack_trace OUT [native|launch|plain]: writes a synthetic trace with call stacks, samples, ranges, symbols, line tables and source text,
 * from a fixed sequence of random numbers; `gprof-trace dump` prints its content.  native: no Python; launch: launch sites, no samples;
 * plain: neither stacks nor samples.
 */
#include "trace/file.h"
#include "trace/records.h"
#include "trace/wire.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define T0     1700000000123456789ll
#define CODES  12u
#define ADDRESSES 24u
#define STACKS 40u
#define CALLS  600u
#define SAMPLES 900u
#define RANGES 200u

enum { LAUNCH = 1, MEMCPY, SYNC, GRAPH, KERNEL_A, KERNEL_B, KERNEL_C, TRAIN, MODEL, PACKAGE, FROZEN, BUILT, EXE, LIBTORCH, LIBCUDA, GPU,
       CFILE, HFILE, FORWARD, BACKWARD, DOMAIN, NAMES = 100, SYMBOLS = 200 };

static struct writer *writer;
static uint32_t process;

static uint32_t dice(uint32_t n)
{
	static uint64_t state = 88172645463325252ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 20) % n;
}

static void put(unsigned kind, const void *rows, size_t n, const void *tail, size_t bytes)
{
	struct trace_error err = { 0 };

	if (writer_rows(writer, process, CLOCK_MONO, record_by_kind(kind), rows, n, tail, bytes, &err) == 0)
		return;
	fprintf(stderr, "stack_trace: %s\n", err.text);
	exit(1);
}

#define ROWS(rec, ...) do {                                                     \
	const struct rec##_row rows_[] = { __VA_ARGS__ };                       \
	put(ROW_##rec, rows_, sizeof rows_ / sizeof *rows_, NULL, 0);           \
} while (0)

/* Rows of one kind, collected and written as one chunk at the end. */
static struct { unsigned char rows[1u << 18]; size_t n; } later[ROW_KINDS];

#define LATER(rec, ...) do {                                                    \
	const struct rec##_row row_ = __VA_ARGS__;                              \
	memcpy(later[ROW_##rec].rows + later[ROW_##rec].n++ * sizeof row_, &row_, sizeof row_); \
} while (0)

static void put_later(void)
{
	for (unsigned kind = 0; kind < ROW_KINDS; kind++) {
		if (later[kind].n)
			put(kind, later[kind].rows, later[kind].n, NULL, 0);
		later[kind].n = 0;
	}
}

static void string(uint32_t id, const char *text)
{
	put(ROW_string, &(struct string_row){ id, (uint32_t)strlen(text) }, 1, text, strlen(text));
}

static void attribute(const char *text)
{
	put(ROW_attribute, &(struct attribute_row){ process, (uint32_t)strlen(text) }, 1, text, strlen(text));
}

static void names(void)
{
	static const char *const functions[] = {
		"<module>", "main", "train", "Model.forward", "Model.forward.<locals>.inner", "Loader.__next__", "step", "Linear.forward",
		"odd; name", "<lambda>", "zero_grad", "caf\xc3\xa9",
	};
	static const char *const symbols[] = {
		"nvtxRangePushA", "at::native::copy_kernel(at::Tensor const&)", "at::_ops::add::call", "void run<int>(int*)", "inlined_helper", "compute",
	};

	string(LAUNCH, "cudaLaunchKernel_v7000");
	string(MEMCPY, "cudaMemcpyAsync_v3020");
	string(SYNC, "cudaStreamSynchronize_v3020");
	string(GRAPH, "cudaGraphLaunch_v10000");
	string(KERNEL_A, "_Z6vecaddPfS_i");
	string(KERNEL_B, "_Z4gemmPfS_S_");
	string(KERNEL_C, "triton_poi_fused_add_0");
	string(TRAIN, "/home/me/net/train.py");
	string(MODEL, "/home/me/net/parts/model.py");
	string(PACKAGE, "/usr/lib/python3.11/site-packages/torch/nn/linear.py");
	string(FROZEN, "<frozen runpy>");
	string(BUILT, "/tmp/python-build.1234/Python-3.11.7/Lib/threading.py");
	string(EXE, "/usr/bin/python3.11");
	string(LIBTORCH, "/opt/torch/lib/libtorch_cpu.so");
	string(LIBCUDA, "/usr/lib/libcuda.so.1");
	string(CFILE, "/src/aten/copy.cpp");
	string(HFILE, "/src/aten/helper.h");
	string(GPU, "Simulated GPU");
	string(FORWARD, "forward");
	string(BACKWARD, "backward");
	string(DOMAIN, "train");
	for (uint32_t i = 0; i < CODES; i++)
		string(NAMES + i, functions[i]);
	for (uint32_t i = 0; i < 6; i++)
		string(SYMBOLS + i, symbols[i]);
}

/* Line tables as 3.9 has them (pairs of steps) and as 3.11 has them (entries of one line each, kind 13). */
static void codes(void)
{
	static const uint32_t files[] = { TRAIN, TRAIN, TRAIN, MODEL, MODEL, PACKAGE, TRAIN, PACKAGE, MODEL, FROZEN, BUILT, MODEL };

	for (uint32_t i = 0; i < CODES; i++) {
		uint8_t table[64];
		uint32_t n = 0;
		struct code_row row = { i + 1, NAMES + i, files[i], 10 * (i + 1), i % 2 ? 0x030b : 0x0309, 0 };

		for (uint32_t line = 0; line < 8; line++) {
			if (i % 2) {
				table[n++] = 0x80 | 13 << 3 | 1;        /* covers two code units of two bytes */
				table[n++] = line ? 1 << 1 : 0;         /* line + 1 */
			} else {
				table[n++] = line ? 4 : 0;
				table[n++] = line ? 1 : 0;
			}
		}
		row.bytes = n;
		put(ROW_code, &row, 1, table, n);
	}
}

static uint64_t address(uint32_t i)
{
	return (i % 3 == 0 ? 0x401000u : i % 3 == 1 ? 0x7f0000001000ull : 0x7f0010001000ull) + i * 0x40u;
}

/* Addresses of image 3 have no symbols; every fifth of image 2 has an inlined function. */
static void images(void)
{
	const struct image_row rows[] = {
		{ T0, 0, 0, 0x400000, 0x500000, 1, EXE, 0, 4 }, { T0, 0, 0x7f0000000000, 0x7f0000000000, 0x7f0001000000, 2, LIBTORCH, 0, 4 },
		{ T0, T0 + 1000, 0x7f0010000000, 0x7f0010000000, 0x7f0011000000, 3, LIBCUDA, 0, 4 },
	};

	put(ROW_image, rows, 3, "\x01\x02\x03\x04\xff\xfe\xfd\xfc\0\0\0\0", 12);
	for (uint32_t i = 0; i < ADDRESSES; i++) {
		uint64_t offset = address(i) - rows[i % 3].base;

		if (i % 3 == 2)
			continue;
		if (i % 5 == 0)
			ROWS(symbol, { offset, i % 3 + 1, SYMBOLS + 4, HFILE, 5 + i, 1, 0 });
		ROWS(symbol, { offset, i % 3 + 1, SYMBOLS + i % 4, i % 3 ? CFILE : 0, i % 3 ? 100 + i : 0, 0, 0 });
	}
}

static void stacks(bool python, bool native, bool site)
{
	for (uint32_t id = 1; id <= STACKS; id++) {
		struct stack_frame frames[24];
		uint32_t n = 0, depth = site ? 3 : 1 + dice(20), flags = site ? STACK_SITE : 0;

		for (; n < depth; n++) {
			uint32_t at;

			if (python && (!native || n > 2 + dice(3))) {
				frames[n] = (struct stack_frame){ 1 + dice(CODES), STACK_FRAME_PYTHON, dice(9) ? dice(16) * 2 : STACK_NO_OFFSET };
				flags |= STACK_PYTHON;
				continue;
			}
			at = dice(ADDRESSES);
			frames[n] = (struct stack_frame){ address(at), STACK_FRAME_NATIVE, at % 3 + 1 };
			if (at == 2)
				frames[n].extra = 0;    /* code generated by the process */
			flags |= STACK_NATIVE;
		}
		put(ROW_stack, &(struct stack_row){ id, flags, n, (uint32_t)(n * sizeof *frames) }, 1, frames, n * sizeof *frames);
	}
}

/* Calls of two threads; two of three have a stack.  Each launch has 1 to 3 kernels; those of the third stream belong to a graph. */
static void calls(bool with_stacks)
{
	int64_t at = T0 + 1000000, gpu = at, begun = at;

	for (uint32_t i = 0; i < CALLS; i++) {
		uint32_t what = dice(10), corr = i + 1, stack = with_stacks && dice(3) ? 1 + dice(STACKS) : 0, thread = 1 + !dice(4);
		uint32_t name = what < 6 ? LAUNCH : what < 8 ? MEMCPY : what < 9 ? SYNC : GRAPH;
		int64_t length = 2000 + dice(name == SYNC ? 900000 : 9000);

		if (i % 60 == 0)
			begun = at;
		LATER(api, { at, length, 0, corr, thread, name, 2 << 16 | name, 0, -1, stack, 0 });
		gpu = gpu > at ? gpu : at;
		for (uint32_t k = 0; name == LAUNCH && k < 1 + dice(3); k++) {
			uint32_t ns = dice(20) ? 1000 + dice(60000) : 0;

			LATER(kernel, { ns ? gpu : 0, ns, 0, corr, KERNEL_A + dice(3), 0, 1, 7, 1, 0, 0 });
			gpu += ns;
		}
		if (name == MEMCPY) {
			LATER(memcpy, { gpu, 3000, 1 + dice(1 << 20), 0, corr, 0, 1, 7, 1 + dice(2), 1, 3, 1, 0, 0, 0, 1 });
			gpu += 3000;
		}
		if (name == GRAPH) {
			LATER(graph, { gpu, 90000, corr, 0, 1, 7, 1, 0 });
			gpu += 90000;
		}
		at += length + dice(40000);
		if (i % 60 == 59)
			ROWS(step, { begun, at - begun, 0, i / 60, 0, 0, 0, 1, 0, i - 58, i + 2, 100, 0 });
	}
}

/* Ranges of two domains, nested or not; three of four have a stack.  One more stack belongs to a lost range. */
static void ranges(void)
{
	int64_t at = T0 + 1000000;

	ROWS(domain, { .id = 2, .name = DOMAIN });
	for (uint32_t i = 0; i < RANGES; i++) {
		uint64_t id = (uint64_t)process << 32 | (i + 1);

		LATER(range, { .start = at, .duration = 1000 + dice(900000), .id = id, .thread = 1 + dice(2), .name = dice(2) ? FORWARD : BACKWARD,
			       .domain = dice(3) ? 0 : 2, .flags = dice(5) ? 0 : RANGE_STARTEND });
		if (dice(4))
			LATER(range_stack, { id, 1 + dice(STACKS), 0 });
		at += dice(500000);
	}
	LATER(range_stack, { (uint64_t)process << 32 | 999999, 1, 0 });
}

static void samples(bool stacked)
{
	int64_t at = T0 + 1000000;

	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint32_t thread = dice(3);

		at += 10000 + dice(20000);
		LATER(sample, { at, thread, stacked && dice(20) ? 1 + dice(STACKS) : 0, thread ? 0 : dice(2) ? 100 * process : 999,
			       SAMPLE_CPU });
	}
}

static void one(uint32_t number, bool python, bool native, bool site, bool stacked, bool sampled)
{
	static const char source[] = "import torch\n\ndef main():\n    a = 1\n    return a  # \xc3\xa4\n\n\n\n\nlast = 'line \"10\"'\n"
		"b\nc\nd, e\nf\ng\nh\ni\nj\nk\nl\nm\n";

	process = 0;
	ROWS(process, { T0 + 1, T0 + 90000000, number, 100 * number, 100 * number, 1, 0,
			PROCESS_CONNECTED | PROCESS_ENDED | PROCESS_CUDA | PROCESS_CUPTI | PROCESS_KERNELS });
	process = number;
	names();
	attribute("name=python");
	if (sampled && python)
		attribute("sampling.hz=97.5");
	put(ROW_thread, &(struct thread_row){ T0, 1, 100 * number, 0, 4 }, 1, "main", 4);
	put(ROW_thread, &(struct thread_row){ T0, 2, 100 * number + 1, 0, 6 }, 1, "loader", 6);
	ROWS(device, { .uuid_high = 1, .uuid_low = 1, .id = 0, .name = GPU, .sm_count = 80 });
	ROWS(context, { .id = 1, .device = 0, .null_stream = 7, .api = 1 });
	ROWS(config, { .id = 1, .grid_x = 1, .grid_y = 1, .grid_z = 1, .block_x = 32, .block_y = 1, .block_z = 1 });
	codes();
	images();
	if (stacked)
		stacks(python, native, site);
	calls(stacked);
	if (sampled)
		samples(stacked);
	if (stacked && !site)
		ranges();
	put_later();
	if (stacked && !site)
		put(ROW_source, &(struct source_row){ TRAIN, 0, sizeof source - 1, 0 }, 1, source, sizeof source - 1);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	const struct file_header header = { .session = 0x5a3b1e, .start_real = T0, .start_mono = 1, .host = "testhost" };
	bool native = strcmp(what, "native") == 0, launch = strcmp(what, "launch") == 0, plain = strcmp(what, "plain") == 0;
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	if (fd < 0 || !(writer = writer_new(fd, &header, NULL))) {
		fprintf(stderr, "usage: stack_trace OUT [native|launch|plain]\n");
		return 2;
	}
	attribute("cwd=/home/me/net");
	one(1, !native, !launch, launch, !plain, !launch && !plain);
	if (!native && !launch && !plain)
		one(2, true, true, false, true, true);
	return writer_finish(writer, NULL) < 0;
}
