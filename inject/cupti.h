/*
 * CUDA through CUPTI.  cupti.c starts and stops it, and passes callbacks on:
 *	cupti_api.c       API calls -> rows, in the program's threads
 *	cupti_resource.c  contexts and streams come and go; CUPTI reports errors
 *	cupti_event.c     events recorded, and times between them, out of calls' parameters
 *	cupti_unified.c   counters of unified memory
 *	cupti_graph.c     nodes of graphs -> rows
 *	cupti_buffers.c   empty buffers for CUPTI
 *	cupti_activity.c  full ones -> rows, mostly in CUPTI's threads
 *	cupti_flush.c     a thread of ours asks for what CUPTI holds back
 *	cupti_client.h    the program's own profiler uses CUPTI as well
 *
 * CUPTI belongs to the process that subscribed.  A forked child of it never calls CUPTI; a child forked before that is a process of
 * its own and starts afresh.
 */
#ifndef INJECT_CUPTI_H
#define INJECT_CUPTI_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/cupti_layout.h"
#include "inject/cupti_load.h"
#include "inject/module.h"

/* From InitializeInjection, synchronously: the driver is inside its first cuInit.  Once. */
void cupti_start(void);

enum tracer_state {
	TRACER_OFF,                     /* not started, or refused: CUPTI is not called */
	TRACER_UP,
	TRACER_DEAD,                    /* CUPTI reported a fatal error: likewise */
};

#define FLAWED_VERSION 130000u         /* 13.0 before Update 1; of other releases' faults none is met by what we do */

struct tracer {
	struct cupti fn;
	struct cupti_layouts layout;
	uint32_t version;               /* cuptiGetVersion() */
	uint32_t state;                 /* enum tracer_state */
	int pid;                        /* the process that subscribed; 0: none */
	uint32_t parent_had_cuda;       /* this is a forked child of such a process */
	uint32_t called;                /* CUDA was called since the last flush */
	uint32_t ending;                /* the last flush was asked for; the program may still go on for a while */
	uint32_t unified;               /* counters of unified memory were asked for, or not wanted */
	uint32_t per_thread;            /* CUPTI has a buffer for each thread */
	uint32_t bound;                 /* `fn` and `layout` are there */
	uint32_t decided;               /* start() is over, whatever came of it */
	void *subscriber;
};

/* From 13.0 on there is a buffer for each thread unless CUPTI is told not to. */
#define EACH_THREAD_VERSION 130000u

extern struct tracer tracer;

/* May CUPTI be called here and now?  Costs a system call. */
bool tracer_usable(void);

/* "cuptiSubscribe: CUPTI_ERROR_UNKNOWN (999)" into health. */
void tracer_error(const char *call, int result);

/* What CUPTI calls, and what of it is for us. */
void cupti_callback(void *user, int domain, uint32_t cbid, const void *data);
void cupti_own_callback(int domain, uint32_t cbid, const void *data);

/* The program's own profiler is here before the driver: binds the library that holds fn.  False: we have been and gone. */
bool cupti_bind_early(void *fn);

#endif
