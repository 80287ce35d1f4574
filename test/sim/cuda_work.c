/* Driver API: modules, launches, streams, events, graphs. */
#include "test/sim/driver.h"

#include <stdio.h>
#include <stdlib.h>

#include <cupti_activity.h>

static CUresult module_load(void **out, const void *image)
{
	NEED(out && image, CUDA_ERROR_INVALID_VALUE);
	*out = module_from_image(image);
	return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
}

static CUresult module_read(CUmodule *module, const char *path)
{
	FILE *f = fopen(path, "r");
	char *image = calloc(1, 1 << 20);

	if (f)
		(void)!fread(image, 1, (1 << 20) - 1, f);
	if (!f || fclose(f))
		return CUDA_ERROR_FILE_NOT_FOUND;
	return module_load((void **)module, image);     /* the module keeps the image */
}

CUresult cuModuleLoad(CUmodule *module, const char *fname)
{
	ENTER(cuModuleLoad, module, fname);
	return LEAVE(module_read(module, fname));
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	ENTER(cuModuleLoadData, module, image);
	return LEAVE(module_load((void **)module, image));
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int n, CUjit_option *options, void **values)
{
	ENTER(cuModuleLoadDataEx, module, image, n, options, values);
	return LEAVE(module_load((void **)module, image));
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
	ENTER(cuModuleLoadFatBinary, module, image);
	return LEAVE(module_load((void **)module, image));
}

CUresult cuModuleUnload(CUmodule module)
{
	ENTER(cuModuleUnload, module);
	module_unload((struct module *)module, context_current());
	return LEAVE(CUDA_SUCCESS);
}

/* PTX lists its kernels.  In binary images, which are not parsed, every name exists. */
static CUresult module_get(void **out, void *module, const char *name)
{
	struct module *m = module;

	NEED(m && name, CUDA_ERROR_INVALID_HANDLE);
	*out = m->size ? module_find(m, name) : module_function(m, name);
	return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetFunction(CUfunction *fn, CUmodule module, const char *name)
{
	ENTER(cuModuleGetFunction, fn, module, name);
	return LEAVE(module_get((void **)fn, module, name));
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit, void **jit_values,
			   unsigned int n_jit, CUlibraryOption *options, void **values, unsigned int n)
{
	ENTER(cuLibraryLoadData, library, code, jit, jit_values, n_jit, options, values, n);
	return LEAVE(module_load((void **)library, code));
}

CUresult cuLibraryUnload(CUlibrary library)
{
	ENTER(cuLibraryUnload, library);
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
	ENTER(cuLibraryGetKernel, kernel, library, name);
	return LEAVE(module_get((void **)kernel, library, name));
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
	ENTER(cuLibraryGetModule, module, library);
	*module = (CUmodule)library;
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuKernelGetFunction(CUfunction *fn, CUkernel kernel)
{
	ENTER(cuKernelGetFunction, fn, kernel);
	*fn = (CUfunction)kernel;
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute what, CUfunction fn)
{
	ENTER(cuFuncGetAttribute, value, what, fn);
	*value = what == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 :
		 what == CU_FUNC_ATTRIBUTE_NUM_REGS ? (int)((struct function *)fn)->registers : 0;
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuFuncSetAttribute(CUfunction fn, CUfunction_attribute what, int value)
{
	ENTER(cuFuncSetAttribute, fn, what, value);
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuFuncGetName(const char **name, CUfunction fn)
{
	ENTER(cuFuncGetName, name, fn);
	*name = ((struct function *)fn)->name;
	return LEAVE(CUDA_SUCCESS);
}

struct launch {
	CUfunction fn;
	uint32_t grid[3], block[3];
	unsigned int shared;
	CUstream stream;
	void **args, **extra;
	bool cooperative;
	uint32_t cluster[3];            /* 0: no cluster requested */
};

static CUresult launch(const struct launch *l)
{
	struct function *f = (struct function *)l->fn;
	struct stream *s = stream_here(l->stream);
	uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
	struct op op = { .type = OP_KERNEL, .dynamic_shared = l->shared, .cooperative = l->cooperative };
	struct managed_moves *moves = NULL;
	static _Atomic uint64_t slow_us = UINT64_MAX;   /* so that the record can be delivered before the call returns */

	NEED(context_current(), CUDA_ERROR_INVALID_CONTEXT);
	NEED(f && s, CUDA_ERROR_INVALID_HANDLE);
	NEED(l->grid[0] && l->grid[1] && l->grid[2] && threads && threads <= 1024, CUDA_ERROR_INVALID_VALUE);
	if (slow_us == UINT64_MAX)
		slow_us = sim_env("SIM_SLOW_LAUNCH_US", 0);
	module_touch(f, s->ctx);
	op.name = f->name;
	op.registers = f->registers;
	op.static_shared = f->static_shared;
	for (int i = 0; i < 3; i++) {
		op.grid[i] = l->grid[i];
		op.block[i] = l->block[i];
		op.cluster[i] = l->cluster[i] ? l->cluster[i] : 1;
	}
	op.ns = kernel_ns(f, l->grid, l->block, l->args, l->extra);
	if (!s->capture)
		moves = managed_use(s->ctx->dev, &op.ns);
	op_submit(s, &op);
	managed_used(moves, op.start);
	if (slow_us)
		wait_until(sim_now() + slow_us * 1000);
	return CUDA_SUCCESS;
}

static const char *kernel_name(CUfunction fn)
{
	return fn ? ((struct function *)fn)->name : NULL;
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
			unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void **args, void **extra)
{
	struct launch l = { f, { gx, gy, gz }, { bx, by, bz }, shared, stream, args, extra, false, { 0 } };

	ENTER_KERNEL(cuLaunchKernel, kernel_name(f), f, gx, gy, gz, bx, by, bz, shared, stream, args, extra);
	return LEAVE(launch(&l));
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
				   unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void **args)
{
	struct launch l = { f, { gx, gy, gz }, { bx, by, bz }, shared, stream, args, NULL, true, { 0 } };

	ENTER_KERNEL(cuLaunchCooperativeKernel, kernel_name(f), f, gx, gy, gz, bx, by, bz, shared, stream, args);
	return LEAVE(launch(&l));
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **args, void **extra)
{
	struct launch l = { f, { c->gridDimX, c->gridDimY, c->gridDimZ }, { c->blockDimX, c->blockDimY, c->blockDimZ },
			    c->sharedMemBytes, c->hStream, args, extra, false, { 0 } };

	for (unsigned int i = 0; i < c->numAttrs; i++) {
		const CUlaunchAttribute *a = &c->attrs[i];

		if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			memcpy(l.cluster, &a->value.clusterDim, sizeof(l.cluster));
		if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
			l.cooperative = a->value.cooperative;
	}
	ENTER_KERNEL(cuLaunchKernelEx, kernel_name(f), c, f, args, extra);
	return LEAVE(launch(&l));
}

/* Runs the function on the calling thread after the stream's earlier work.  A real driver does not block the caller. */
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *data)
{
	ENTER(cuLaunchHostFunc, stream, fn, data);
	if (stream_here(stream)) {
		wait_until(op_ready(stream_here(stream)));
		fn(data);
	}
	return LEAVE(stream_here(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}

static CUresult stream_make(CUstream *out, unsigned int flags, int priority)
{
	NEED(context_current(), CUDA_ERROR_INVALID_CONTEXT);
	*out = (CUstream)stream_new(context_current(), flags, priority);
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	ENTER(cuStreamCreate, stream, flags);
	return LEAVE(stream_make(stream, flags, 0));
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
	ENTER(cuStreamCreateWithPriority, stream, flags, priority);
	return LEAVE(stream_make(stream, flags, priority));
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
	struct stream *s = stream_here(stream);

	ENTER(cuStreamDestroy_v2, stream);
	if (s)
		stream_destroy(s);
	return LEAVE(s ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}

static CUresult stream_sync(CUstream handle)
{
	struct stream *s = stream_here(handle);

	NEED(s, CUDA_ERROR_INVALID_HANDLE);
	sync_wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, s->ctx, s, NULL, op_ready(s));
	return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
	ENTER(cuStreamSynchronize, stream);
	return LEAVE(stream_sync(stream));
}

static CUresult stream_query(CUstream handle)
{
	struct stream *s = stream_here(handle);
	CUresult rc;

	NEED(s, CUDA_ERROR_INVALID_HANDLE);
	rc = s->tail > sim_now() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
	sync_polled(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, s->ctx, s, NULL, rc);
	return rc;
}

CUresult cuStreamQuery(CUstream stream)
{
	ENTER(cuStreamQuery, stream);
	return LEAVE(stream_query(stream));
}

static void truth_wait(const struct event *e, uint32_t context, uint32_t stream)
{
	truth_line("\"type\":\"event_wait\",\"event\":%llu,\"correlation\":%u,\"context\":%u,\"stream\":%u",
		   (unsigned long long)(uintptr_t)e, call_correlation(), context, stream);
}

static CUresult stream_wait(CUstream handle, struct event *e)
{
	struct stream *s = stream_here(handle);

	NEED(s && e, CUDA_ERROR_INVALID_HANDLE);
	truth_wait(e, s->ctx->id, s->id);
	if (e->capture) {
		graph_capture_wait(s, e);
		return CUDA_SUCCESS;
	}
	pthread_mutex_lock(&engine_lock);
	if (e->time > s->tail)
		s->tail = e->time;
	pthread_mutex_unlock(&engine_lock);
	sync_polled(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, s->ctx, s, e, 0);
	return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
	ENTER(cuStreamWaitEvent, stream, event, flags);
	return LEAVE(stream_wait(stream, (struct event *)event));
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	ENTER(cuStreamIsCapturing, stream, status);
	*status = stream_here(stream) && stream_here(stream)->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE :
								       CU_STREAM_CAPTURE_STATUS_NONE;
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	static _Atomic uint32_t last_event;
	struct event *e = calloc(1, sizeof(*e));

	ENTER(cuEventCreate, event, flags);
	e->id = ++last_event;
	*event = (CUevent)e;
	return LEAVE(CUDA_SUCCESS);
}

/* The event is not freed: captured graphs may still refer to it. */
CUresult cuEventDestroy_v2(CUevent event)
{
	ENTER(cuEventDestroy_v2, event);
	return LEAVE(event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}

static CUresult event_record(struct event *e, CUstream handle)
{
	struct stream *s = stream_here(handle);

	NEED(e && s, CUDA_ERROR_INVALID_HANDLE);
	e->capture = NULL;
	truth_line("\"type\":\"event_record\",\"event\":%llu,\"correlation\":%u,\"context\":%u,\"stream\":%u",
		   (unsigned long long)(uintptr_t)e, call_correlation(), s->ctx->id, s->id);
	if (s->capture) {
		graph_capture_event(s, e);
		return CUDA_SUCCESS;
	}
	e->time = op_ready(s);
	e->stream = s->id;
	if (tools())
		tools()->event_recorded(e, s);
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	ENTER(cuEventRecord, event, stream);
	return LEAVE(event_record((struct event *)event, stream));
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags)
{
	ENTER(cuEventRecordWithFlags, event, stream, flags);
	return LEAVE(event_record((struct event *)event, stream));
}

static CUresult event_sync(struct event *e, bool wait)
{
	CUresult rc = e && e->time > sim_now() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;

	NEED(e, CUDA_ERROR_INVALID_HANDLE);
	NEED(context_current(), CUDA_ERROR_INVALID_CONTEXT);
	if (wait)
		truth_wait(e, context_current()->id, UINT32_MAX);
	if (wait)
		sync_wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, context_current(), NULL, e, e->time);
	else
		sync_polled(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, context_current(), NULL, e, rc);
	return wait ? CUDA_SUCCESS : rc;
}

CUresult cuEventSynchronize(CUevent event)
{
	ENTER(cuEventSynchronize, event);
	return LEAVE(event_sync((struct event *)event, true));
}

CUresult cuEventQuery(CUevent event)
{
	ENTER(cuEventQuery, event);
	return LEAVE(event_sync((struct event *)event, false));
}

CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end)
{
	struct event *a = (struct event *)start, *b = (struct event *)end;

	ENTER(cuEventElapsedTime_v2, ms, start, end);
	*ms = (float)((double)(int64_t)(b->time - a->time) / 1e6);
	if (a->time && b->time && b->time <= sim_now())
		truth_line("\"type\":\"event_elapsed\",\"first\":%llu,\"second\":%llu,\"correlation\":%u,\"ms\":%.9g",
			   (unsigned long long)(uintptr_t)a, (unsigned long long)(uintptr_t)b, call_correlation(), *ms);
	return LEAVE(!a->time || !b->time ? CUDA_ERROR_INVALID_HANDLE :
		     b->time > sim_now() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
	struct stream *s = stream_here(stream);

	ENTER(cuStreamBeginCapture_v2, stream, mode);
	if (s)
		graph_begin_capture(s);
	return LEAVE(s ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	struct stream *s = stream_here(stream);

	ENTER(cuStreamEndCapture, stream, graph);
	*graph = s ? (CUgraph)graph_end_capture(s) : NULL;
	return LEAVE(*graph ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE);
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *n)
{
	ENTER(cuGraphGetNodes, graph, nodes, n);
	*n = graph_nodes((struct graph *)graph);
	return LEAVE(nodes ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	ENTER(cuGraphInstantiateWithFlags, exec, graph, flags);
	*exec = (CUgraphExec)graph_clone((struct graph *)graph);
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuGraphCreate(CUgraph *graph, unsigned int flags)
{
	ENTER(cuGraphCreate, graph, flags);
	*graph = (CUgraph)graph_new();
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph, CUcontext ctx, unsigned int value, unsigned int flags)
{
	ENTER(cuGraphConditionalHandleCreate, handle, graph, ctx, value, flags);
	*handle = (CUgraphConditionalHandle)(uintptr_t)graph;
	return LEAVE(CUDA_SUCCESS);
}

/* Supports conditional nodes only; their bodies never run. */
CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, const CUgraphEdgeData *edges, size_t n,
			   CUgraphNodeParams *params)
{
	bool conditional = params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL;

	ENTER(cuGraphAddNode_v2, node, graph, deps, edges, n, params);
	if (conditional)
		*node = (CUgraphNode)graph_add_conditional((struct graph *)graph);
	return LEAVE(conditional ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
	bool done;

	ENTER(cuGraphExecUpdate_v2, exec, graph, info);
	done = graph_update((struct graph *)exec, (struct graph *)graph);
	*info = (CUgraphExecUpdateResultInfo){
		.result = done ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
	};
	return LEAVE(done ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	ENTER(cuGraphLaunch, exec, stream);
	if (stream_here(stream))
		graph_launch((struct graph *)exec, stream_here(stream));
	return LEAVE(stream_here(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuGraphDestroy(CUgraph graph)
{
	ENTER(cuGraphDestroy, graph);
	graph_free((struct graph *)graph);
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	ENTER(cuGraphExecDestroy, exec);
	graph_free((struct graph *)exec);
	return LEAVE(CUDA_SUCCESS);
}
