/*
 * event_pairs [N]: kernels between two events, N times (4), in three ways: on a busy stream, on an idle stream, and with events on the
 * default stream around work of another stream.  Prints the measured time of each pair in ns.
 */
#include "spin.cuh"

#include <cmath>

__global__ void spin_between(nanoseconds ns)
{
	spin_for(ns);
}

static long long measured(cudaEvent_t a, cudaEvent_t b)
{
	float ms = 0;

	CHECK(cudaEventElapsedTime(&ms, a, b));
	return llround(ms * 1e6);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 4;
	cudaStream_t alone, blocking;
	cudaEvent_t a, b;

	CHECK(cudaStreamCreateWithPriority(&alone, cudaStreamNonBlocking, -1));
	CHECK(cudaStreamCreate(&blocking));
	CHECK(cudaEventCreate(&a));
	CHECK(cudaEventCreate(&b));
	puts("Stream,Elapsed");
	for (int i = 0; i < n; i++) {
		/* work before the first event keeps the stream busy until the second event is submitted */
		spin_between<<<1, 32, 0, alone>>>(20000000);
		CHECK(cudaEventRecord(a, alone));
		spin_between<<<1, 32, 0, alone>>>(100000 * (i + 1));
		spin_between<<<1, 32, 0, alone>>>(50000);
		CHECK(cudaEventRecord(b, alone));
		CHECK(cudaEventSynchronize(b));
		printf("busy,%lld\n", measured(a, b));
	}
	for (int i = 0; i < n; i++) {
		CHECK(cudaEventRecord(a, alone));
		spin_between<<<1, 32, 0, alone>>>(5000000);
		CHECK(cudaEventRecord(b, alone));
		CHECK(cudaStreamSynchronize(alone));
		printf("idle,%lld\n", measured(a, b));
	}
	for (int i = 0; i < n; i++) {
		spin_between<<<1, 32>>>(20000000);
		CHECK(cudaEventRecord(a));
		spin_between<<<1, 32, 0, blocking>>>(3000000);
		CHECK(cudaEventRecord(b));
		CHECK(cudaDeviceSynchronize());
		printf("default,%lld\n", measured(a, b));
	}
	printf("expect kernel spin_between %d\nexpect api cudaEventRecord %d\n", 6 * n, 6 * n);
	return 0;
}
