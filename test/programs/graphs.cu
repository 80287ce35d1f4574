/* graphs [LAUNCHES]: a captured graph of three kernels and a copy, launched LAUNCHES times (5). */
#include "spin.cuh"

__global__ void spin_in_graph(nanoseconds ns)
{
	spin_for(ns);
}

int main(int argc, char **argv)
{
	int launches = argc > 1 ? atoi(argv[1]) : 5;
	const size_t bytes = 1 << 16;
	cudaGraphExec_t exec;
	cudaStream_t stream;
	cudaGraph_t graph;
	void *host, *device;

	CHECK(cudaMallocHost(&host, bytes));
	CHECK(cudaMalloc(&device, bytes));
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
	for (int i = 0; i < 3; i++)
		spin_in_graph<<<1, 32, 0, stream>>>(20000);
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < launches; i++)
		CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	puts("Name,Instances");
	printf("spin_in_graph(unsigned long long),%d\nmemcpy HtoD,%d\ngraph launches,%d\n", 3 * launches, launches, launches);
	return 0;
}
