/*
 * every_kind [THREADS]: all kinds of work for which CUPTI has records or callbacks, with the driver API only: three kinds of kernel
 * launches, copies, sets, waits, events on streams of another context, pools, graphs with a conditional node that are instantiated twice
 * and updated, a green context, THREADS threads (8) that launch at the same time, and a library that retains and releases the primary
 * context.  Prints the number of kernels, the peak resident memory in MiB, and the time of the releases of the primary context in ms.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM "every_kind"
#define NEEDS(X)                                                                                                 \
	X(cuInit) X(cuDeviceGet) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease_v2) X(cuCtxSetCurrent)      \
	X(cuCtxDestroy_v2) X(cuModuleLoad) X(cuModuleLoadData) X(cuModuleGetFunction) X(cuMemAlloc_v2) X(cuMemFree_v2)    \
	X(cuMemAllocAsync) X(cuMemFreeAsync) X(cuMemcpyHtoD_v2) X(cuMemcpyHtoDAsync_v2) X(cuMemcpyDtoH_v2)            \
	X(cuMemcpyDtoDAsync_v2) X(cuMemsetD32_v2) X(cuMemsetD8Async) X(cuStreamCreate) X(cuStreamCreateWithPriority)  \
	X(cuStreamDestroy_v2) X(cuStreamWaitEvent) X(cuStreamQuery) X(cuStreamSynchronize) X(cuEventCreate)           \
	X(cuEventRecord) X(cuEventQuery) X(cuEventSynchronize) X(cuLaunchKernel) X(cuLaunchCooperativeKernel)         \
	X(cuCtxSynchronize) X(cuStreamBeginCapture_v2) X(cuStreamEndCapture) X(cuGraphInstantiateWithFlags)           \
	X(cuGraphExecUpdate_v2) X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy)

#include "test/programs/driver.h"

#define LAUNCHES 60             /* per thread, about 1 ms apart, so that several flushes happen meanwhile */
#define WORDS 1024

static CUcontext primary;
static CUfunction fn;
static CUdevice dev;
static _Atomic int kernels;

static void launch(CUstream stream, unsigned long long ns)
{
	void *args[] = { &ns };

	DO(cuLaunchKernel, fn, 2, 1, 1, 32, 1, 1, 0, stream, args, NULL);
	kernels++;
}

static CUstream new_stream(void)
{
	CUstream stream;

	DO(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	return stream;
}

static void load(void)
{
	CUmodule module;

	DO(cuModuleLoadData, &module, ptx);
	DO(cuModuleGetFunction, &fn, module, "spin_ptx");
}

/* Loads the same code again, from a file. */
static void load_file(void)
{
	char path[] = "every_kind.XXXXXX";
	int fd = mkstemp(path);
	CUmodule module;

	if (fd < 0 || write(fd, ptx, sizeof(ptx)) != sizeof(ptx))
		must(CUDA_ERROR_FILE_NOT_FOUND, path);
	close(fd);
	DO(cuModuleLoad, &module, path);
	unlink(path);
}

static void copies(void)
{
	static unsigned int host[WORDS];
	CUdeviceptr p, q, pooled;
	CUstream stream = new_stream();

	DO(cuMemAlloc_v2, &p, sizeof(host));
	DO(cuMemAlloc_v2, &q, sizeof(host));
	DO(cuMemcpyHtoD_v2, p, host, sizeof(host));
	DO(cuMemsetD32_v2, p, 7, WORDS);
	DO(cuMemcpyHtoDAsync_v2, q, host, sizeof(host), stream);
	DO(cuMemsetD8Async, q, 3, sizeof(host), stream);
	DO(cuMemcpyDtoDAsync_v2, q, p, sizeof(host), stream);
	DO(cuMemAllocAsync, &pooled, 1 << 20, stream);
	DO(cuMemFreeAsync, pooled, stream);
	DO(cuStreamSynchronize, stream);
	DO(cuMemcpyDtoH_v2, host, q, sizeof(host));
	if (host[WORDS - 1] != 7)
		must(CUDA_ERROR_UNKNOWN, "a copy brought the wrong data");
	DO(cuMemFree_v2, p);
	DO(cuMemFree_v2, q);
	DO(cuStreamDestroy_v2, stream);
}

static void sorts_of_kernels(void)
{
	unsigned long long ns = 20000;
	void *args[] = { &ns };
	CUstream stream;

	DO(cuStreamCreateWithPriority, &stream, CU_STREAM_NON_BLOCKING, -1);
	launch(NULL, ns);
	launch(stream, ns);
	DO(cuLaunchCooperativeKernel, fn, 1, 1, 1, 32, 1, 1, 0, stream, args);
	kernels++;
	p_cuStreamQuery(stream);        /* either result is valid */
	DO(cuCtxSynchronize);
	DO(cuStreamDestroy_v2, stream);
}

/* Streams of two contexts with the same id.  Events are recorded and waited for while the other context is current. */
static void events(CUresult (*create)(CUcontext *, unsigned int, CUdevice))
{
	CUstream here = new_stream(), there;
	CUevent event;
	CUcontext other;

	must(create(&other, 0, dev), "cuCtxCreate");
	there = new_stream();
	DO(cuEventCreate, &event, 0);
	DO(cuCtxSetCurrent, primary);
	DO(cuEventRecord, event, there);
	DO(cuStreamWaitEvent, here, event, 0);
	launch(here, 5000);
	DO(cuCtxSetCurrent, other);
	DO(cuEventSynchronize, event);
	DO(cuStreamWaitEvent, here, event, 0);
	DO(cuCtxSetCurrent, primary);
	DO(cuCtxSynchronize);
	DO(cuCtxDestroy_v2, other);
	DO(cuEventCreate, &event, 0);
	for (int i = 0; i < 5; i++)
		DO(cuEventRecord, event, here);
	DO(cuEventSynchronize, event);
	DO(cuEventQuery, event);
}

/* Looked up at run time: older drivers do not have these functions. */
static void add_conditional(void *lib, CUgraph graph)
{
	CUresult (*handle)(CUgraphConditionalHandle *, CUgraph, CUcontext, unsigned int, unsigned int);
	CUresult (*add)(CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUgraphNodeParams *);
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_CONDITIONAL };
	CUgraphNode node;

	*(void **)&handle = dlsym(lib, "cuGraphConditionalHandleCreate");
	*(void **)&add = dlsym(lib, "cuGraphAddNode_v2");
	if (!handle || !add)
		return;
	must(handle(&params.conditional.handle, graph, primary, 0, 0), "cuGraphConditionalHandleCreate");
	params.conditional.type = CU_GRAPH_COND_TYPE_IF;
	params.conditional.size = 1;
	params.conditional.ctx = primary;
	must(add(&node, graph, NULL, NULL, 0, &params), "cuGraphAddNode");
}

static CUgraph capture(CUstream stream, CUdeviceptr p)
{
	CUgraph graph;
	int before = kernels;

	DO(cuStreamBeginCapture_v2, stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
	launch(stream, 3000);
	DO(cuMemsetD8Async, p, 1, 4096, stream);
	launch(stream, 2000);
	DO(cuStreamEndCapture, stream, &graph);
	kernels = before;
	return graph;
}

static void graphs(void *lib)
{
	CUstream stream = new_stream();
	CUgraphExecUpdateResultInfo info;
	CUgraphExec exec[2];
	CUgraph graph, again;
	CUdeviceptr p;

	DO(cuMemAlloc_v2, &p, 4096);
	graph = capture(stream, p);
	add_conditional(lib, graph);
	for (int i = 0; i < 2; i++)
		DO(cuGraphInstantiateWithFlags, &exec[i], graph, 0);
	for (int i = 0; i < 3; i++) {
		DO(cuGraphLaunch, exec[i % 2], stream);
		kernels += 2;
	}
	again = capture(stream, p);
	p_cuGraphExecUpdate_v2(exec[0], again, &info);  /* fails: `again` lacks a node */
	DO(cuGraphLaunch, exec[0], stream);
	kernels += 2;
	DO(cuStreamSynchronize, stream);
	for (int i = 0; i < 2; i++)
		DO(cuGraphExecDestroy, exec[i]);
	DO(cuGraphDestroy, graph);
	DO(cuGraphDestroy, again);
	DO(cuMemFree_v2, p);
}

/* Looked up at run time, too.  Only the simulated driver creates a green context without resources; a real driver returns an error. */
static void green(void *lib)
{
	CUresult (*create)(CUgreenCtx *, CUdevResourceDesc, CUdevice, unsigned int);
	CUresult (*stream_create)(CUstream *, CUgreenCtx, unsigned int, int);
	CUresult (*destroy)(CUgreenCtx);
	CUgreenCtx context;
	CUstream stream;

	*(void **)&create = dlsym(lib, "cuGreenCtxCreate");
	*(void **)&stream_create = dlsym(lib, "cuGreenCtxStreamCreate");
	*(void **)&destroy = dlsym(lib, "cuGreenCtxDestroy");
	if (!create || !stream_create || !destroy || create(&context, NULL, dev, CU_GREEN_CTX_DEFAULT_STREAM))
		return;
	must(stream_create(&stream, context, CU_STREAM_NON_BLOCKING, 0), "cuGreenCtxStreamCreate");
	launch(stream, 5000);
	DO(cuStreamSynchronize, stream);
	must(destroy(context), "cuGreenCtxDestroy");
}

static void *work(void *arg)
{
	CUstream stream;

	(void)arg;
	DO(cuCtxSetCurrent, primary);
	stream = new_stream();
	for (int i = 0; i < LAUNCHES; i++) {
		launch(stream, 5000);
		usleep(1000);
	}
	DO(cuStreamSynchronize, stream);
	return NULL;
}

static void threads(int n)
{
	pthread_t thread[256];

	for (int i = 0; i < n; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

/* As a library does: each of its calls retains and releases the primary context. */
static double library(int n)
{
	struct timespec begin, end;
	CUcontext context;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < n; i++) {
		DO(cuDevicePrimaryCtxRetain, &context, dev);
		launch(NULL, 2000);
		DO(cuDevicePrimaryCtxRelease_v2, dev);
	}
	DO(cuCtxSynchronize);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6;
}

static int resident(void)
{
	char line[256];
	int kb = 0;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %d", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb / 1024;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 8;
	CUresult (*create)(CUcontext *, unsigned int, CUdevice);
	void *lib = bind();
	double ms;

	*(void **)&create = dlsym(lib, "cuCtxCreate_v2");
	DO(cuInit, 0);
	DO(cuDeviceGet, &dev, 0);
	DO(cuDevicePrimaryCtxRetain, &primary, dev);
	DO(cuCtxSetCurrent, primary);
	load();
	load_file();
	copies();
	sorts_of_kernels();
	events(create);
	graphs(lib);
	green(lib);
	threads(n < 256 ? n : 256);
	ms = library(100);
	DO(cuDevicePrimaryCtxRelease_v2, dev);  /* the last release destroys the context */
	DO(cuDevicePrimaryCtxRetain, &primary, dev);
	DO(cuCtxSetCurrent, primary);
	load();
	launch(NULL, 2000);
	DO(cuCtxSynchronize);
	DO(cuDevicePrimaryCtxRelease_v2, dev);
	printf("kernels %d\nresident %d\nreleases %.1f\n", (int)kernels, resident(), ms);
	return 0;
}
