#include "inject/cupti_resource.h"

#include "inject/cupti.h"
#include "inject/cupti_activity.h"
#include "inject/cupti_client.h"
#include "inject/cupti_flush.h"
#include "inject/cupti_graph.h"
#include "inject/cupti_unified.h"
#include "inject/lifecycle.h"
#include "inject/stream.h"

void cupti_resource_enable(void)
{
	static const struct {
		int domain;
		uint32_t cbid;
	} wanted[] = {
		{ DOMAIN_RESOURCE, RESOURCE_CU_INIT_FINISHED },
		{ DOMAIN_RESOURCE, RESOURCE_CONTEXT_CREATED },
		{ DOMAIN_RESOURCE, RESOURCE_STREAM_CREATED },
		{ DOMAIN_STATE, STATE_FATAL_ERROR },
		{ DOMAIN_STATE, STATE_ERROR },
	};

	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		cupti_want(wanted[i].domain, wanted[i].cbid);
	if (guest->config.trace_jit)
		cupti_want(DOMAIN_RESOURCE, RESOURCE_MODULE_LOADED);
}

/* Only where we do not have the activity kinds that say it better. */
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

static void stream_created(const struct cupti_resource_data *d)
{
	struct stream_row *row;
	uint32_t context, id;
	struct stream *s;

	if (!cupti_activity_lacks(KIND_STREAM) || !tracer.fn.GetContextId || !tracer.fn.GetStreamIdEx ||
	    tracer.fn.GetContextId(d->context, &context) != RESULT_OK ||
	    tracer.fn.GetStreamIdEx(d->context, d->stream, 0, &id) != RESULT_OK)
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

/* The code itself is not looked at: it may be hundreds of MB. */
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
		/* The driver has registered its exit handler by now; ours must run before it. */
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
	const char *message = d && d->message ? d->message : "no message";

	if (cbid == STATE_FATAL_ERROR) {
		/* CUPTI finalises itself after this. */
		__atomic_store_n(&tracer.state, TRACER_DEAD, __ATOMIC_RELEASE);
		health_note(HEALTH_cupti_fatal, "%s", message);
	} else {
		health_note(HEALTH_cupti_error, "%s (%d)", message, d ? d->result : 0);
	}
}
