/*
 * The client: the program's own profiler (torch.profiler's libkineto, or any other user of libcupti).  It and the tracer (cupti.h) share
 * the process's one CUPTI.  The client must see what it would see without the tracer.
 *
 *	cupti_exports.c   the client's calls arrive here: the preloaded object exports them, and precedes libcupti
 *	cupti_both.c      subscription and callbacks: each side gets what it enabled
 *	cupti_client.c    the client's other calls
 *	cupti_share.c     --cupti=share: CUPTI delivers to the tracer, and the client gets copies of its records
 *	cupti_yield.c     --cupti=yield, and sessions that cannot be shared: while the client has a kind enabled, it gets
 *	                  all activity records; the gap is reported in health
 *	cupti_window.c    which records are the client's
 *	cupti_clock.c     the client's clock
 *
 * Whichever comes first subscribes with cupti_callback(), so the client may come before the driver is initialised.  With --cupti=keep none
 * of this happens: CUPTI refuses the second subscriber.
 *
 * The client's functions are called with no lock held.  `gate` is held while CUPTI's settings are switched, during which CUPTI may call
 * back on this thread or another.  So `gate` is a lock with a bounded wait (lock.h), and no code called from a buffer callback takes it.
 */
#ifndef INJECT_CLIENT_CUPTI_CLIENT_H
#define INJECT_CLIENT_CUPTI_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/cupti/cupti_abi.h"

#define CLIENT_KINDS 256u       /* activity kinds; higher ones are not tracked */

struct cupti_client {
	uint32_t seen;                  /* it has subscribed or registered: callbacks go through cupti_client_callback() */
	uint32_t subscribed;
	void (*callback)(void *user, int domain, uint32_t cbid, const void *data);      /* NULL: none */
	void *user;
	char name[64];                  /* file name of the calling object: libtorch_cpu.so */
	void (*requested)(uint8_t **buffer, size_t *size, size_t *max_records);
	void (*completed)(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
	uint64_t kinds[CLIENT_KINDS / 64];      /* activity kinds that it has enabled */
	uint32_t n_kinds;
	uint64_t ever[CLIENT_KINDS / 64];       /* activity kinds that it has ever enabled */
	uint32_t n_ever;
	uint32_t thread_ids;            /* CUpti_ActivityThreadIdType that it set */
	uint32_t per_thread;            /* CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER + 1 that it set; 0: not set */
	uint32_t zeroed;                /* ..._ATTR_ZEROED_OUT_ACTIVITY_BUFFER that it set */
	uint32_t alone;                 /* this session cannot be shared: activity is yielded to the client */
	uint32_t all_syncs;             /* value that it passed to cuptiActivityEnableAllSyncRecords() */
};

extern struct cupti_client cupti_client;

/* ---- the client's calls (cupti_exports.c); each returns what CUPTI would ---- */

/*
 * True if a client's call is to be answered here.  fn: the libcupti function that the call would have reached.  True while the tracer uses
 * that library, and before the tracer starts: then the library is bound here.
 */
bool cupti_client_serves(void *fn);

int cupti_client_subscribe(void **subscriber, void (*callback)(void *, int, uint32_t, const void *), void *user,
			   struct cupti_subscriber_params *params, const char *who);
int cupti_client_unsubscribe(void *subscriber);
int cupti_client_enable(uint32_t enable, void *subscriber, int domain, uint32_t cbid);
int cupti_client_enable_domain(uint32_t enable, void *subscriber, int domain);
int cupti_client_enable_all(uint32_t enable, void *subscriber);
int cupti_client_state(uint32_t *enable, void *subscriber, int domain, uint32_t cbid);
int cupti_client_register(void (*requested)(uint8_t **, size_t *, size_t *),
			  void (*completed)(void *, uint32_t, uint8_t *, size_t, size_t), const char *who);

/* The CUPTI function through which the client switches a kind. */
enum kind_switch { KIND_ON, KIND_ON_DUMP, KIND_ON_CONTEXT, KIND_OFF, KIND_OFF_CONTEXT };
int cupti_client_kind(enum kind_switch how, int kind, void *context);

/* The client switched records of single API calls of this kind; result: CUPTI's answer, which is returned. */
int cupti_client_calls(uint32_t kind, int result);

int cupti_client_flush(uint32_t flag);
int cupti_client_dropped(void *context, uint32_t stream, size_t *dropped);
int cupti_client_clock(uint64_t (*clock)(void));
int cupti_client_timestamp(uint64_t *timestamp);
int cupti_client_all_syncs(uint8_t enable);
int cupti_client_thread_ids(uint32_t type);
int cupti_client_attribute(int attribute, size_t *size, void *value);
int cupti_client_finalize(void);

/* ---- for the tracer ---- */

/* Enables a callback for the tracer. */
void cupti_want(int domain, uint32_t cbid);

/* Passes a callback to the tracer and to the client, whichever enabled it. */
void cupti_client_callback(int domain, uint32_t cbid, const void *data);

/* False while this thread is in a client callback about resources or state, in which CUPTI must not be flushed. */
bool cupti_client_may_flush(void);

/* True if thread ids in records are the kernel's; the client may choose others while it has a kind enabled. */
bool cupti_client_leaves_tids(void);

/* True if the client wants one buffer per thread: as it set, or this CUPTI's default. */
bool cupti_client_per_thread(void);

/* Activity kinds that the client has enabled now, or has ever enabled. */
bool cupti_client_has_kind(uint32_t kind);
bool cupti_client_ever_had(uint32_t kind);

/* Returns activity to the tracer if the client has no kind enabled and its last buffer is back. */
void cupti_client_try_resume(void);

/* Hold the client's gate, while the tracer starts or switches kinds. */
void cupti_client_lock(void);
void cupti_client_unlock(void);

/* Reports that CUPTI refused the client because of the tracer. */
void cupti_client_refused(const char *who);

/* In a forked child, and after the client finalised CUPTI before the tracer started. */
void cupti_client_forget(void);
void cupti_both_forget(void);

#endif
