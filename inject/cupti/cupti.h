/*
 * The tracer: CUDA through CUPTI.  cupti.c starts and stops it, and dispatches callbacks:
 *	cupti_api.c       API calls -> rows, on the program's threads
 *	cupti_resource.c  contexts and streams created and destroyed; errors that CUPTI reports
 *	cupti_event.c     CUDA events and the times between them, from the calls' parameters
 *	cupti_unified.c   counters of unified memory
 *	cupti_graph.c     nodes of graphs -> rows
 *	cupti_buffers.c   empty buffers for CUPTI
 *	cupti_activity.c  full buffers -> rows, mostly on CUPTI's threads
 *	cupti_flush.c     the flush thread: fetches the records that CUPTI holds
 *	cupti_client.h    the client: the program's own profiler, which uses CUPTI as well
 *
 * CUPTI belongs to the process that subscribed.  A child forked after that never calls CUPTI; a child forked before starts its own tracer.
 */
#ifndef INJECT_CUPTI_CUPTI_H
#define INJECT_CUPTI_CUPTI_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/core/module.h"
#include "inject/cupti/cupti_layout.h"
#include "inject/cupti/cupti_load.h"

/* Starts the tracer.  Called by InitializeInjection(), inside the driver's first cuInit(); later calls do nothing.  Keeps errno. */
void cupti_start(void);

enum tracer_state {
	TRACER_OFF,                     /* not started, or refused: CUPTI is not called */
	TRACER_UP,
	TRACER_DEAD,                    /* CUPTI reported a fatal error: it is not called any more */
};

/* CUPTI of 13.0 before Update 1: disabling kernel records may hang. */
#define FLAWED_VERSION 130000u

struct tracer {
	struct cupti fn;
	struct cupti_layouts layout;
	uint32_t version;               /* cuptiGetVersion(); 0: not asked yet (13.2 or later, before subscribing) */
	uint32_t state;                 /* enum tracer_state */
	int pid;                        /* the process that subscribed; 0: none */
	uint32_t parent_had_cuda;       /* forked child of a process that had subscribed */
	uint32_t called;                /* CUDA was called since the last flush */
	uint32_t ending;                /* the final flush was requested; the program may still continue for a while */
	uint32_t unified;               /* cupti_unified_start() has configured the counters, or was refused */
	uint32_t per_thread;            /* CUPTI fills one buffer per thread */
	uint32_t bound;                 /* `fn` and `layout` are valid */
	uint32_t decided;               /* start() has returned, successful or not */
	uint32_t ready;                 /* a context was created, so cuInit() has returned: kinds may be enabled from any thread */
	uint32_t wake_due;              /* kinds were wanted before `ready` */
	void *subscriber;
};

/* CUPTI of 12.8: the first whose flush does not damage per-thread buffers that other threads are filling. */
#define SAFE_EACH_THREAD 26u

/*
 * Versions between these two keep the buffers that the GPU writes in GPU memory, and may crash when they allocate more of them, in long
 * runs with graphs.  Earlier versions, and these on request, use pinned host memory.
 */
#define DEVICE_BUFFERS      18u
#define SAFE_DEVICE_BUFFERS 130001u

/* Written while the tracer starts and in forked children; atomics where other threads read. */
extern struct tracer tracer;

/*
 * True if enabled kinds must stay enabled.  12.4 Update 1 and 12.5 lose kernels of modules that were loaded before kernel records were
 * enabled.  From 13.0 until 13.1 Update 1, graph launches have wrong correlation ids after kernel records were disabled.
 */
static inline bool tracer_keeps_kinds(uint32_t version)
{
	return version == 22 || version == 23 || (version >= FLAWED_VERSION && version <= 130100);
}

/* The release after such a version in which kinds may be disabled. */
static inline const char *tracer_better_release(uint32_t version)
{
	return version < FLAWED_VERSION ? "12.6.80" : "13.1.115";
}

/* True if this CUPTI fills one buffer per thread by default: from 13.0 on. */
static inline bool tracer_each_thread(void)
{
	return !tracer.version || tracer.version >= 130000;
}

/* True if CUPTI may be called in this process now.  Costs a system call. */
bool tracer_usable(void);

/* Sets an attribute of activity buffers (cuptiActivitySetAttribute).  False: CUPTI does not have it, or refuses the value. */
bool tracer_set_attribute(int attribute, uint8_t value);

/* After CUPTI refused a subscription: asks for the holder's name, written to params->old_name.  Needs fn.Subscribe_v2. */
void cupti_ask_holder(struct cupti_subscriber_params *params);

/* Reports a failed CUPTI call in health: "cuptiSubscribe: CUPTI_ERROR_UNKNOWN (999)". */
void tracer_error(const char *call, int result);

/* cupti_callback(): the process's only CUPTI callback, on any thread.  cupti_own_callback(): the tracer's part of it; keeps errno. */
void cupti_callback(void *user, int domain, uint32_t cbid, const void *data);
void cupti_own_callback(int domain, uint32_t cbid, const void *data);

/*
 * The client called CUPTI before the driver was initialised: binds the library that contains fn.  False: start() has returned already, or
 * the library cannot be used.  With the client's gate held.
 */
bool cupti_bind_early(void *fn);

#endif
