/* CUDA graphs: finds the graph_node row, written at capture, of GPU work that a graph launched. */
#ifndef CLI_MODEL_GPU_GRAPH_H
#define CLI_MODEL_GPU_GRAPH_H

#include <stddef.h>
#include <stdint.h>

struct model;

/* Builds the table of nodes.  After that, model_graph_node() cannot run out of memory and may be called during a pass.  0, or -1. */
int model_graph_nodes(struct model *m);

/*
 * The graph_node row of the captured or added node for the node id of a GPU row; nodes of executable graphs are followed back to the
 * node they were cloned from.  NO_ROW: not in the trace.  process: position in model_processes().
 */
size_t model_graph_node(struct model *m, uint32_t process, uint64_t node);

#endif
