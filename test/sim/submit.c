/* Start and end of operations, and waiting on the host. */
#include "test/sim/engine.h"

#include <cuda.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cupti_activity.h>

#define SUBMIT_NS 1500                  /* from the call to the start on an idle device */
#define COPY_LATENCY_NS 1200
#define COPY_BYTES_PER_NS 20            /* about a PCIe 4.0 x16 link */
#define DEVICE_BYTES_PER_NS 800         /* between two places in device memory, and sets */
#define SET_LATENCY_NS 900

static _Atomic uint64_t last_seq;
static bool serialize;

/* CUPTI_ACTIVITY_KIND_KERNEL serializes kernels; CONCURRENT_KERNEL does not. */
void engine_serialize_kernels(bool on)
{
	serialize = on;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t duration(const struct op *op)
{
	switch (op->type) {
	case OP_KERNEL:
		return op->ns;
	case OP_MEMCPY:
		return COPY_LATENCY_NS + op->bytes /
		       (op->copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD ? DEVICE_BYTES_PER_NS : COPY_BYTES_PER_NS);
	default:
		return SET_LATENCY_NS + op->bytes / DEVICE_BYTES_PER_NS;
	}
}

/* Returns the copy engine or kernel slot for the operation: the time at which it becomes free. */
static uint64_t *engine_for(struct device *dev, const struct op *op)
{
	uint64_t *first = &dev->slot[0];

	if (op->type == OP_MEMCPY && op->copy_kind != CUPTI_ACTIVITY_MEMCPY_KIND_DTOD)
		return &dev->engine[op->copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH];
	for (int i = 1; i < SIM_KERNEL_SLOTS && !serialize; i++)
		if (dev->slot[i] < *first)
			first = &dev->slot[i];
	return first;
}

/* Earliest start in the stream.  The legacy default stream and blocking streams wait for each other. */
static uint64_t stream_ready(struct stream *s)
{
	uint64_t ready = s->tail;

	if (s->flags & CU_STREAM_NON_BLOCKING)
		return ready;
	if (s != &s->ctx->null)
		return later(ready, s->ctx->null.tail);
	for (struct stream *o = s->ctx->streams; o; o = o->next)
		if (!(o->flags & CU_STREAM_NON_BLOCKING))
			ready = later(ready, o->tail);
	return ready;
}

uint64_t op_ready(struct stream *s)
{
	uint64_t ready;

	pthread_mutex_lock(&engine_lock);
	ready = later(stream_ready(s), sim_now());
	pthread_mutex_unlock(&engine_lock);
	return ready;
}

void op_run(struct stream *s, struct op *op, uint64_t after)
{
	static _Atomic uint64_t zero_every = UINT64_MAX;
	struct device *dev = s->ctx->dev;
	uint64_t *engine;

	if (zero_every == UINT64_MAX)
		zero_every = sim_env("SIM_ZERO_TIMESTAMPS", 0);
	pthread_mutex_lock(&engine_lock);
	op->seq = ++last_seq;
	engine = engine_for(dev, op);
	op->start = later(later(sim_now() + SUBMIT_NS, after ? after : stream_ready(s)), *engine);
	op->end = op->start + duration(op);
	*engine = op->end;
	s->tail = later(s->tail, op->end);
	pthread_mutex_unlock(&engine_lock);
	op->device = (uint32_t)dev->ordinal;
	op->context = s->ctx->id;
	op->stream = s->id;
	op->zeroed = zero_every && op->seq % zero_every == 0;
	op_tell(op);
}

static bool on_device(const struct op *op)
{
	return op->type == OP_KERNEL || op->type == OP_MEMCPY || op->type == OP_MEMSET;
}

/* SIM_CLOCK_DRIFT_PPM=N: device times run N ppm fast.  SIM_CLOCK_STEP_MS=N[,FROM]: off by N ms from operation FROM (100) on. */
static void disturb_times(struct op *op)
{
	static _Atomic uint64_t first;
	const char *drift = getenv("SIM_CLOCK_DRIFT_PPM"), *step = getenv("SIM_CLOCK_STEP_MS");
	const char *from = step ? strchr(step, ',') : NULL;
	int64_t by = 0;

	if (drift) {
		uint64_t none = 0;

		__atomic_compare_exchange_n((uint64_t *)&first, &none, op->start, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		by += (int64_t)((double)(int64_t)(op->start - first) * atof(drift) / 1e6);
	}
	if (step && op->seq >= (from ? strtoull(from + 1, NULL, 10) : 100))
		by += atoll(step) * 1000000;
	op->start += (uint64_t)by;
	op->end += (uint64_t)by;
}

/* Applies intended faults to the record, and therefore also to the line of the truth file. */
static void disturb(struct op *op)
{
	static _Atomic uint64_t negative_every = UINT64_MAX, nameless_every = UINT64_MAX;
	static _Atomic bool clock_off;

	if (!on_device(op))
		return;
	if (negative_every == UINT64_MAX) {
		nameless_every = sim_env("SIM_NULL_NAME", 0);
		clock_off = getenv("SIM_CLOCK_DRIFT_PPM") || getenv("SIM_CLOCK_STEP_MS");
		negative_every = sim_env("SIM_NEGATIVE", 0);
	}
	if (clock_off)
		disturb_times(op);
	op->backward = negative_every && op->seq % negative_every == 0;
	if (op->type == OP_KERNEL && nameless_every && op->seq % nameless_every == 0)
		op->name = NULL;
}

void op_tell(struct op *op)
{
	const struct sim_tools *t = tools();
	struct op shown = *op;

	shown.done = op->end;
	if (!op->corr)
		shown.corr = op->corr = call_correlation();
	disturb(&shown);
	truth_op(&shown, t ? t->op(&shown) : OP_NOT_ENABLED);
}

void op_submit(struct stream *s, struct op *op)
{
	if (s->capture)
		graph_capture(s, op);
	else
		op_run(s, op, 0);
}

void wait_until(uint64_t when)
{
	struct timespec ts = { (time_t)(when / 1000000000u), (long)(when % 1000000000u) };

	while (sim_now() < when && clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static void sync_tell(uint32_t type, struct context *ctx, struct stream *s, struct event *e, uint64_t start,
		      uint32_t result)
{
	struct op op = {
		.type = OP_SYNC, .start = start, .end = sim_now(), .value = type, .result = result,
		.device = (uint32_t)ctx->dev->ordinal, .context = ctx->id,
		.stream = s ? s->id : CUPTI_SYNCHRONIZATION_INVALID_VALUE,
		.event = e ? e->id : CUPTI_SYNCHRONIZATION_INVALID_VALUE,
	};
	static const char *const name[] = { "?", "event", "stream wait event", "stream", "context" };

	op.name = name[type < 5 ? type : 0];
	op_tell(&op);
}

void sync_wait(uint32_t type, struct context *ctx, struct stream *s, struct event *e, uint64_t until)
{
	const struct sim_tools *t = tools();
	uint64_t start = sim_now();

	wait_until(until);
	sync_tell(type, ctx, s, e, start, 0);
	if (t && type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE)
		t->synchronized(CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED, ctx, s);
	if (t && type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE)
		t->synchronized(CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED, ctx, NULL);
}

void sync_polled(uint32_t type, struct context *ctx, struct stream *s, struct event *e, uint32_t result)
{
	sync_tell(type, ctx, s, e, sim_now(), result);
}
