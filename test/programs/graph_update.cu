/*
 * graph_update [N]: launches an executable graph, updates it from a graph of the same shape that was captured later, and launches it again,
 * N times (3).  Prints the number of calls that create and change graphs, and of kernels.
 */
#include "spin.cuh"

#include <nvtx3/nvToolsExt.h>

__global__ void spin_updated(nanoseconds ns)
{
	spin_for(ns);
}

static cudaStream_t stream;

static cudaGraph_t capture(nanoseconds ns)
{
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	spin_updated<<<1, 32, 0, stream>>>(ns);
	spin_updated<<<1, 64, 0, stream>>>(ns);
	CHECK(cudaStreamEndCapture(stream, &graph));
	return graph;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 3;
	cudaGraphExecUpdateResultInfo info;
	cudaGraphExec_t exec;
	cudaGraph_t empty, graph;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaGraphCreate(&empty, 0));
	nvtxRangePushA("first");
	graph = capture(10000);
	nvtxRangePop();
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaGraphLaunch(exec, stream));
	nvtxRangePushA("later");
	for (int i = 0; i < n; i++) {
		graph = capture(20000);
		CHECK(cudaGraphExecUpdate(exec, graph, &info));
		CHECK(cudaGraphDestroy(graph));
		CHECK(cudaGraphLaunch(exec, stream));
	}
	nvtxRangePop();
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(empty));
	printf("cudaGraphCreate,1\ncudaGraphDestroy,%d\ncudaGraphExecDestroy,1\ncudaGraphExecUpdate,%d\n", n + 2, n);
	printf("cudaGraphInstantiate,1\ncudaGraphLaunch,%d\n", n + 1);
	printf("cudaStreamBeginCapture,%d\ncudaStreamEndCapture,%d\n", n + 1, n + 1);
	printf("expect kernel spin_updated %d\nexpect api cudaGraphExecUpdate %d\n", 2 * (n + 1), n);
	return 0;
}
