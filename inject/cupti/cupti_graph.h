/*
 * Nodes of CUDA graphs -> rows that say where the program created each node, so that kernels of a graph launch can be attributed to that
 * code.
 */
#ifndef INJECT_CUPTI_CUPTI_GRAPH_H
#define INJECT_CUPTI_CUPTI_GRAPH_H

#include <stdint.h>

#include "inject/cupti/cupti_abi.h"

/* Enables the callbacks about nodes, if this CUPTI has node ids.  As the tracer starts. */
void cupti_graph_enable(void);

/* A resource callback about a node, on the thread that creates it. */
void cupti_graph_event(uint32_t cbid, const struct cupti_graph_data *d);

/* A call of class INSTANTIATE succeeded; between stream_enter() and stream_leave(). */
void cupti_graph_instantiated(int domain, uint32_t cbid, const struct cupti_call_data *d);

#endif
