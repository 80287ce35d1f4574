/* streams [N [K [NS]]]: K kernels (10) of NS nanoseconds (200000) on each of N streams (4), which overlap. */
#include "spin.cuh"

#include <vector>

__global__ void spin_overlapping(nanoseconds ns)
{
	spin_for(ns);
}

__global__ void spin_after_all(nanoseconds ns)
{
	spin_for(ns);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 4, k = argc > 2 ? atoi(argv[2]) : 10;
	nanoseconds ns = argc > 3 ? strtoull(argv[3], nullptr, 0) : 200000;
	std::vector<cudaStream_t> stream(n);
	std::vector<cudaEvent_t> done(n);
	const size_t bytes = 1 << 20;
	void *host, *device;

	CHECK(cudaMallocHost(&host, bytes));
	CHECK(cudaMalloc(&device, bytes));
	for (int i = 0; i < n; i++) {
		CHECK(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
		CHECK(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	}
	for (int j = 0; j < k; j++)
		for (int i = 0; i < n; i++) {
			spin_overlapping<<<1, 64, 0, stream[i]>>>(ns);
			CHECK(cudaGetLastError());
		}
	CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream[0]));
	/* The last stream waits for all other streams. */
	for (int i = 0; i < n; i++) {
		CHECK(cudaEventRecord(done[i], stream[i]));
		CHECK(cudaStreamWaitEvent(stream[n - 1], done[i], 0));
	}
	spin_after_all<<<1, 64, 0, stream[n - 1]>>>(ns);
	CHECK(cudaGetLastError());
	CHECK(cudaStreamSynchronize(stream[n - 1]));
	for (int i = 0; i < n; i++) {
		CHECK(cudaEventDestroy(done[i]));
		CHECK(cudaStreamDestroy(stream[i]));
	}
	CHECK(cudaFree(device));
	CHECK(cudaFreeHost(host));
	puts("Name,Instances");
	printf("spin_overlapping(unsigned long long),%d\nspin_after_all(unsigned long long),1\n", n * k);
	printf("memcpy HtoD,1\nstreams,%d\n", n);
	return 0;
}
