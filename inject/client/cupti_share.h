/*
 * --cupti=share: CUPTI collects what the tracer or the client (cupti_client.h) wants, and delivers it to the tracer.  The client gets
 * copies of its records (cupti_window.c) in its own buffers, when a buffer is full and when the client flushes.
 *
 * Where the two want different things, the client's choice applies:
 *	whole graphs       while the client has a kind of GPU work enabled, graphs are recorded as it asked (GRAPH_TRACE),
 *	                   whatever --cuda-graph-trace says
 *	KERNEL             serialises kernels; while the client has it enabled, CONCURRENT_KERNEL is disabled
 *	thread ids         in records have the type that the client set, while it has a kind enabled
 *	queries            that returned "not ready" are recorded as cuptiActivityEnableAllSyncRecords() says, while the client
 *	                   has SYNCHRONIZATION; they do not become rows
 *	the client's clock is not CUPTI's: the times in the copies are converted
 *	forced flush       is forced for both: unfinished work loses its times
 * Settings that do not affect the tracer go straight to CUPTI: latency timestamps, external correlation, sizes and numbers of buffers.
 *
 * What cannot be shared: a kind for a single context, and a kind that CUPTI refuses together with one of the tracer's (error 14).  Then
 * the client has CUPTI's activity to itself (cupti_yield.h) until it has disabled its last kind.
 */
#ifndef INJECT_CLIENT_CUPTI_SHARE_H
#define INJECT_CLIENT_CUPTI_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The client switches a kind; returns CUPTI's answer.  This and the next functions: with the client's gate held. */
int cupti_share_kind(bool on, bool dump, int kind);

/* The client records single API functions of a kind that neither side has enabled. */
void cupti_share_single(uint32_t kind);

/* After a kind was switched: chooses between whole graphs and nodes, since CUPTI can record only one of them. */
void cupti_share_settle(void);

/* The rest of the client's session is not shared: work launched from here on is not copied.  The client's next session is shared again. */
void cupti_share_leave(void);

/*
 * cupti_share_alert(): a window of the client was opened or closed, or the client has no buffer here.  Then call cupti_share_begun() as
 * the next API call begins, with its correlation id, on any thread; it asks the client for a buffer.  CUPTI would have asked by then, and
 * libkineto flushes only while CUPTI has a buffer.
 */
bool cupti_share_alert(void);
void cupti_share_begun(uint32_t corr);

/*
 * Copies records out of one of CUPTI's buffers: begin, any number of records, end, on one thread.  True: the record was copied, and the
 * client frees what it points to.
 */
struct cupti_copy {
	struct lot *lot;
	bool on, last;                  /* on: the client has ever had a kind; last: the last record was the client's */
};
void cupti_copy_begin(struct cupti_copy *c);
bool cupti_copy_record(struct cupti_copy *c, const uint8_t *record, size_t size);
void cupti_copy_end(struct cupti_copy *c);

/*
 * The client flushes: hands over its buffers that have records; forced: empty ones too.  Calls the client's functions, so no lock may be
 * held.
 */
void cupti_share_deliver(bool forced);

/* Records that the client has lost since the last call. */
uint64_t cupti_share_take_dropped(void);
void cupti_share_add_dropped(uint64_t n);

/*
 * The process ends: from here on none of the client's functions is called, unless it flushes.  Until then its records are stored
 * (cupti_late.h).
 */
void cupti_share_stop(void);

/* In a forked child. */
void cupti_share_forget(void);

#endif
