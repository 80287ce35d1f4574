/* Repeats recorded work: see player.h. */
#include "test/sim/player.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
#include <string.h>

#include <generated_cuda_runtime_api_meta.h>

#define EARLY_NS 100000                 /* a wait shorter than this is skipped: waking up takes as long */
#define N_EVENTS 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char events[N_EVENTS];           /* the address of an element is an event handle */

/* The driver function that each runtime function calls, with the same correlation id. */
static const struct { uint32_t runtime, driver; const char *name; } inner[] = {
#define INNER(runtime, driver) { CUPTI_RUNTIME_TRACE_CBID_##runtime, CUPTI_DRIVER_TRACE_CBID_##driver, #driver }
	INNER(cudaLaunchKernel_v7000, cuLaunchKernel),
	INNER(cudaLaunchKernelExC_v11060, cuLaunchKernelEx),
	INNER(cudaLaunchCooperativeKernel_v9000, cuLaunchCooperativeKernel),
	INNER(cudaGraphLaunch_v10000, cuGraphLaunch),
	INNER(cudaMemcpyAsync_v3020, cuMemcpyAsync),
	INNER(cudaMemcpy_v3020, cuMemcpy),
	INNER(cudaMemsetAsync_v3020, cuMemsetD8Async),
	INNER(cudaMalloc_v3020, cuMemAlloc_v2),
	INNER(cudaFree_v3020, cuMemFree_v2),
	INNER(cudaHostAlloc_v3020, cuMemHostAlloc_v2),
	INNER(cudaEventRecord_v3020, cuEventRecord),
	INNER(cudaEventQuery_v3020, cuEventQuery),
	INNER(cudaEventSynchronize_v3020, cuEventSynchronize),
	INNER(cudaStreamWaitEvent_v3020, cuStreamWaitEvent),
	INNER(cudaStreamSynchronize_v3020, cuStreamSynchronize),
	INNER(cudaDeviceSynchronize_v3020, cuCtxSynchronize),
	INNER(cudaFuncGetAttributes_v3020, cuFuncGetAttribute),
#undef INNER
};

union params {
	cudaLaunchKernel_v7000_params launch;
	cudaEventRecord_v3020_params record;
	cudaStreamWaitEvent_v3020_params wait;
	cudaEventSynchronize_v3020_params await;
	cudaEventElapsedTime_v12080_params elapsed;
	cudaStreamSynchronize_v3020_params sync;
	uint64_t none[32];              /* parameters of other calls; not read */
};

/* ---- contexts and streams with given ids ---- */

static struct context *found;
static uint32_t wanted;

static void look(const struct context *ctx)
{
	if (ctx->id == wanted)
		found = (struct context *)ctx;
}

static struct context *context_of(uint32_t id)
{
	static __thread struct context *last;

	if (last && last->id == id)
		return last;
	pthread_mutex_lock(&lock);
	found = NULL;
	wanted = id;
	engine_each_context(look);
	last = found;
	pthread_mutex_unlock(&lock);
	return last;
}

static struct stream *stream_of(struct context *ctx, uint32_t id)
{
	if (!ctx || id == ctx->null.id)
		return ctx ? &ctx->null : NULL;
	for (struct stream *s = ctx->streams; s; s = s->next)
		if (s->id == id)
			return s;
	return NULL;
}

bool sim_play_stream(uint32_t device, uint32_t context, uint32_t stream)
{
	struct device *dev = device_get((int)device);
	struct context *ctx = context_of(context);

	if (!dev || driver_usable())
		return false;
	if (!ctx)
		ctx = context_numbered(dev, context);
	*context_slot() = ctx;
	if (!stream_of(ctx, stream)) {
		ctx->next_stream = stream;
		stream_new(ctx, CU_STREAM_NON_BLOCKING, 0);
	}
	return true;
}

/* ---- playing ---- */

void sim_play_wait(uint64_t when)
{
	if (when > sim_now() + EARLY_NS)
		wait_until(when);
}

void sim_play_op(const struct op *op)
{
	static _Atomic uint64_t n;
	struct op played = *op;

	if (op->type == OP_KERNEL || op->type == OP_MEMCPY || op->type == OP_MEMSET) {
		uint64_t every = sim_env("SIM_ZERO_TIMESTAMPS", 0);

		played.seq = ++n;
		played.zeroed = every && played.seq % every == 0;
	}
	op_tell(&played);
}

static void fill_params(union params *p, const struct play_call *c, struct stream *stream)
{
	static float ms = 1;
	void *event = &events[c->event % N_EVENTS];

	memset(p, 0, sizeof(*p));
	if (c->domain != SIM_RUNTIME_API)
		return;
	switch (c->cbid) {
	case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000:
		p->launch.func = c->symbol;
		p->launch.stream = (cudaStream_t)stream;
		if (c->n_ops && c->ops[0].type == OP_KERNEL) {
			const struct op *op = &c->ops[0];

			p->launch.gridDim = (dim3){ op->grid[0], op->grid[1], op->grid[2] };
			p->launch.blockDim = (dim3){ op->block[0], op->block[1], op->block[2] };
		}
		break;
	case CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020:
		p->record = (cudaEventRecord_v3020_params){ .event = event, .stream = (cudaStream_t)stream };
		break;
	case CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020:
		p->wait = (cudaStreamWaitEvent_v3020_params){ .stream = (cudaStream_t)stream, .event = event };
		break;
	case CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020:
		p->await.event = event;
		break;
	case CUPTI_RUNTIME_TRACE_CBID_cudaEventElapsedTime_v3020:
	case CUPTI_RUNTIME_TRACE_CBID_cudaEventElapsedTime_v12080:
		p->elapsed = (cudaEventElapsedTime_v12080_params){ .ms = &ms, .start = event, .end = event };
		break;
	case CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020:
		p->sync.stream = (cudaStream_t)stream;
		break;
	}
}

static void submit(const struct play_call *c)
{
	for (size_t i = 0; i < c->n_ops; i++)
		sim_play_op(&c->ops[i]);
}

/* Makes the driver call inside a runtime call, and submits the operations. */
static void play_inside(const struct play_call *c)
{
	uint64_t nothing[32] = { 0 };
	CUresult rc = CUDA_SUCCESS;

	for (size_t i = 0; c->domain == SIM_RUNTIME_API && i < sizeof(inner) / sizeof(*inner); i++)
		if (inner[i].runtime == c->cbid) {
			struct sim_call call = { .domain = SIM_DRIVER_API, .cbid = inner[i].driver, .name = inner[i].name,
						 .params = nothing, .symbol = c->symbol, .ret = &rc };

			call_enter(&call);
			submit(c);
			call_leave(&call);
			return;
		}
	submit(c);
}

uint64_t sim_play_call(const struct play_call *c)
{
	struct context *ctx = context_of(c->context);
	union params params;
	int rc = 0;
	struct sim_call call = { .domain = c->domain, .cbid = c->cbid, .name = c->name, .params = &params,
				 .symbol = c->symbol, .ret = &rc, .corr = c->corr };

	*context_slot() = ctx;
	fill_params(&params, c, stream_of(ctx, c->stream));
	sim_play_wait(c->begin);
	call_enter(&call);
	play_inside(c);
	sim_play_wait(c->end);
	call_leave(&call);
	return call.begin > c->begin ? call.begin - c->begin : 0;
}
