// launch_loop [N]: N empty kernels in a row, and what one launch cost the host: what a profiler adds shows here first.
#include "expect.h"

#include <chrono>

extern "C" __global__ void nothing()
{
}

static double launch(int n)
{
	auto start = std::chrono::steady_clock::now();

	for (int i = 0; i < n; i++)
		nothing<<<1, 1>>>();
	OK(cudaDeviceSynchronize());
	return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / n;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 200000;

	launch(1000);
	printf("figure ns_per_launch %.1f\n", launch(n));
	printf("expect kernels %d\nexpect kernel nothing %d\nexpect api cudaLaunchKernel %d\n", n + 1000, n + 1000, n + 1000);
	return 0;
}
