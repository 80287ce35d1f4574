/* CUDA graphs: what replayed GPU work was when it was captured. */
#ifndef MODEL_GRAPH_H
#define MODEL_GRAPH_H

#include <stddef.h>
#include <stdint.h>

struct model;

/* Makes the table of nodes: after it lookups cannot fail for want of memory, and may be made during a pass.  0, or -1.
 */
int model_graph_nodes(struct model *m);

/*
 * The graph_node row of the node that was captured or added, for the node id of a GPU row: ids of executable graphs are
 * followed to where they were cloned from.  NO_ROW: the trace does not have it.  process: position in
 * model_processes().
 */
size_t model_graph_node(struct model *m, uint32_t process, uint64_t node);

#endif
