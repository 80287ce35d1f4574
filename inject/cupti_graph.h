/* Nodes of CUDA graphs: what the program was doing when each was made, so that kernels replayed later find it again. */
#ifndef INJECT_CUPTI_GRAPH_H
#define INJECT_CUPTI_GRAPH_H

#include <stdint.h>

#include "inject/cupti_abi.h"

/* Asks for the callbacks, where nodes are recorded at all. */
void cupti_graph_enable(void);

/* A resource callback about a node. */
void cupti_graph_event(uint32_t cbid, const struct cupti_graph_data *d);

/* A call of class INSTANTIATE has ended well. */
void cupti_graph_instantiated(int domain, uint32_t cbid, const struct cupti_call_data *d);

#endif
