#include "inject/cupti/cupti_resource.h"

#include "inject/client/cupti_client.h"
#include "inject/core/stream.h"
#include "inject/cupti/cupti.h"
#include "inject/cupti/cupti_activity.h"
#include "inject/cupti/cupti_flush.h"
#include "inject/cupti/cupti_graph.h"
#include "inject/cupti/cupti_primary.h"
#include "inject/cupti/cupti_unified.h"
#include "inject/process/lifecycle.h"

void cupti_resource_enable(void)
{
	static const struct {
		int domain;
		uint32_t cbid;
	} wanted[] = {
		{ DOMAIN_RESOURCE, RESOURCE_CU_INIT_FINISHED },
		{ DOMAIN_RESOURCE, RESOURCE_CONTEXT_CREATED },
		{ DOMAIN_RESOURCE, RESOURCE_CONTEXT_DESTROY_STARTING },
		{ DOMAIN_RESOURCE, RESOURCE_STREAM_CREATED },
		{ DOMAIN_STATE, STATE_FATAL_ERROR },
		{ DOMAIN_STATE, STATE_ERROR },
	};

	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		cupti_want(wanted[i].domain, wanted[i].cbid);
	if (guest->config.trace_jit)
		cupti_want(DOMAIN_RESOURCE, RESOURCE_MODULE_LOADED);
}

/* Only if activity records of contexts, which say more, are not enabled. */
static void context_created(const struct cupti_resource_data *d)
{
	struct context_row *row;
	uint32_t id, device;
	struct stream *s;

	if (!cupti_activity_lacks(KIND_CONTEXT) || !tracer.fn.GetContextId || !tracer.fn.GetDeviceId ||
	    tracer.fn.GetContextId(d->context, &id) != RESULT_OK || tracer.fn.GetDeviceId(d->context, &device) != RESULT_OK)
		return;
	s = stream_enter();
	if (!s)
		return;
	row = stream_reserve(s, ROW_context, sizeof *row);
	if (row) {
		*row = (struct context_row){ .id = id, .device = device, .null_stream = STREAM_NONE };
		stream_publish(s, row);
	}
	stream_leave(s);
}

/* Context of each stream, for calls made in another context.  A hash table: of two streams with one place, the newer is kept. */
#define PLACES 1024u

static struct made {
	const void *stream;
	uint32_t context;
} made[PLACES];

static struct made *place_of(const void *stream)
{
	return &made[(uint64_t)(uintptr_t)stream * 0x9e3779b97f4a7c15ull >> 54];
}

uint32_t cupti_resource_context_of(const void *stream)
{
	const struct made *m = place_of(stream);
	uint32_t context = __atomic_load_n(&m->context, __ATOMIC_ACQUIRE);

	_Static_assert(PLACES == 1u << (64 - 54), "the hash's highest bits number the places");
	return __atomic_load_n(&m->stream, __ATOMIC_RELAXED) == stream ? context : 0;
}

static void remember(const void *stream, uint32_t context)
{
	struct made *m = place_of(stream);

	__atomic_store_n(&m->stream, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&m->context, context, __ATOMIC_RELEASE);
	__atomic_store_n(&m->stream, stream, __ATOMIC_RELEASE);
}

static void stream_created(const struct cupti_resource_data *d)
{
	struct stream_row *row;
	uint32_t context, id;
	struct stream *s;

	if (!tracer.fn.GetContextId || tracer.fn.GetContextId(d->context, &context) != RESULT_OK)
		return;
	remember(d->stream, context);
	if (!cupti_activity_lacks(KIND_STREAM) || !tracer.fn.GetStreamIdEx ||
	    tracer.fn.GetStreamIdEx(NULL, d->stream, 0, &id) != RESULT_OK)
		return;
	s = stream_enter();
	if (!s)
		return;
	row = stream_reserve(s, ROW_stream, sizeof *row);
	if (row) {
		*row = (struct stream_row){ .id = id, .context = context };
		stream_publish(s, row);
	}
	stream_leave(s);
}

/* The code itself is not read: it may be hundreds of MB. */
static void module_loaded(const struct cupti_resource_data *d)
{
	const struct cupti_module_data *module = d->descriptor;
	uint32_t context = 0, corr = (uint32_t)(stream_self.scratch >> 32);
	struct module_row *row;
	struct stream *s;

	if (!module || !capture_on())
		return;
	if (!tracer.fn.GetContextId || tracer.fn.GetContextId(d->context, &context) != RESULT_OK)
		context = 0;
	s = stream_enter();
	if (!s)
		return;
	row = stream_reserve(s, ROW_module, sizeof *row);
	if (row) {
		*row = (struct module_row){
			.start = clock_now(),
			.bytes = module->size,
			.id = module->id,
			.context = context,
			.corr = corr,
			.thread = s->thread,
		};
		stream_publish(s, row);
	}
	stream_leave(s);
}

void cupti_resource_event(uint32_t cbid, const struct cupti_resource_data *d)
{
	switch (cbid) {
	case RESOURCE_CU_INIT_FINISHED:
		/* The driver has registered its exit handler by now; lifecycle's must run before it. */
		lifecycle_at_exit();
		cupti_flush_start();
		cupti_unified_start(false);
		break;
	case RESOURCE_CONTEXT_CREATED:
		lifecycle_at_exit();
		cupti_flush_start();
		cupti_unified_start(true);
		context_created(d);
		break;
	case RESOURCE_CONTEXT_DESTROY_STARTING:
		cupti_primary_destroyed(d->context);
		break;
	case RESOURCE_STREAM_CREATED:
		stream_created(d);
		break;
	case RESOURCE_MODULE_LOADED:
		module_loaded(d);
		break;
	case RESOURCE_GRAPH_NODE_CREATED:
	case RESOURCE_GRAPH_NODE_CLONED:
		cupti_graph_event(cbid, d->descriptor);
		break;
	}
}

void cupti_state_event(uint32_t cbid, const struct cupti_state_data *d)
{
	const char *message = d && d->message ? d->message : "no message from CUPTI";

	if (cbid == STATE_FATAL_ERROR) {
		/* CUPTI finalises itself after a fatal error. */
		__atomic_store_n(&tracer.state, TRACER_DEAD, __ATOMIC_RELEASE);
		health_note(HEALTH_cupti_fatal, "%s", message);
	} else {
		health_note(HEALTH_cupti_error, "%s (%d)", message, d ? d->result : 0);
	}
}
