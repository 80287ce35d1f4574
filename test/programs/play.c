/*
 * play PLAN SPEED: repeats on the simulated GPU the work in PLAN (made by test/e2e/play_work.py), SPEED times as fast.  Each recorded
 * thread is a thread, and makes its calls at their recorded times.  The main thread submits GPU operations without a recorded call.
 * play_profiled also profiles itself; if the plan has several parts, only every second part.  Its records go to PLAN.profile.PART. Prints
 * the time that the plan's 0 corresponds to, the ids of the threads, and how late the latest call was.
 */
#include <cupti_runtime_cbid.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test/programs/play_profiler.h"
#include "test/sim/player.h"

#define LEAD_NS 20000000                /* ns from the start of the program to the plan's 0 */
#define OP_FIELDS 25

struct thread {
	unsigned long number;
	char name[16];
	struct play_call *calls;
	size_t n, room;
	pthread_t thread;
	uint64_t late;
};

static struct thread *threads;
static size_t n_threads, n_names;
static char **names;
static struct op *alone;                /* operations without a recorded call */
static size_t n_alone, room_alone;
static uint64_t base, speed, last_end;
static uint64_t cuts[16];               /* times between parts */
static size_t n_cuts;
static pthread_barrier_t cut_barrier;

static __typeof__(sim_play_stream) *play_stream;
static __typeof__(sim_play_call) *play_call;
static __typeof__(sim_play_op) *play_op;
static __typeof__(sim_play_wait) *play_wait;

static _Noreturn void fail(const char *what, const char *why)
{
	fprintf(stderr, "play: %s: %s\n", what, why);
	exit(1);
}

static void *grown(void *array, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return array;
	*room = *room ? *room * 2 : 64;
	array = realloc(array, *room * size);
	if (!array)
		fail("plan", "no memory");
	return array;
}

/* ---- the plan: lines of numbers ---- */

static const char *name_of(uint64_t i)
{
	if (i >= n_names)
		fail("plan", "a name that is not there");
	return names[i];
}

static void numbers(char *at, uint64_t *n, int want)
{
	for (int i = 0; i < want; i++) {
		char *end;

		n[i] = strtoull(at, &end, 10);
		if (end == at)
			fail("plan", "a line is too short");
		at = end;
	}
}

static void read_thread(char *line)
{
	struct thread t = { .number = strtoul(line, &line, 10) };

	snprintf(t.name, sizeof(t.name), "%s", *line ? line + 1 : "");
	threads = realloc(threads, (n_threads + 1) * sizeof(*threads));
	threads[n_threads++] = t;
}

static void read_stream(char *line)
{
	uint64_t n[3];

	numbers(line, n, 3);
	if (!play_stream((uint32_t)n[0], (uint32_t)n[1], (uint32_t)n[2]))
		fail("plan", "there are not so many devices (SIM_DEVICES)");
}

static void read_call(char *line)
{
	uint64_t n[12];
	struct thread *t;

	numbers(line, n, 12);
	if (n[0] >= n_threads)
		fail("plan", "a thread that is not there");
	t = &threads[n[0]];
	t->calls = grown(t->calls, t->n, &t->room, sizeof(*t->calls));
	t->calls[t->n++] = (struct play_call){
		.domain = (uint32_t)n[1], .cbid = (uint32_t)n[2], .corr = (uint32_t)n[3], .begin = n[4], .end = n[5],
		.device = (uint32_t)n[6], .context = (uint32_t)n[7], .stream = (uint32_t)n[8], .event = (uint32_t)n[9],
		.name = name_of(n[10]), .n_ops = n[11],
	};
}

static struct op read_op(char *line)
{
	uint64_t n[OP_FIELDS];

	numbers(line, n, OP_FIELDS);
	return (struct op){
		.type = (enum op_type)n[0], .start = n[1], .end = n[2], .corr = (uint32_t)n[3], .device = (uint32_t)n[4],
		.context = (uint32_t)n[5], .stream = (uint32_t)n[6], .name = name_of(n[7]),
		.grid = { (uint32_t)n[8], (uint32_t)n[9], (uint32_t)n[10] },
		.block = { (uint32_t)n[11], (uint32_t)n[12], (uint32_t)n[13] },
		.registers = (uint32_t)n[14], .static_shared = (uint32_t)n[15], .dynamic_shared = (uint32_t)n[16],
		.bytes = n[17], .copy_kind = (uint8_t)n[18], .src_kind = (uint8_t)n[19], .dst_kind = (uint8_t)n[20],
		.value = (uint32_t)n[21], .graph = (uint32_t)n[22], .node = n[23], .event = (uint32_t)n[24], .async = 1,
	};
}

/* The lines of a call's operations follow the line of the call. */
static void read_plan(FILE *f)
{
	char *line = NULL;
	size_t size = 0, left = 0;
	struct play_call *call = NULL;

	while (getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "name ", 5)) {
			names = realloc(names, (n_names + 1) * sizeof(*names));
			names[n_names++] = strdup(line + 5);
		} else if (!strncmp(line, "thread ", 7)) {
			read_thread(line + 7);
		} else if (!strncmp(line, "cut ", 4) && n_cuts < sizeof(cuts) / sizeof(*cuts)) {
			numbers(line + 4, &cuts[n_cuts++], 1);
		} else if (!strncmp(line, "stream ", 7)) {
			read_stream(line + 7);
		} else if (!strncmp(line, "call ", 5)) {
			read_call(line + 5);
			call = &threads[strtoul(line + 5, NULL, 10)].calls[threads[strtoul(line + 5, NULL, 10)].n - 1];
			left = call->n_ops;
			call->ops = left ? calloc(left, sizeof(*call->ops)) : NULL;
		} else if (!strncmp(line, "op ", 3) && left) {
			call->ops[call->n_ops - left--] = read_op(line + 3);
			if (call->ops[0].type == OP_KERNEL)
				call->symbol = call->ops[0].name;
		} else if (!strncmp(line, "op ", 3)) {
			alone = grown(alone, n_alone, &room_alone, sizeof(*alone));
			alone[n_alone++] = read_op(line + 3);
		} else {
			fail("plan", "a line that nobody understands");
		}
	}
	free(line);
}

/* ---- playing ---- */

static uint64_t when(uint64_t t)
{
	return base + t / speed;
}

static void place(struct op *op)
{
	op->start = when(op->start);
	op->end = when(op->end);
	if (op->end > last_end)
		last_end = op->end;
}

static void place_all(void)
{
	for (size_t i = 0; i < n_threads; i++)
		for (size_t k = 0; k < threads[i].n; k++) {
			struct play_call *c = &threads[i].calls[k];

			c->begin = when(c->begin);
			c->end = when(c->end);
			for (size_t o = 0; o < c->n_ops; o++)
				place(&c->ops[o]);
		}
	for (size_t i = 0; i < n_alone; i++)
		place(&alone[i]);
	for (size_t i = 0; i < n_cuts; i++)
		cuts[i] = when(cuts[i]);
}

/* Waits at each cut before this time. */
static void pass_cuts(size_t *passed, uint64_t until)
{
	for (; *passed < n_cuts && cuts[*passed] <= until; ++*passed) {
		pthread_barrier_wait(&cut_barrier);
		pthread_barrier_wait(&cut_barrier);
	}
}

static void *play(void *arg)
{
	struct thread *t = arg;
	long tid = syscall(SYS_gettid);
	size_t passed = 0;

	if (*t->name)
		pthread_setname_np(pthread_self(), t->name);
	for (size_t i = 0; i < t->n; i++) {
		uint64_t late;

		pass_cuts(&passed, t->calls[i].begin);
		late = play_call(&t->calls[i]);
		if (late > t->late)
			t->late = late;
	}
	pass_cuts(&passed, UINT64_MAX);
	flockfile(stdout);
	printf("thread %d %lu %ld %u\n", getpid(), t->number, tid, (uint32_t)pthread_self());
	funlockfile(stdout);
	return NULL;
}

/*
 * In a real program correlation ids increase with time.  Here they are given and may not.  So this makes a call after each begin and end of
 * a profile, with an id lower than those of all later calls.
 */
static void call_first(uint64_t from)
{
	struct play_call first = { .domain = SIM_RUNTIME_API, .cbid = CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020,
				   .name = "cudaStreamSynchronize", .corr = UINT32_MAX };

	for (size_t i = 0; i < n_threads; i++)
		for (size_t k = 0; k < threads[i].n; k++) {
			const struct play_call *c = &threads[i].calls[k];

			if (c->begin >= from && c->corr <= first.corr) {
				first.corr = c->corr - 1;
				first.device = c->device;
				first.context = c->context;
				first.stream = c->stream;
			}
		}
	play_call(&first);
}

static void end_profile(const char *plan, size_t part)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s.profile.%zu", plan, part);
	profiler_end(path);
}

/* Begins and ends the profile at the cuts, so that every second part is profiled.  At a cut all threads and the GPU are idle. */
static void play_cuts(const char *plan)
{
	for (size_t i = 0; i < n_cuts; i++) {
		pthread_barrier_wait(&cut_barrier);
		play_wait(cuts[i]);
		if (profiler_end && i % 2)
			end_profile(plan, i);
		else if (profiler_begin)
			profiler_begin();
		if (profiler_begin)
			call_first(cuts[i]);
		pthread_barrier_wait(&cut_barrier);
	}
}

static void find_door(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned int) = NULL;

	if (!lib)
		fail("libcuda.so.1", dlerror());
	*(void **)&init = dlsym(lib, "cuInit");
	*(void **)&play_stream = dlsym(lib, "sim_play_stream");
	*(void **)&play_call = dlsym(lib, "sim_play_call");
	*(void **)&play_op = dlsym(lib, "sim_play_op");
	*(void **)&play_wait = dlsym(lib, "sim_play_wait");
	if (!play_stream || !play_call || !play_op || !play_wait)
		fail("libcuda.so.1", "not the simulated one");
	if (init(0))
		fail("cuInit", "no device");
}

int main(int argc, char **argv)
{
	FILE *plan = argc == 3 ? fopen(argv[1], "r") : NULL;
	uint64_t late = 0;
	struct timespec now;

	if (argc != 3 || !(speed = strtoull(argv[2], NULL, 10))) {
		fputs("usage: play PLAN SPEED\n", stderr);
		return 2;
	}
	if (!plan)
		fail(argv[1], strerror(errno));
	find_door();
	read_plan(plan);
	clock_gettime(CLOCK_REALTIME, &now);
	base = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + LEAD_NS;
	place_all();
	pthread_barrier_init(&cut_barrier, NULL, (unsigned int)n_threads + 1);
	if (profiler_begin && !n_cuts) {
		profiler_begin();
		call_first(0);
	}
	for (size_t i = 0; i < n_threads; i++)
		if (pthread_create(&threads[i].thread, NULL, play, &threads[i]))
			fail("thread", "cannot be created");
	play_cuts(argv[1]);
	for (size_t i = 0; i < n_alone; i++) {
		play_wait(alone[i].start);
		play_op(&alone[i]);
	}
	for (size_t i = 0; i < n_threads; i++) {
		pthread_join(threads[i].thread, NULL);
		if (threads[i].late > late)
			late = threads[i].late;
	}
	play_wait(last_end + 1000000);
	if (profiler_end && (!n_cuts || n_cuts % 2))
		end_profile(argv[1], n_cuts);
	printf("played %d %s %llu %llu\n", getpid(), argv[1], (unsigned long long)base, (unsigned long long)late);
	return 0;
}
