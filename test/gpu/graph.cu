// A captured graph of ten kernels and a set, launched twenty times: its nodes are kernels like others.
#include "expect.h"

static const int NODES = 10, LAUNCHES = 20;

extern "C" __global__ void node(int *x)
{
	atomicAdd(x, 1);
}

int main()
{
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	int *x, sum = 0;

	OK(cudaStreamCreate(&stream));
	OK(cudaMalloc((void **)&x, sizeof *x));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaMemsetAsync(x, 0, sizeof *x, stream));
	for (int i = 0; i < NODES; i++)
		node<<<1, 1, 0, stream>>>(x);
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	for (int i = 0; i < LAUNCHES; i++)
		OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemcpy(&sum, x, sizeof sum, cudaMemcpyDeviceToHost));
	if (sum != NODES)
		fprintf(stderr, "graph: the kernels counted %d, not %d\n", sum, NODES);
	printf("expect kernels %d\nexpect kernel node %d\n", NODES * LAUNCHES, NODES * LAUNCHES);
	printf("expect copies 1\nexpect sets %d\nexpect api cudaGraphLaunch %d\n", LAUNCHES, LAUNCHES);
	return 0;
}
