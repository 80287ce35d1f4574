/* What a trace misses although nobody counted it. */
#ifndef ANALYZE_LOST_H
#define ANALYZE_LOST_H

#include <stdint.h>

struct model;

/*
 * Launches of kernels, by process (position in model_processes()), that succeeded and have neither a kernel nor a node of a graph.  free()
 * it; NULL: out of memory.  0 where it cannot be known: the trace is not finished, windows may have cut off kernels, graphs are whole.
 */
uint64_t *lost_launches(struct model *m);

#endif
