/*
 * loops launch N       N empty kernels in a row; what one launch cost the host: what a profiler adds shows here first
 * loops compute N      N kernels of about 100 us each, one after the other; what one takes
 * loops graph N        a graph of 100 empty kernels, launched N times; what one node costs
 * loops memory N       N allocations and releases from a pool; what a pair costs
 * loops until          launches until it is killed, and says every few thousand launches how many have run on the GPU
 *
 * Prints the figure and what a trace of it must hold.
 */
#include "expect.h"

#include <chrono>
#include <cstring>

static const int NODES = 100, WARM = 1000;
static const unsigned long long BUSY_NS = 100000;

extern "C" __global__ void nothing()
{
}

/* On the simulated GPU the name says that the argument is how long it runs. */
extern "C" __global__ void spin_compute(unsigned long long ns)
{
	long long start = clock64();

	while (clock64() - start < (long long)ns * 2)
		;
}

template <class F> static double ns_each(int n, F once)
{
	auto start = std::chrono::steady_clock::now();

	for (int i = 0; i < n; i++)
		once();
	OK(cudaDeviceSynchronize());
	return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / n;
}

static void launch()
{
	nothing<<<1, 1>>>();
}

static void loop_launch(int n)
{
	ns_each(WARM, launch);
	printf("figure ns_per_launch %.1f\n", ns_each(n, launch));
	printf("expect kernels %d\nexpect kernel nothing %d\nexpect api cudaLaunchKernel %d\n", n + WARM, n + WARM, n + WARM);
}

static void loop_compute(int n)
{
	auto once = [] { spin_compute<<<1, 32>>>(BUSY_NS); };

	ns_each(10, once);
	printf("figure ns_per_kernel %.1f\n", ns_each(n, once));
	printf("expect kernels %d\nexpect kernel spin_compute %d\n", n + 10, n + 10);
}

static void loop_graph(int n)
{
	cudaGraphExec_t exec;
	cudaStream_t stream;
	cudaGraph_t graph;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < NODES; i++)
		nothing<<<1, 1, 0, stream>>>();
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	auto once = [&] { OK(cudaGraphLaunch(exec, stream)); };

	ns_each(10, once);
	printf("figure ns_per_node %.1f\n", ns_each(n, once) / NODES);
	printf("expect graph_kernels %d\nexpect api cudaGraphLaunch %d\n", (n + 10) * NODES, n + 10);
}

static void loop_memory(int n)
{
	cudaStream_t stream;

	OK(cudaStreamCreate(&stream));
	auto once = [&] {
		void *p;

		OK(cudaMallocAsync(&p, 1 << 16, stream));
		OK(cudaFreeAsync(p, stream));
	};

	ns_each(100, once);
	printf("figure ns_per_pair %.1f\n", ns_each(n, once));
	printf("expect api cudaMallocAsync %d\nexpect api cudaFreeAsync %d\n", n + 100, n + 100);
}

/* "ran N NS": so many had run on the GPU at that time of CLOCK_REALTIME, as a kill in the next moment leaves it. */
static void loop_until()
{
	for (long n = 2000;; n += 2000) {
		ns_each(2000, launch);
		timespec now;
		clock_gettime(CLOCK_REALTIME, &now);
		printf("ran %ld %lld\n", n, now.tv_sec * 1000000000ll + now.tv_nsec);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "launch";
	int n = argc > 2 ? atoi(argv[2]) : 10000;

	if (!strcmp(how, "launch"))
		loop_launch(n);
	else if (!strcmp(how, "compute"))
		loop_compute(n);
	else if (!strcmp(how, "graph"))
		loop_graph(n);
	else if (!strcmp(how, "memory"))
		loop_memory(n);
	else if (!strcmp(how, "until"))
		loop_until();
	else
		return 2;
	OK(cudaGetLastError());
	return 0;
}
