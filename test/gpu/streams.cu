// Four threads, each with two streams of its own that wait for each other: 250 kernels a stream, interleaved.
#include "expect.h"

#include <thread>
#include <vector>

static const int THREADS = 4, ROUNDS = 250;

extern "C" __global__ void spin(long long cycles)
{
	long long start = clock64();

	while (clock64() - start < cycles)
		;
}

static void work()
{
	cudaStream_t a, b;
	cudaEvent_t done;

	OK(cudaStreamCreate(&a));
	OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
	for (int i = 0; i < ROUNDS; i++) {
		spin<<<1, 32, 0, a>>>(2000);
		OK(cudaEventRecord(done, a));
		OK(cudaStreamWaitEvent(b, done, 0));
		spin<<<1, 32, 0, b>>>(1000);
	}
	OK(cudaStreamSynchronize(b));
}

int main()
{
	std::vector<std::thread> threads;

	OK(cudaFree(0));
	for (int i = 0; i < THREADS; i++)
		threads.emplace_back(work);
	for (auto &t : threads)
		t.join();
	OK(cudaDeviceSynchronize());
	printf("expect kernels %d\nexpect kernel spin %d\n", 2 * THREADS * ROUNDS, 2 * THREADS * ROUNDS);
	printf("expect copies 0\nexpect sets 0\nexpect api cudaLaunchKernel %d\n", 2 * THREADS * ROUNDS);
	printf("expect api cudaStreamSynchronize %d\n", THREADS);
	return 0;
}
