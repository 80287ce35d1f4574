/*
 * profiler_calls [N]: N times (5): cudaProfilerStart, a kernel and a wait for it, a kernel without a wait, cudaProfilerStop; at the end
 * waits for all.  Prints the longest time of cudaProfilerStop in ms on stderr.
 */
#include "spin.cuh"

#include <chrono>
#include <cuda_profiler_api.h>

__global__ void spin_short(nanoseconds ns)
{
	spin_for(ns);
}

__global__ void spin_on(nanoseconds ns)
{
	spin_for(ns);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 5;
	long longest = 0;

	for (int i = 0; i < n; i++) {
		CHECK(cudaProfilerStart());
		spin_short<<<1, 32>>>(20000);
		CHECK(cudaDeviceSynchronize());
		spin_on<<<1, 32>>>(20000000);
		CHECK(cudaGetLastError());
		auto begin = std::chrono::steady_clock::now();
		CHECK(cudaProfilerStop());
		long ms = (long)std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
		longest = ms > longest ? ms : longest;
	}
	CHECK(cudaDeviceSynchronize());
	fprintf(stderr, "longest %ld\n", longest);
	puts("Name,Instances");
	printf("spin_short(unsigned long long),%d\nspin_on(unsigned long long),%d\n", n, n);
	return 0;
}
