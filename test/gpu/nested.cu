/*
 * nested N: N kernels that launch a kernel each (dynamic parallelism).  "parent" is launched by the host, "child" by the GPU.
 * nested conditional: a graph with a conditional node, whose body runs 3 times.
 * nested green: a kernel in a green context.
 * The last two ask the driver for what they need, and end with 2 where it does not know it.
 */
#include "expect.h"

#include <cstring>
#include <cuda.h>
#include <dlfcn.h>

extern "C" __global__ void child()
{
}

extern "C" __global__ void parent()
{
	child<<<1, 1>>>();
}

#if CUDART_VERSION >= 12040
extern "C" __global__ void body(cudaGraphConditionalHandle handle, int *left)
{
	cudaGraphSetConditional(handle, --*left > 0);
}

static int conditional()
{
	cudaGraphConditionalHandle handle;
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	cudaGraphNode_t node;
	cudaStream_t stream;
	int *left, three = 3;

	OK(cudaMalloc((void **)&left, sizeof *left));
	OK(cudaMemcpy(left, &three, sizeof three, cudaMemcpyHostToDevice));
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
	cudaGraphNodeParams what = {};
	what.type = cudaGraphNodeTypeConditional;
	what.conditional.handle = handle;
	what.conditional.type = cudaGraphCondTypeWhile;
	what.conditional.size = 1;
#if CUDART_VERSION >= 13000
	OK(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &what));
#else
	OK(cudaGraphAddNode(&node, graph, NULL, 0, &what));
#endif
	OK(cudaStreamCreate(&stream));
	OK(cudaStreamBeginCaptureToGraph(stream, what.conditional.phGraph_out[0], NULL, NULL, 0, cudaStreamCaptureModeGlobal));
	body<<<1, 1, 0, stream>>>(handle, left);
	OK(cudaStreamEndCapture(stream, NULL));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	puts("expect graph_kernels 3\nexpect api cudaGraphLaunch 1");
	return 0;
}
#else
static int conditional()
{
	return 2;
}
#endif

#if CUDA_VERSION >= 12040
#define FN(fn) auto p_##fn = (__typeof__(&fn))dlsym(library, #fn)

static int green()
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	FN(cuDeviceGetDevResource);
	FN(cuDevResourceGenerateDesc);
	FN(cuGreenCtxCreate);
	FN(cuGreenCtxStreamCreate);
	FN(cuGreenCtxDestroy);
	CUdevResource all;
	CUdevResourceDesc description;
	CUgreenCtx context;
	CUstream stream;

	if (!p_cuGreenCtxCreate || !p_cuGreenCtxStreamCreate || !p_cuDevResourceGenerateDesc || !p_cuDeviceGetDevResource)
		return 2;
	OK(cudaFree(0));
	if (p_cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM) || p_cuDevResourceGenerateDesc(&description, &all, 1) ||
	    p_cuGreenCtxCreate(&context, description, 0, CU_GREEN_CTX_DEFAULT_STREAM) ||
	    p_cuGreenCtxStreamCreate(&stream, context, CU_STREAM_NON_BLOCKING, 0))
		return 2;
	for (int i = 0; i < 10; i++)
		child<<<1, 1, 0, stream>>>();
	OK(cudaStreamSynchronize(stream));
	OK(cudaGetLastError());
	if (p_cuGreenCtxDestroy)
		p_cuGreenCtxDestroy(context);
	puts("expect kernels 10\nexpect kernel child 10");
	return 0;
}
#else
static int green()
{
	return 2;
}
#endif

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;

	if (argc > 1 && !strcmp(argv[1], "conditional"))
		return conditional();
	if (argc > 1 && !strcmp(argv[1], "green"))
		return green();
	for (int i = 0; i < n; i++)
		parent<<<1, 1>>>();
	OK(cudaGetLastError());
	OK(cudaDeviceSynchronize());
	printf("did parents %d\nexpect kernel parent %d\n", n, n);
	return n ? 0 : 2;
}
