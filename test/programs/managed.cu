/*
 * managed [ROUNDS]: host and GPU use managed memory in turn, ROUNDS times (5), then once more after a prefetch.  The host writes 5 MiB, a
 * kernel changes it, the host reads it.  Prints the number of calls and the size of the memory.
 */
#include "spin.cuh"

#define BYTES ((size_t)5 << 20)

__global__ void spin_add(nanoseconds ns, unsigned *p, size_t n)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		p[i]++;
	spin_for(ns);
}

static void prefetch(const void *p, bool to_gpu)
{
#if CUDART_VERSION >= 13000
	cudaMemLocation where = { to_gpu ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost, 0 };

	CHECK(cudaMemPrefetchAsync(p, BYTES, where, 0, 0));
#else
	CHECK(cudaMemPrefetchAsync(p, BYTES, to_gpu ? 0 : cudaCpuDeviceId, 0));
#endif
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 5;
	size_t n = BYTES / sizeof(unsigned);
	unsigned *p, sum = 0;

	CHECK(cudaMallocManaged(&p, BYTES));
	for (int round = 0; round <= rounds; round++) {
		for (size_t i = 0; i < n; i += 1024)
			p[i] = (unsigned)round;
		if (round == rounds)
			prefetch(p, true);
		spin_add<<<8, 128>>>(20000, p, n);
		CHECK(cudaGetLastError());
		if (round == rounds)
			prefetch(p, false);
		CHECK(cudaDeviceSynchronize());
		for (size_t i = 0; i < n; i += 1024)
			sum += p[i];
	}
	CHECK(cudaFree(p));
	printf("sum %u\n", sum);
	printf("expect api cudaMallocManaged 1\n");
	printf("expect kernel spin_add %d\n", rounds + 1);
	return 0;
}
