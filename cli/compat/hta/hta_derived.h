/* Data derived from a rank's GPU rows that several reports use: made at the first request, then kept with the rank. */
#ifndef CLI_COMPAT_HTA_HTA_DERIVED_H
#define CLI_COMPAT_HTA_HTA_DERIVED_H

#include "cli/compat/hta/hta.h"

/* The distinct stream numbers of a rank; equal numbers on two devices are one. */
struct hta_streams {
	int64_t *numbers;
	size_t n;
	uint32_t *of_place;             /* by place: position in numbers */
};

/* Linked lists of the GPU rows of each correlation id, as positions in hta_rank.gpu + 1 (0 ends a list), ascending. */
struct hta_chains {
	uint32_t *first;                /* by hta_id() */
	uint32_t *next;                 /* by position in hta_rank.gpu */
	uint8_t *flags;                 /* by hta_id(): HTA_LAUNCH, HTA_QUEUES if a call with the id has the flag */
};

/* A change of the queue length of a stream (hta/analyzers/trace_counters.py). */
struct queue_point {
	int64_t ts;
	uint32_t row;                   /* position of the call that made the queue longer, or of the GPU row that made it shorter */
	uint32_t gpu;                   /* position of the GPU row; it has the stream, pid and tid */
	int32_t length;                 /* queue length after the change */
};

struct hta_derived {
	struct timed *by_time;
	struct hta_intervals busy[HTA_CLASSES + 1];
	struct hta_streams streams;
	struct hta_chains chains;
	struct queue_point *queue;
	size_t n_queue;
	bool queue_refused;             /* hta_too_many_pairs(): no points were made */
};

void hta_derived_free(struct hta_derived *derived);

/* What these functions return belongs to the rank.  NULL: out of memory. */

/* The n_gpu rows on streams by start, at equal times in the order of positions.  .row: position. */
const struct timed *hta_by_time(const struct hta_rank *r);
/* Union of the rows on streams of a class; HTA_CLASSES: of all classes. */
const struct hta_intervals *hta_busy(const struct hta *h, const struct hta_rank *r, enum hta_class class);
/* The streams, and the GPU rows by correlation id; see the structs. */
const struct hta_streams *hta_streams(const struct hta_rank *r);
const struct hta_chains *hta_chains(const struct hta *h, const struct hta_rank *r);
/* hta_queue.c: all changes by time; at equal times launches first, then in file order (undefined in HTA).  None if queue_refused. */
const struct queue_point *hta_queue(const struct hta *h, const struct hta_rank *r, size_t *n);

/*
 * Whether there are too many pairs of a call and a GPU row with the same correlation id.  In a damaged file all rows can share one id, and
 * the number of pairs is the square of that of rows.
 */
static inline bool hta_too_many_pairs(const struct hta_rank *r, uint64_t pairs)
{
	return pairs > 1u << 20 && pairs / 64 > r->n_file;
}

/* *pairs: number of pairs of a call with counts() true and a GPU row with its correlation id.  Returns 0, or -1 when out of memory. */
int hta_count_pairs(const struct hta *h, const struct hta_rank *r, bool (*counts)(const struct hta *h, const struct hta_rank *r, size_t call),
		    uint64_t *pairs);

/* hta_load.c: notes what a table lacks (`without`) because of too many pairs. */
void hta_note_pairs(struct table *t, const struct hta_rank *r, const char *without);

static inline uint32_t hta_stream_at(const struct hta_streams *s, const struct hta_row *row)
{
	return s->of_place[row->place];
}

#endif
