/* Graphs: operations captured from streams, with their dependencies; a launch runs them. */
#include "test/sim/engine.h"

#include <cuda.h>
#include <stdlib.h>
#include <string.h>

#include <cupti_callbacks.h>

struct node {
	uint64_t id;
	bool empty;                     /* join of two branches: no operation */
	bool conditional;               /* conditional node: no operation */
	struct op op;
	struct node *deps[2];
	struct node *copy;              /* the node's copy, set while cloning */
	uint64_t end;                   /* end of the operation in the current launch */
	struct node *next;
};

struct graph {
	uint32_t id;
	bool exec;
	struct node *first, **last;
	pthread_mutex_t lock;           /* serializes launches, which write the nodes' `end` */
};

static _Atomic uint32_t last_graph;
static _Atomic uint64_t last_node;

static void tell(uint32_t cbid, struct graph *g, struct graph *from, struct node *n, struct node *original)
{
	const struct sim_tools *t = tools();
	CUpti_GraphData data = { .graph = (CUgraph)(g->exec ? from : g), .originalGraph = (CUgraph)from,
				 .node = (CUgraphNode)n, .originalNode = (CUgraphNode)original,
				 .graphExec = (CUgraphExec)(g->exec ? g : NULL) };
	bool told;

	if (n)
		data.nodeType = n->conditional ? CU_GRAPH_NODE_TYPE_CONDITIONAL : n->empty ? CU_GRAPH_NODE_TYPE_EMPTY :
				n->op.type == OP_KERNEL ? CU_GRAPH_NODE_TYPE_KERNEL :
				n->op.type == OP_MEMCPY ? CU_GRAPH_NODE_TYPE_MEMCPY : CU_GRAPH_NODE_TYPE_MEMSET;
	told = t && t->resource(cbid, *context_slot(), NULL, &data);
	if (n && !(g->exec && cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED))
		truth_node(n->id, original ? original->id : 0, (uint32_t)data.nodeType, told);
}

static struct graph *graph_make(bool exec)
{
	struct graph *g = calloc(1, sizeof(*g));

	g->id = ++last_graph;
	g->exec = exec;
	g->last = &g->first;
	pthread_mutex_init(&g->lock, NULL);
	return g;
}

static struct node *node_add(struct graph *g, const struct op *op)
{
	struct node *n = calloc(1, sizeof(*n));

	n->id = ++last_node;
	n->empty = !op;
	if (op)
		n->op = *op;
	*g->last = n;
	g->last = &n->next;
	return n;
}

struct graph *graph_new(void)
{
	struct graph *g = graph_make(false);

	tell(CUPTI_CBID_RESOURCE_GRAPH_CREATED, g, NULL, NULL, NULL);
	return g;
}

void graph_free(struct graph *g)
{
	struct node *n, *next;

	tell(g->exec ? CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING : CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, g,
	     NULL, NULL, NULL);
	for (n = g->first; n; n = next) {
		next = n->next;
		free(n);
	}
	free(g);
}

struct graph *graph_clone(struct graph *of)
{
	struct graph *g = graph_make(true);

	tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING, g, of, NULL, NULL);
	for (struct node *n = of->first; n; n = n->next) {
		struct node *c = node_add(g, n->empty ? NULL : &n->op);

		n->copy = c;
		c->conditional = n->conditional;
		for (int i = 0; i < 2; i++)
			c->deps[i] = n->deps[i] ? n->deps[i]->copy : NULL;
		tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, g, of, c, NULL);    /* without the original node, which CLONED has */
		tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, g, of, c, n);
	}
	tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, g, of, NULL, NULL);
	return g;
}

struct node *graph_add_conditional(struct graph *g)
{
	struct node *n = node_add(g, NULL);

	n->conditional = true;
	tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, g, NULL, n, NULL);
	return n;
}

/* Updates node by node, in order of creation; node ids do not change. */
bool graph_update(struct graph *exec, const struct graph *like)
{
	struct node *n = exec->first;
	const struct node *from = like->first;

	for (; n && from; n = n->next, from = from->next)
		if (n->empty != from->empty || n->op.type != from->op.type)
			return false;
	if (n || from)
		return false;
	pthread_mutex_lock(&exec->lock);
	for (n = exec->first, from = like->first; n; n = n->next, from = from->next)
		n->op = from->op;
	pthread_mutex_unlock(&exec->lock);
	return true;
}

size_t graph_nodes(const struct graph *g)
{
	size_t n = 0;

	for (struct node *at = g->first; at; at = at->next)
		n++;
	return n;
}

void graph_launch(struct graph *exec, struct stream *s)
{
	struct op whole = { .type = OP_GRAPH, .name = "graph", .start = UINT64_MAX, .graph = exec->id, .context = s->ctx->id,
			    .device = (uint32_t)s->ctx->dev->ordinal, .stream = s->id };
	uint64_t ready = op_ready(s);

	pthread_mutex_lock(&exec->lock);
	for (struct node *n = exec->first; n; n = n->next) {
		struct op op = n->op;

		n->end = ready;
		for (int i = 0; i < 2; i++)
			if (n->deps[i] && n->deps[i]->end > n->end)
				n->end = n->deps[i]->end;
		if (n->empty)
			continue;
		op.corr = 0;
		op.graph = exec->id;
		op.node = n->id;
		op_run(s, &op, n->end);
		n->end = op.end;
		whole.start = op.start < whole.start ? op.start : whole.start;
		whole.end = op.end > whole.end ? op.end : whole.end;
	}
	pthread_mutex_unlock(&exec->lock);
	if (whole.end)
		op_tell(&whole);
}

void graph_begin_capture(struct stream *s)
{
	s->capture = graph_new();
	s->capture_last = NULL;
	s->capture_origin = true;
}

struct graph *graph_end_capture(struct stream *s)
{
	struct graph *g = s->capture;

	if (!g || !s->capture_origin)
		return NULL;
	s->capture_origin = false;
	s->capture = NULL;
	for (struct stream *o = s->ctx->streams; o; o = o->next)
		if (o->capture == g)
			o->capture = NULL;
	return g;
}

void graph_capture(struct stream *s, const struct op *op)
{
	struct node *n;

	pthread_mutex_lock(&engine_lock);
	n = node_add(s->capture, op);
	n->deps[0] = s->capture_last;
	s->capture_last = n;
	pthread_mutex_unlock(&engine_lock);
	tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, s->capture, NULL, n, NULL);
}

void graph_capture_event(struct stream *s, struct event *e)
{
	e->capture = s->capture;
	e->capture_node = s->capture_last;
}

/* A stream that does not capture starts to capture into the event's graph; a capturing stream joins the event's branch with its own. */
void graph_capture_wait(struct stream *s, struct event *e)
{
	struct node *join = NULL;

	pthread_mutex_lock(&engine_lock);
	if (!s->capture) {
		s->capture = e->capture;
		s->capture_last = e->capture_node;
	} else if (e->capture_node && e->capture_node != s->capture_last) {
		join = node_add(s->capture, NULL);
		join->deps[0] = s->capture_last;
		join->deps[1] = e->capture_node;
		s->capture_last = join;
	}
	pthread_mutex_unlock(&engine_lock);
	if (join)
		tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, s->capture, NULL, join, NULL);
}

uint32_t graph_id(const void *graph, bool exec)
{
	const struct graph *g = graph;

	return g && g->exec == exec ? g->id : 0;
}

uint64_t graph_node_id(const void *node)
{
	return node ? ((const struct node *)node)->id : 0;
}
