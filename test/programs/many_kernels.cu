/* many_kernels [N [NS]]: N small kernels (1000) of NS nanoseconds each (2000), one stream. */
#include "spin.cuh"

__global__ void spin_small(nanoseconds ns)
{
	spin_for(ns);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000;
	nanoseconds ns = argc > 2 ? strtoull(argv[2], nullptr, 0) : 2000;

	for (long i = 0; i < n; i++) {
		spin_small<<<1, 32>>>(ns);
		CHECK(cudaGetLastError());
	}
	CHECK(cudaDeviceSynchronize());
	puts("Name,Instances");
	printf("spin_small(unsigned long long),%ld\n", n);
	return 0;
}
