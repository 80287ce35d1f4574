/* threads [N [K]]: N host threads (4), each with a stream of its own, launch K kernels (50) each. */
#include "spin.cuh"

#include <thread>
#include <vector>

__global__ void spin_thread(nanoseconds ns)
{
	spin_for(ns);
}

static void work(int k)
{
	cudaStream_t stream;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int i = 0; i < k; i++) {
		spin_thread<<<2, 32, 0, stream>>>(5000);
		CHECK(cudaGetLastError());
	}
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaStreamDestroy(stream));
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 4, k = argc > 2 ? atoi(argv[2]) : 50;
	std::vector<std::thread> threads;

	for (int i = 0; i < n; i++)
		threads.emplace_back(work, k);
	for (auto &t : threads)
		t.join();
	puts("Name,Instances");
	printf("spin_thread(unsigned long long),%d\nthreads,%d\n", n * k, n);
	return 0;
}
