/*
 * --cupti=share: CUPTI collects what either side wants and delivers it to us.  The program's own profiler gets copies
 * of the records that are its own (cupti_window.c) in buffers of its own, when one is full and when it flushes.
 *
 * Where both cannot be had, it wins:
 *	whole graphs       while it has a kind of GPU work enabled, graphs are as it asked (GRAPH_TRACE), whatever
 *	                   --cuda-graph-trace says
 *	KERNEL             serialises kernels; while it has it, CONCURRENT_KERNEL is off
 *	thread ids         of records are of the type that it set, while it has a kind enabled
 *	refused waits      as cuptiActivityEnableAllSyncRecords() says, while it has SYNCHRONIZATION; we leave out "not
 *	                   ready"
 *	its clock          is not CUPTI's: its copies are converted
 *	forced flush       is forced for both: what is unfinished loses its times
 * What it sets and we do not mind goes straight to CUPTI: latency timestamps, external correlation, buffers' sizes and
 * numbers.
 */
#ifndef INJECT_CUPTI_SHARE_H
#define INJECT_CUPTI_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* It switches a kind; what CUPTI answers.  With the client's gate held, as the next. */
int cupti_share_kind(bool on, bool dump, int kind);

/* After a kind was switched: what CUPTI can only do one way. */
void cupti_share_settle(void);

/*
 * A window of its was opened or closed, or it has no buffer: the next API call that begins tells the correlation id,
 * and asks it for a buffer.  CUPTI would have asked by then, and libkineto flushes only while a buffer of its is with
 * CUPTI.
 */
bool cupti_share_alert(void);
void cupti_share_begun(uint32_t corr);

/*
 * Copying out of one buffer of CUPTI's: begin, any number of records, end.  True: a copy was made, and pointers in it
 * are its to free.
 */
struct cupti_copy {
	struct lot *lot;
	bool on, last;                  /* is there anybody to copy for?  was the last record copied? */
};
void cupti_copy_begin(struct cupti_copy *c);
bool cupti_copy_record(struct cupti_copy *c, const uint8_t *record, size_t size);
void cupti_copy_end(struct cupti_copy *c);

/* It flushes: hands over what there is; by force, empty buffers too. */
void cupti_share_deliver(bool forced);

/* Records of its that were lost, since the last time. */
uint64_t cupti_share_take_dropped(void);
void cupti_share_add_dropped(uint64_t n);

/* The process ends: from here on nothing of its is called. */
void cupti_share_stop(void);

void cupti_share_forget(void);

#endif
