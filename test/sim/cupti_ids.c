/* CUPTI: the ids of contexts, devices, streams and graphs. */
#include "test/sim/tool.h"

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id)
{
	READY();
	if (!context)
		return CUPTI_ERROR_INVALID_CONTEXT;
	*id = ((struct context *)context)->id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
	struct context *ctx = (struct context *)context;

	READY();
	if (!ctx)
		ctx = drv->current();
	if (!ctx)
		return CUPTI_ERROR_INVALID_CONTEXT;
	*id = (uint32_t)ctx->dev->ordinal;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id)
{
	struct context *ctx = (struct context *)context;
	struct stream *s;

	READY();
	if (context && stream && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD &&
	    ((struct stream *)stream)->ctx != ctx)
		return CUPTI_ERROR_INVALID_STREAM;
	if (!ctx)
		ctx = drv->current();
	s = ctx ? drv->stream(ctx, !stream && per_thread ? CU_STREAM_PER_THREAD : stream) : NULL;
	if (!s)
		return ctx ? CUPTI_ERROR_INVALID_STREAM : CUPTI_ERROR_INVALID_CONTEXT;
	*id = s->id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *id)
{
	return cuptiGetStreamIdEx(context, stream, 0, id);
}

CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t *id)
{
	READY();
	*id = drv->graph_id(graph, false);
	return *id ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetGraphExecId(CUgraphExec exec, uint32_t *id)
{
	READY();
	*id = drv->graph_id(exec, true);
	return *id ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t *id)
{
	READY();
	*id = drv->node_id(node);
	return *id ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
