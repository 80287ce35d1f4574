/*
 * facts [reset]: a program of known launches, waits and events, in steps that facts.so (preloaded) asks CUPTI about.  Prints how often it
 * did what.
 */
#include "expect.h"

#include <cstring>
#include <dlfcn.h>

static const int LAUNCHES = 200, STREAM_SYNCS = 3, DEVICE_SYNCS = 4, EVENT_SYNCS = 2, QUERIES = 50;

extern "C" __global__ void quick()
{
}

extern "C" __global__ void spin_long(unsigned long long ns)
{
	long long start = clock64();

	while (clock64() - start < (long long)ns * 2)
		;
}

/* The questions are in a preloaded object; without it they are not asked. */
static void ask_clock(const char *when)
{
	auto ask = (void (*)(const char *))dlsym(RTLD_DEFAULT, "facts_clock");

	if (ask)
		ask(when);
}

static void ask_flush(int forced, const char *when)
{
	auto ask = (void (*)(int, const char *))dlsym(RTLD_DEFAULT, "facts_flush");

	if (ask)
		ask(forced, when);
}

static void ask_toggle()
{
	auto ask = (void (*)())dlsym(RTLD_DEFAULT, "facts_toggle");

	if (ask)
		ask();
}

/* Each kind of wait a known number of times, and queries that mostly find the event not ready. */
static void wait_in_every_way(cudaStream_t stream)
{
	cudaEvent_t done;

	OK(cudaEventCreate(&done));
	spin_long<<<1, 32, 0, stream>>>(20000000);
	OK(cudaEventRecord(done, stream));
	for (int i = 0; i < QUERIES; i++)
		cudaEventQuery(done);
	cudaGetLastError();     /* not ready is no error here */
	for (int i = 0; i < EVENT_SYNCS; i++)
		OK(cudaEventSynchronize(done));
	OK(cudaStreamWaitEvent(stream, done, 0));
	for (int i = 0; i < STREAM_SYNCS; i++)
		OK(cudaStreamSynchronize(stream));
	OK(cudaEventDestroy(done));
}

int main(int argc, char **argv)
{
	cudaStream_t stream;

	OK(cudaFree(0));
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int i = 0; i < LAUNCHES; i++)
		quick<<<1, 1, 0, stream>>>();
	wait_in_every_way(stream);
	ask_clock("later");
	OK(cudaDeviceSynchronize());
	ask_toggle();
	for (int i = 0; i < LAUNCHES; i++)
		quick<<<1, 1, 0, stream>>>();
	OK(cudaDeviceSynchronize());
	ask_flush(0, "idle");
	spin_long<<<1, 32, 0, stream>>>(300000000);
	ask_flush(0, "running");
	ask_flush(1, "running_forced");
	OK(cudaDeviceSynchronize());
	ask_flush(0, "after_running");
	for (int i = 0; i < LAUNCHES; i++)
		quick<<<1, 1, 0, stream>>>();
	OK(cudaDeviceSynchronize());
	ask_clock("end");
	printf("did launches %d\ndid stream_syncs %d\ndid device_syncs %d\n", 3 * LAUNCHES + 2, STREAM_SYNCS, DEVICE_SYNCS);
	printf("did event_syncs %d\ndid queries %d\ndid stream_waits 1\n", EVENT_SYNCS, QUERIES);
	fflush(stdout);
	if (argc > 1 && !strcmp(argv[1], "reset"))
		OK(cudaDeviceReset());
	return 0;
}
