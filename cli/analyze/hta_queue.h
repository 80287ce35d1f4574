/* How many rows waited in each stream's queue, over time (hta/analyzers/trace_counters.py). */
#ifndef ANALYZE_HTA_QUEUE_H
#define ANALYZE_HTA_QUEUE_H

#include "cli/analyze/hta.h"

struct queue_point {
	int64_t ts;
	uint32_t row;                   /* position: the call where it got longer, the GPU row where shorter */
	uint32_t gpu;                   /* position of the GPU row: its stream, pid and tid */
	int32_t length;                 /* from here on */
};

/*
 * All changes of a rank in time's order; of equal times launches first, else in file order (HTA's own sort leaves that
 * to chance).  free() it; NULL: out of memory.
 */
struct queue_point *hta_queue(const struct hta *h, const struct hta_rank *r, size_t *n);

#endif
