/* Devices, contexts and streams. */
#include "test/sim/engine.h"

#include <cuda.h>
#include <stdlib.h>
#include <string.h>

#include <cupti_callbacks.h>

#define NULL_STREAM_ID 7                /* as in real contexts */
#define FIRST_STREAM_ID 13

pthread_mutex_t engine_lock = PTHREAD_MUTEX_INITIALIZER;

static struct device devices[SIM_MAX_DEVICES];
static int n_devices;
static struct context *contexts;
static uint32_t last_context;
static __thread struct context *current;
static __thread int runtime_ordinal;
static __thread struct stream *own_stream;      /* the thread's CU_STREAM_PER_THREAD */

int engine_start(void)
{
	/* Fixed UUIDs make reports comparable: "gprof-sim", zeros, the ordinal. */
	static const uint8_t uuid[16] = { 0x67, 0x70, 0x72, 0x6f, 0x66, 0x2d, 0x73, 0x69, 0x6d, 0, 0, 0, 0, 0, 0, 0 };

	n_devices = (int)sim_env("SIM_DEVICES", 1);
	if (n_devices > SIM_MAX_DEVICES)
		n_devices = SIM_MAX_DEVICES;
	for (int i = 0; i < n_devices; i++) {
		devices[i].ordinal = i;
		memcpy(devices[i].uuid, uuid, sizeof(uuid));
		devices[i].uuid[15] = (uint8_t)i;
	}
	return n_devices;
}

int device_count(void)
{
	return n_devices;
}

struct device *device_get(int ordinal)
{
	return ordinal >= 0 && ordinal < n_devices ? &devices[ordinal] : NULL;
}

struct context *context_new(struct device *dev, bool primary, struct context *parent)
{
	struct context *ctx = calloc(1, sizeof(*ctx));
	const struct sim_tools *t = tools();

	ctx->dev = dev;
	ctx->primary = primary;
	ctx->parent = parent;
	ctx->next_stream = FIRST_STREAM_ID;
	ctx->null.ctx = ctx;
	ctx->null.id = NULL_STREAM_ID;
	pthread_mutex_lock(&engine_lock);
	ctx->id = ++last_context;
	ctx->next = contexts;
	contexts = ctx;
	pthread_mutex_unlock(&engine_lock);
	if (t) {
		truth_line("\"type\":\"context\",\"context\":%u,\"device\":%d,\"null_stream\":%u", ctx->id, dev->ordinal,
			   t->context_made(ctx));
		truth_line("\"type\":\"stream\",\"context\":%u,\"stream\":%u,\"priority\":0,\"flags\":3", ctx->id, ctx->null.id);
		t->resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, ctx, NULL, NULL);
		t->stream_made(&ctx->null);
	}
	return ctx;
}

struct context *context_numbered(struct device *dev, uint32_t id)
{
	pthread_mutex_lock(&engine_lock);
	last_context = id - 1;
	pthread_mutex_unlock(&engine_lock);
	dev->primary = context_new(dev, true, NULL);
	return dev->primary;
}

/* Waits for the context's work.  The struct is not freed: later uses of the handle find `dead` set. */
void context_destroy(struct context *ctx)
{
	const struct sim_tools *t = tools();

	wait_until(context_tail(ctx));
	for (struct stream *s = ctx->streams; s; s = s->next)
		if (!s->dead)
			stream_destroy(s);
	if (t) {
		t->resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, ctx, NULL, NULL);
		t->context_gone(ctx);
	}
	pthread_mutex_lock(&engine_lock);
	ctx->dead = true;
	if (ctx->dev->primary == ctx) {
		ctx->dev->primary = NULL;
		ctx->dev->primary_refs = 0;
		ctx->dev->runtime_holds = false;
	}
	pthread_mutex_unlock(&engine_lock);
	if (current == ctx)
		current = NULL;
}

struct context **context_slot(void)
{
	return &current;
}

struct context *context_current(void)
{
	if (current && current->dead)
		current = NULL;
	return current;
}

struct context *context_primary(struct device *dev)
{
	static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
	struct context *ctx;

	pthread_mutex_lock(&making);
	if (!dev->primary)
		dev->primary = context_new(dev, true, NULL);
	ctx = dev->primary;
	pthread_mutex_unlock(&making);
	return ctx;
}

/* The runtime retains the primary context that it uses.  Tools get no callback for that. */
static struct context *runtime_primary(struct device *dev)
{
	struct context *ctx = context_primary(dev);

	if (!dev->runtime_holds)
		dev->primary_refs++;
	dev->runtime_holds = true;
	return ctx;
}

/* The context of a runtime API call: the current one, else the primary one of the runtime's device. */
struct context *context_primary_current(void)
{
	if (!context_current())
		current = runtime_primary(&devices[runtime_ordinal]);
	return current;
}

int runtime_device(int set)
{
	if (set >= 0) {
		runtime_ordinal = set;
		current = runtime_primary(&devices[set]);
	}
	return current ? current->dev->ordinal : runtime_ordinal;
}

struct stream *stream_new(struct context *ctx, uint32_t flags, int priority)
{
	struct stream *s = calloc(1, sizeof(*s));
	const struct sim_tools *t = tools();

	s->ctx = ctx;
	s->flags = flags;
	s->priority = priority;
	pthread_mutex_lock(&engine_lock);
	s->id = ctx->next_stream++;
	s->next = ctx->streams;
	ctx->streams = s;
	pthread_mutex_unlock(&engine_lock);
	if (t) {
		truth_line("\"type\":\"stream\",\"context\":%u,\"stream\":%u,\"priority\":%d,\"flags\":%d", ctx->id, s->id,
			   s->priority, flags & CU_STREAM_NON_BLOCKING ? 2 : 1);
		t->stream_made(s);
		t->resource(CUPTI_CBID_RESOURCE_STREAM_CREATED, ctx, s, NULL);
	}
	return s;
}

/* Returns at once, as the real driver does; submitted work still runs to its end. */
void stream_destroy(struct stream *s)
{
	const struct sim_tools *t = tools();

	if (t)
		t->resource(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, s->ctx, s, NULL);
	s->dead = true;
}

/* NULL: the stream or its context was destroyed. */
struct stream *stream_get(struct context *ctx, void *handle)
{
	struct stream *s = handle;

	if (!handle || handle == CU_STREAM_LEGACY)
		return ctx ? &ctx->null : NULL;
	if (handle == CU_STREAM_PER_THREAD) {
		if (!own_stream || own_stream->ctx != ctx || own_stream->ctx->dead)
			own_stream = stream_new(ctx, CU_STREAM_DEFAULT, 0);
		return own_stream;
	}
	return s->dead || s->ctx->dead ? NULL : s;
}

uint64_t context_tail(struct context *ctx)
{
	uint64_t tail;

	pthread_mutex_lock(&engine_lock);
	tail = ctx->null.tail;
	for (struct stream *s = ctx->streams; s; s = s->next)
		if (s->tail > tail)
			tail = s->tail;
	pthread_mutex_unlock(&engine_lock);
	return tail;
}

void engine_each_device(void (*see)(const struct device *))
{
	for (int i = 0; i < n_devices; i++)
		see(&devices[i]);
}

void engine_each_context(void (*see)(const struct context *))
{
	for (struct context *c = contexts; c; c = c->next)
		if (!c->dead)
			see(c);
}

void engine_each_stream(void (*see)(const struct stream *))
{
	for (struct context *c = contexts; c; c = c->next) {
		if (c->dead)
			continue;
		see(&c->null);
		for (struct stream *s = c->streams; s; s = s->next)
			if (!s->dead)
				see(s);
	}
}
