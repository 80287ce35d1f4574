#include "inject/cupti/cupti_graph.h"

#include "inject/client/cupti_client.h"
#include "inject/core/health.h"
#include "inject/core/stream.h"
#include "inject/cupti/cupti.h"
#include "inject/cupti/cupti_api.h"

void cupti_graph_enable(void)
{
	if (!tracer.fn.GetGraphNodeId)
		return;
	cupti_want(DOMAIN_RESOURCE, RESOURCE_GRAPH_NODE_CREATED);
	cupti_want(DOMAIN_RESOURCE, RESOURCE_GRAPH_NODE_CLONED);
}

static void put_node(struct stream *s, const struct graph_node_row *node)
{
	struct graph_node_row *row = stream_reserve(s, ROW_graph_node, sizeof *row);

	if (!row)
		return;
	*row = *node;
	stream_publish(s, row);
}

/*
 * Always recorded, like definitions: a graph captured before recording begins may be launched during it.  A clone, which instantiation
 * makes on any thread, has no range: readers take that of its original.  CUPTI reports a clone as created and as cloned; older versions
 * report it as created only.  So nodes created inside a cloning call are ignored.
 */
void cupti_graph_event(uint32_t cbid, const struct cupti_graph_data *d)
{
	struct graph_node_row node = { .start = clock_now(), .type = (uint32_t)d->node_type, .step = -1 };
	bool clone = cbid == RESOURCE_GRAPH_NODE_CLONED;
	uint32_t corr = (uint32_t)(stream_self.scratch >> 32);  /* correlation id of the outermost call on this thread */
	struct stream *s;

	if (!clone && cupti_api_clones())
		return;
	if (!d->node || tracer.fn.GetGraphNodeId(d->node, &node.node) != RESULT_OK)
		return;
	if (clone && (!d->original_node || tracer.fn.GetGraphNodeId(d->original_node, &node.original) != RESULT_OK))
		return;
	s = stream_enter();
	if (!s)
		return;
	node.thread = s->thread;
	node.corr = corr;
	node.range = clone ? 0 : stream_range(s);
	put_node(s, &node);
	stream_leave(s);
}

/* Counts graphs that kernels can launch: neither callbacks nor records show those launches. */
void cupti_graph_instantiated(int domain, uint32_t cbid, const struct cupti_call_data *d)
{
	const struct cupti_instantiate_params *p = d->params;
	bool by_pointer = domain == DOMAIN_RUNTIME ? cbid == 436 || cbid == 437 : cbid == 656 || cbid == 657;
	uint64_t flags;

	if (!p)
		return;
	flags = p->flags;
	if (by_pointer) {
		const uint64_t *instantiate = (const uint64_t *)(uintptr_t)flags;

		flags = instantiate ? *instantiate : 0;
	}
	if (flags & INSTANTIATE_DEVICE_LAUNCH)
		health_count(HEALTH_device_graphs);
}
