/* What several reports make of a rank's GPU rows: made when the first of them asks for it, and kept for the others. */
#ifndef ANALYZE_HTA_MADE_H
#define ANALYZE_HTA_MADE_H

#include "cli/analyze/hta.h"

/* The streams of a rank by their numbers, whatever the device. */
struct hta_streams {
	int64_t *numbers;
	size_t n;
	uint32_t *of_place;             /* place -> position in numbers */
};

/* Which GPU rows belong to a correlation id, in the order of hta_rank.gpu: positions there + 1, 0 ends it. */
struct hta_chains {
	uint32_t *first;                /* by hta_id() */
	uint32_t *next;                 /* by position in hta_rank.gpu */
	uint8_t *flags;                 /* by hta_id(): HTA_LAUNCH, HTA_QUEUES where a call with that id has it */
};

/* How many rows waited in each stream's queue, over time (hta/analyzers/trace_counters.py). */
struct queue_point {
	int64_t ts;
	uint32_t row;                   /* position: the call where it got longer, the GPU row where shorter */
	uint32_t gpu;                   /* position of the GPU row: its stream, pid and tid */
	int32_t length;                 /* from here on */
};

struct hta_made {
	struct timed *by_time;
	struct hta_intervals busy[HTA_CLASSES + 1];
	struct hta_streams streams;
	struct hta_chains chains;
	struct queue_point *queue;
	size_t n_queue;
};

void hta_made_free(struct hta_made *made);

/* Each is the rank's; NULL: out of memory. */

/* Rows on streams by begin, of equal times in their order.  row: position. */
const struct timed *hta_by_time(const struct hta_rank *r);
/* When there was something of a class on the GPU, or (HTA_CLASSES) anything at all. */
const struct hta_intervals *hta_busy(const struct hta *h, const struct hta_rank *r, enum hta_class class);
const struct hta_streams *hta_streams(const struct hta_rank *r);
const struct hta_chains *hta_chains(const struct hta *h, const struct hta_rank *r);
/* hta_queue.c.  All changes in time's order; of equal times launches first, else in file order (HTA's own sort leaves
 * that to chance). */
const struct queue_point *hta_queue(const struct hta *h, const struct hta_rank *r, size_t *n);

static inline uint32_t hta_stream_at(const struct hta_streams *s, const struct hta_row *row)
{
	return s->of_place[row->place];
}

#endif
