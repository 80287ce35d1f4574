/*
 * Makes the stack walker of inject/python/python.c callable from Python scripts through ctypes, with an arena without a collector.
 * test/e2e/pywalk_check.py compares the walked stack of the calling thread with the interpreter's.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "inject/core/stream.h"
#include "inject/python/python_dict.h"
#include "inject/python/python_state.h"
#include "inject/torch/torch_modules.h"
#include "test/unit/inject/fake.h"
#include "trace/pyline.h"

#define EXPORT __attribute__((visibility("default")))

#define MAX_FRAMES 4096u

/* Parts of the injected object that are not linked here. */
void lifecycle_at_exit(void);
void modules_init(void);

void lifecycle_at_exit(void)
{
}

void modules_init(void)
{
}

EXPORT int pywalk_start(void);
EXPORT int pywalk_ready(void);
EXPORT const char *pywalk_why(void);
EXPORT int pywalk_stack(char *out, int size);
EXPORT int pywalk_site(char *out, int size);
EXPORT int pywalk_depth(void);
EXPORT int pywalk_modules(char *out, int size);
EXPORT double pywalk_ns(int what, int rounds, int max);
EXPORT int pywalk_spoil(int what, unsigned value);
EXPORT int pywalk_garbage(unsigned seed, int rounds);
EXPORT int pywalk_garbage_dicts(unsigned seed, int rounds, const void *dict_class);
EXPORT void pywalk_spin_until_the_end(void);

/* Index of rows by id; rebuilt when an id is missing. */
static struct {
	const struct code_row *codes[1 << 16];
	const struct string_row *strings[1 << 16];
} rows;

static void note_row(const struct row_head *head, const void *row, void *arg)
{
	(void)arg;
	if (head->kind == ROW_code && ((const struct code_row *)row)->id < 1 << 16)
		rows.codes[((const struct code_row *)row)->id] = row;
	if (head->kind == ROW_string && ((const struct string_row *)row)->id < 1 << 16)
		rows.strings[((const struct string_row *)row)->id] = row;
}

int pywalk_start(void)
{
	fake_session(256, 64);
	python_start(true);
	return getpid();
}

int pywalk_ready(void)
{
	python_look();
	return python_ready();
}

const char *pywalk_why(void)
{
	return python.why_off ? python.why_off : "";
}

static int add_string(char *out, size_t size, uint32_t id)
{
	const struct string_row *row = rows.strings[id & 0xffff];

	return snprintf(out, size, "%.*s\x1f", row ? (int)row->bytes : 1, row ? (const char *)(row + 1) : "?");
}

/* Writes file, name, line of each frame, innermost first; fields end with 0x1f, frames 0x1e.  Returns bytes; -1 - n: frame n failed. */
int pywalk_stack(char *out, int size)
{
	struct py_frame frames[MAX_FRAMES];
	struct stream *s = stream_enter();
	uint32_t n = python_walk(NULL, frames, MAX_FRAMES, 0);
	int used = 0;

	out[0] = '\0';
	if (!s)
		return -1;
	for (uint32_t i = 0; i < n && used < size - 8192; i++) {
		uint32_t id = python_code_id(s, &frames[i]);
		const struct code_row *row;
		struct pyline code;

		if (id == PY_HIDDEN)
			continue;
		if (!id || id >= 1 << 16) {
			stream_leave(s);
			return -1 - (int)i;
		}
		if (!rows.codes[id])
			fake_rows(note_row, NULL);
		row = rows.codes[id];
		if (!row) {
			stream_leave(s);
			return -1 - (int)i;
		}
		code = (struct pyline){ row->version, row->first_line, (const uint8_t *)(row + 1), row->bytes };
		used += add_string(out + used, 4096, row->file);
		used += add_string(out + used, 4096, row->name);
		used += snprintf(out + used, 64, "%ld\x1e", (long)pyline_of(&code, frames[i].offset));
	}
	stream_leave(s);
	return used;
}

int pywalk_depth(void)
{
	struct py_frame frames[MAX_FRAMES];

	return (int)python_walk(NULL, frames, MAX_FRAMES, 0);
}

/* Writes the launch site, computed from a full walk, in the format of pywalk_stack(). */
int pywalk_site(char *out, int size)
{
	struct stream *s = stream_enter();
	uint32_t id = s ? python_site(s) : 0;
	int used = 0;

	out[0] = '\0';
	for (size_t i = 0, n = fake_count(ROW_stack); i < n; i++) {
		const struct stack_row *row = fake_row(ROW_stack, i);
		const struct stack_frame *frames = (const void *)(row + 1);

		if (row->id != id)
			continue;
		fake_rows(note_row, NULL);
		for (uint32_t f = 0; f < row->depth; f++) {
			const struct code_row *of = rows.codes[frames[f].value];
			struct pyline code = { of->version, of->first_line, (const uint8_t *)(of + 1), of->bytes };

			used += add_string(out + used, 4096, of->file);
			used += add_string(out + used, 4096, of->name);
			used += snprintf(out + used, 64, "%ld\x1e", (long)pyline_of(&code, frames[f].extra));
		}
	}
	(void)size;
	if (s)
		stream_leave(s);
	return used;
}

static int put_string(char *out, int size, uint32_t id)
{
	const struct string_row *row = id ? rows.strings[id & 0xffff] : NULL;

	return row ? snprintf(out, (size_t)size, "%.*s", (int)row->bytes, (const char *)(row + 1)) : 0;
}

/* Writes the nn.Modules around the caller and, after a line break, their paths; "": none. */
int pywalk_modules(char *out, int size)
{
	struct stream *s = stream_enter();
	struct torch_module_stack in = { 0 };
	int used;

	if (s)
		in = torch_modules_look(s);
	if ((in.modules && !rows.strings[in.modules & 0xffff]) || (in.paths && !rows.strings[in.paths & 0xffff]))
		fake_rows(note_row, NULL);
	out[0] = '\0';
	used = put_string(out, size, in.modules);
	if (in.paths) {
		used += snprintf(out + used, (size_t)(size - used), "\n");
		used += put_string(out + used, size - used, in.paths);
	}
	if (s)
		stream_leave(s);
	return used;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Best time of several runs, ns per stack: 0 walk, 1 walk and code ids, 2 guarded walk, 3 launch site, 4 nn.Modules, 5 PY_SHARED. */
double pywalk_ns(int what, int rounds, int max)
{
	static struct py_frame frames[MAX_FRAMES];
	struct stream *s = stream_enter();
	double best = 1e18;
	uint64_t sum = 0;

	for (int repeat = 0; s && repeat < 9; repeat++) {
		double begin = now(), took;

		for (int i = 0; i < rounds; i++) {
			uint32_t n = what == 3 || what == 4 ? 0 : python_walk(NULL, frames, (uint32_t)max, what == 2 ? PY_GUARDED : what == 5 ? PY_SHARED : 0);

			for (uint32_t j = 0; what == 1 && j < n; j++)
				sum += python_code_id(s, &frames[j]);
			if (what == 3)
				n = python_site(s);
			if (what == 4)
				n = torch_modules_look(s).modules;
			sum += n;
		}
		took = (now() - begin) / rounds;
		best = took < best ? took : best;
	}
	if (s)
		stream_leave(s);
	return sum ? best : best;
}

/*
 * Verifies and walks with a wrong layout, as if for another interpreter.  what 0: all offsets random, from this seed; 1: the n-th offset is
 * wrong by 8.  Returns the depth that was found.
 */
int pywalk_spoil(int what, unsigned value)
{
	struct py_layout good = python.layout, *l = &python.layout;
	uint16_t *first = &l->state_frame, *last = &l->runtime_interpreters;
	size_t n = (size_t)(last - first) + 1;
	int depth;

	if (what == 0)
		for (size_t i = 0; i < n; i++)
			first[i] = (uint16_t)((value = value * 1103515245 + 12345) >> 16 & 0xff8);
	else
		first[value % n] += 8;
	l->runtime_finalizing = good.runtime_finalizing;        /* kept: checked before the layout is verified */
	l->runtime_interpreters = good.runtime_interpreters;
	python.phase = PY_FOUND;
	depth = pywalk_depth();
	*l = good;
	python.phase = PY_FOUND;
	python_ready();
	return depth;
}

/*
 * Guarded walks of invalid thread states, as a dead thread leaves them: chains of frames through random words, into unmapped pages, and in
 * cycles.  Returns the number of frames found; none of them may be accepted as a frame of a code object.
 */
int pywalk_garbage(unsigned seed, int rounds)
{
	const size_t size = 1 << 16;
	uint64_t *memory = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stream *s = stream_enter();
	struct py_frame frames[64];
	int believed = 0;

	munmap((char *)memory + size, size);
	for (int round = 0; s && round < rounds; round++) {
		for (size_t i = 0; i < size / 8; i++) {
			seed = seed * 1103515245 + 12345;
			memory[i] = seed >> 28 < 10 ? (uint64_t)(uintptr_t)memory + (seed >> 8 & (2 * size - 8)) :
				    seed >> 28 < 13 ? (uint64_t)seed << 16 : seed >> 28 < 15 ? 0 : seed >> 8;
		}
		uint32_t n = python_walk(memory + (seed >> 16 & 4095), frames, 64, PY_GUARDED);

		for (uint32_t i = 0; i < n; i++)
			believed += python_code_id(s, &frames[i]) != 0;
	}
	if (s)
		stream_leave(s);
	munmap(memory, size);
	return s ? believed : -1;
}

/*
 * Reads invalid instances and dicts: random words with pointers into themselves, to unmapped memory, and to the class of a real dict.
 * Returns how often an attribute seemed to be found.
 */
int pywalk_garbage_dicts(unsigned seed, int rounds, const void *dict_class)
{
	const size_t size = 1 << 14;
	uint64_t *memory = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t dict = (uint64_t)(uintptr_t)dict_class, value;
	struct py_name name = { .text = "_modules" };
	struct py_entry entries[PY_ENTRIES];
	struct py_instance instance;
	struct py_trail trail;
	int found = 0;

	munmap((char *)memory + size, size);
	for (int round = 0; round < rounds; round++) {
		struct py_class class = { 0 };
		struct py_dict d;

		for (size_t i = 0; i < size / 8; i++) {
			seed = seed * 1103515245 + 12345;
			memory[i] = seed >> 28 < 8 ? (uint64_t)(uintptr_t)memory + (seed >> 8 & (2 * size - 8)) :
				    seed >> 28 < 9 ? dict : seed >> 28 < 11 ? (uint64_t)seed << 16 : seed >> 28 < 13 ? 0 : seed >> 8 & 0x30707;
		}
		for (uint64_t at = 64; at < size; at += 512) {
			uint64_t object = (uint64_t)(uintptr_t)memory + at;

			if (!py_instance_read(&instance, object))
				continue;
			if (!py_class_read(&class, instance.type))
				class = (struct py_class){ .flags = seed & 0x14, .dict = seed >> 8 & 0xff, .keys = object };
			name.object = seed & 1 ? object : 0;
			found += py_attribute(&instance, &class, &name, &value, &trail);
			trail.n = 0;
			if (py_dict_open(&d, object, &trail))
				for (uint32_t i = 0, n; i < 1024 && (n = py_dict_read(&d, i, entries)) > 0; i += n)
					found++;
			found += py_trail_holds(&trail);
		}
	}
	munmap(memory, size);
	return found;
}

static uint64_t loops, ended;

static void at_end(void)
{
	fprintf(stderr, "walks %lu, without frames %lu\n", (unsigned long)loops, (unsigned long)ended);
}

/* A thread that walks stacks while Python is finalized. */
void pywalk_spin_until_the_end(void)
{
	static char out[1 << 20];

	atexit(at_end);
	for (;;) {
		int n = pywalk_stack(out, sizeof out);

		loops++;
		ended += n <= 0;
	}
}
