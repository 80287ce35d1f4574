/*
 * memory_use [ROUNDS]: allocates and frees memory of every kind, ROUNDS times (3), and does not free one allocation of each kind.
 * Prints the expected table of memory use: kind, allocations, releases, peak in MiB.
 */
#include "spin.cuh"

#define MIB ((size_t)1 << 20)

static void *allocate(int kind, size_t size, cudaStream_t stream)
{
	void *p = nullptr;

	switch (kind) {
	case 0: CHECK(cudaMalloc(&p, size)); break;
	case 1: CHECK(cudaMallocAsync(&p, size, stream)); break;
	case 2: CHECK(cudaMallocHost(&p, size)); break;
	default: CHECK(cudaMallocManaged(&p, size)); break;
	}
	return p;
}

static void release(int kind, void *p, cudaStream_t stream)
{
	switch (kind) {
	case 1: CHECK(cudaFreeAsync(p, stream)); break;
	case 2: CHECK(cudaFreeHost(p)); break;
	default: CHECK(cudaFree(p)); break;
	}
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "Device", "Device (pool)", "Pinned", "Managed" };
	static const char *const calls[] = { "cudaMalloc", "cudaMallocAsync", "cudaMallocHost", "cudaMallocManaged" };
	int rounds = argc > 1 ? atoi(argv[1]) : 3;
	cudaStream_t stream;

	CHECK(cudaStreamCreate(&stream));
	puts("Memory,Allocations,Releases,Peak");
	for (int kind = 0; kind < 4; kind++) {
		void *kept = allocate(kind, (size_t)(kind + 1) * MIB, stream);

		for (int i = 0; i < rounds; i++) {
			void *a = allocate(kind, 4 * MIB, stream), *b = allocate(kind, 8 * MIB, stream);

			release(kind, a, stream);
			release(kind, b, stream);
		}
		CHECK(cudaStreamSynchronize(stream));
		if (!kept)
			return 1;
		printf("%s,%d,%d,%d\n", names[kind], 2 * rounds + 1, 2 * rounds, 13 + kind);
		printf("expect api %s %d\n", calls[kind], 2 * rounds + 1);
	}
	return 0;
}
