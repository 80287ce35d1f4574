/*
 * Nanoseconds per API row and per kernel record, against an empty function call in the same run.  The arena is small and is emptied
 * between rounds, as the collector would: its memory is warm, as it is after the first seconds of a program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject/cupti/cupti_activity.h"
#include "inject/cupti/cupti_buffers.h"
#include "test/unit/inject/cupti_fake.h"

#define ROUNDS 40
#define CALLS 20000
#define NAMES 40
#define RECORDS 4800            /* a buffer of 1 MiB of kernels of CUDA 13 */

static __attribute__((noinline)) void empty(void *user, int domain, uint32_t cbid, const void *data)
{
	__asm__ __volatile__("" : : "r"(user), "r"(domain), "r"(cbid), "r"(data) : "memory");
}

static void drain(void)
{
	struct arena *a = guest->arena;

	for (uint32_t i = 0; i < a->n_small + a->n_large; i++) {
		arena_block(a, i)->used = 0;
		if (a->block_state[i] == BLOCK_FULL) {
			a->block_state[i] = BLOCK_FREE;
			a->n_taken--;
		}
	}
}

/* The best of many rounds: other programs run on the machine too. */
static double best(void (*round)(void), unsigned n)
{
	double least = 1e30;

	for (int i = 0; i < ROUNDS; i++) {
		int64_t begin = clock_ns(CLOCK_MONOTONIC);
		double ns;

		round();
		ns = (double)(clock_ns(CLOCK_MONOTONIC) - begin) / n;
		if (ns < least)
			least = ns;
		drain();
	}
	return least;
}

static void (*callback)(void *user, int domain, uint32_t cbid, const void *data);

static void call_round(void)
{
	int result = 0;
	uint64_t data = 0;
	struct cupti_call_data d = { .function = "function", .result = &result, .data = &data };

	for (uint32_t i = 0; i < CALLS; i++) {
		d.corr = i + 1;
		d.site = SITE_ENTER;
		callback(NULL, DOMAIN_RUNTIME, 211, &d);
		d.site = SITE_EXIT;
		callback(NULL, DOMAIN_RUNTIME, 211, &d);
	}
}

static char names[NAMES][128];
static uint8_t *buffer;
static uint32_t walked;

static int next_record(uint8_t *from, size_t valid, uint8_t **record)
{
	uint8_t *next = *record ? *record + 216 : from;

	if (next >= from + valid)
		return RESULT_MAX_LIMIT;
	walked++;
	*record = next;
	return RESULT_OK;
}

static void fill(void)
{
	size_t size, max;

	cupti_buffers_request(&buffer, &size, &max);
	memset(buffer, 0, size);
	for (uint32_t i = 0; i < RECORDS; i++) {
		uint8_t *r = buffer + i * 216;

		put32(r, 0, KIND_CONCURRENT_KERNEL);
		put16(r, 6, 32);
		put64(r, 16, 5000 + i * 10);
		put64(r, 24, 5008 + i * 10);
		put32(r, 52, 1 + i % NAMES % 8);
		put32(r, 64, 128);
		put32(r, 92, i);
		put64(r, 104, (uintptr_t)names[i % NAMES]);
	}
}

static void record_round(void)
{
	size_t size, max;

	cupti_activity_complete(NULL, 0, buffer, CUPTI_BUFFER_SIZE, RECORDS * 216u);
	cupti_buffers_request(&buffer, &size, &max);    /* the one just returned */
}

static void walk_round(void)
{
	uint8_t *record = NULL;

	while (tracer.fn.ActivityGetNextRecord(buffer, RECORDS * 216u, &record) == RESULT_OK)
		__asm__ __volatile__("" : : "r"(*record) : "memory");
}

int main(void)
{
	double nothing, on, off, rows, walk;

	cupti_fake(130001);
	guest->clock = CLOCK_TSC;
	for (int i = 0; i < NAMES; i++)
		snprintf(names[i], sizeof names[i],
			 "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEEEEviT0_T1_%d", i);
	tracer.fn.ActivityGetNextRecord = next_record;
	fill();

	callback = empty;
	nothing = best(call_round, CALLS);
	callback = cupti_callback;
	on = best(call_round, CALLS);
	walk = best(walk_round, RECORDS);
	rows = best(record_round, RECORDS);
	fake_order(0);
	off = best(call_round, CALLS);
	printf("two empty function calls\t%.1f\tns\t\n", nothing);
	printf("API row (enter and exit callback)\t%.1f\tns\t%.1fx two empty calls\n", on, on / nothing);
	printf("API call while recording is off\t%.1f\tns\t%.1fx two empty calls\n", off, off / nothing);
	printf("kernel record to row\t%.1f\tns\t%.1f ns of it the walk\n", rows, walk);
	return walked ? 0 : 1;
}
