/*
 * Cost of an NVTX push and pop in this process, beside an empty function call: prints "ns_of_a_pair ns_of_an_empty_call", each the
 * smallest of 15 rounds taken in turn.  How NVTX is served (not at all, recording, switched off) is up to who starts it.
 */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <time.h>

#define ROUNDS 15
#define CALLS  200000

static void nothing(void)
{
	__asm__ __volatile__("");
}

static void (*volatile empty)(void) = nothing;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double empty_calls(void)
{
	double start = now();

	for (int i = 0; i < CALLS; i++)
		empty();
	return (now() - start) / CALLS;
}

static double pairs(void)
{
	double start = now();

	for (int i = 0; i < CALLS; i++) {
		nvtxRangePushA("forward pass");
		nvtxRangePop();
	}
	return (now() - start) / CALLS;
}

int main(void)
{
	double pair = 1e9, call = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		double c = empty_calls(), p = pairs();

		call = c < call ? c : call;
		pair = p < pair ? p : pair;
	}
	printf("%.2f %.2f\n", pair, call);
	return 0;
}
