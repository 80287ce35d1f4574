/*
 * exit_paths HOW [N [WAIT_MS]]: launches N kernels (20) and waits for them, sleeps WAIT_MS (0), then ends as HOW says: return exit _exit
 * quick_exit abort segv kill9 reset printexit running across.  `running` returns while a kernel runs; `across` launches a kernel of the
 * same length after WAIT_MS and waits for it.
 */
#include "spin.cuh"

#include <csignal>
#include <cstring>
#include <unistd.h>

__global__ void spin_small(nanoseconds ns)
{
	spin_for(ns);
}

__global__ void spin_long(nanoseconds ns)
{
	spin_for(ns);
}

static void say_goodbye()
{
	puts("printed from atexit");
}

static int end(const char *how)
{
	if (!strcmp(how, "return"))
		return 0;
	if (!strcmp(how, "exit"))
		exit(7);
	if (!strcmp(how, "_exit"))
		_exit(8);
	if (!strcmp(how, "quick_exit"))
		quick_exit(9);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		raise(SIGSEGV);
	if (!strcmp(how, "kill9"))
		raise(SIGKILL);
	if (!strcmp(how, "reset"))
		CHECK(cudaDeviceReset());
	if (!strcmp(how, "printexit"))
		atexit(say_goodbye);
	if (!strcmp(how, "across")) {
		spin_long<<<1, 32>>>(500000000ull);
		CHECK(cudaDeviceSynchronize());
	}
	if (!strcmp(how, "running"))
		spin_long<<<1, 32>>>(500000000ull);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";
	int n = argc > 2 ? atoi(argv[2]) : 20, wait_ms = argc > 3 ? atoi(argv[3]) : 0;

	for (int i = 0; i < n; i++) {
		spin_small<<<1, 32>>>(20000);
		CHECK(cudaGetLastError());
	}
	CHECK(cudaDeviceSynchronize());
	puts("Name,Instances");
	printf("spin_small(unsigned long long),%d\n", n);
	fflush(stdout);
	usleep(wait_ms * 1000u);
	return end(how);
}
