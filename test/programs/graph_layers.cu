/*
 * graph_layers [LAUNCHES]: one thread captures a graph of layers, each in an NVTX range, and makes two executable graphs of it; the
 * main thread launches both, LAUNCHES times each (3), inside another range.
 */
#include "spin.cuh"

#include <nvtx3/nvToolsExt.h>
#include <thread>

__global__ void spin_attention(nanoseconds ns)
{
	spin_for(ns);
}

__global__ void spin_mlp(nanoseconds ns)
{
	spin_for(ns);
}

static cudaStream_t stream;
static cudaGraphExec_t exec[2];

static void layer(const char *name, nanoseconds ns)
{
	nvtxRangePushA(name);
	spin_attention<<<1, 32, 0, stream>>>(ns);
	nvtxRangePushA("mlp");
	spin_mlp<<<1, 64, 0, stream>>>(2 * ns);
	spin_mlp<<<1, 64, 0, stream>>>(2 * ns);
	nvtxRangePop();
	nvtxRangePop();
}

static void build(void)
{
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	layer("layer 0", 10000);
	layer("layer 1", 10000);
	spin_attention<<<1, 32, 0, stream>>>(10000);
	CHECK(cudaStreamEndCapture(stream, &graph));
	for (int i = 0; i < 2; i++)
		CHECK(cudaGraphInstantiate(&exec[i], graph, 0));
	CHECK(cudaGraphDestroy(graph));
}

int main(int argc, char **argv)
{
	int launches = argc > 1 ? atoi(argv[1]) : 3;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	std::thread(build).join();
	nvtxRangePushA("replay");
	for (int i = 0; i < 2 * launches; i++)
		CHECK(cudaGraphLaunch(exec[i % 2], stream));
	CHECK(cudaStreamSynchronize(stream));
	nvtxRangePop();
	puts("Captured In,Name,Instances");
	printf("layer 0,spin_attention(unsigned long long),%d\nlayer 1,spin_attention(unsigned long long),%d\n", 2 * launches, 2 * launches);
	printf(",spin_attention(unsigned long long),%d\n", 2 * launches);
	printf("layer 0/mlp,spin_mlp(unsigned long long),%d\nlayer 1/mlp,spin_mlp(unsigned long long),%d\n", 4 * launches, 4 * launches);
	printf("graph launches,%d\n", 2 * launches);
	return 0;
}
