/*
 * The program's own profiler (torch.profiler's libkineto, or anything else that is linked to libcupti), and how it and
 * we use the one CUPTI of the process together.  It must see what it would see without us.
 *
 *	cupti_exports.c   its calls arrive here: our preloaded object exports them, and comes before libcupti
 *	cupti_both.c      subscription and callbacks: each side is told what it enabled itself
 *	cupti_client.c    what it asked for of the rest
 *	cupti_yield.c     --cupti=yield: activity records are its alone while it has a kind enabled; the gap is named in
 *	                  health
 *	cupti_share.c     --cupti=share: CUPTI delivers to us, and it gets copies of the records that are its own
 *	cupti_window.c    which those are
 *	cupti_clock.c     its clock
 *
 * Whoever comes first subscribes with our callback, so it may come before the driver is up.  With --cupti=keep nothing
 * of this happens: who comes second is refused by CUPTI.
 *
 * We call its functions with no lock held.  `gate` is held over calls of CUPTI that switch things, which may call us
 * back on this thread or another; so it is a lock that gives up waiting (lock.h), and nothing that a buffer's callback
 * may call takes it.
 */
#ifndef INJECT_CUPTI_CLIENT_H
#define INJECT_CUPTI_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/cupti_abi.h"

#define CLIENT_KINDS 256u       /* activity kinds; of a higher one nothing is known here */

struct cupti_client {
	uint32_t seen;                  /* it has subscribed or registered; from then on callbacks go the longer way */
	uint32_t subscribed;
	void (*callback)(void *user, int domain, uint32_t cbid, const void *data);      /* NULL: none */
	void *user;
	char name[64];                  /* the object that called: libtorch_cpu.so */
	void (*requested)(uint8_t **buffer, size_t *size, size_t *max_records);
	void (*completed)(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
	uint64_t kinds[CLIENT_KINDS / 64];      /* activity kinds that it has enabled */
	uint32_t n_kinds;
	uint64_t ever[CLIENT_KINDS / 64];       /* those that it has ever enabled */
	uint32_t n_ever;
	uint32_t thread_ids;            /* CUpti_ActivityThreadIdType as it set it */
	uint32_t per_thread;            /* CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER + 1 as it set it; 0: it did not */
	uint32_t all_syncs;             /* cuptiActivityEnableAllSyncRecords() as it set it */
};

extern struct cupti_client cupti_client;

/* ---- the calls (cupti_exports.c); each answers as CUPTI would ---- */

/*
 * Is its call answered by us?  fn: the function of libcupti that it would have reached.  True while we record with that
 * library, and before: then the library is bound here.
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

/* How it switches a kind: through which of CUPTI's functions. */
enum kind_switch { KIND_ON, KIND_ON_DUMP, KIND_ON_CONTEXT, KIND_OFF, KIND_OFF_CONTEXT };
int cupti_client_kind(enum kind_switch how, int kind, void *context);

int cupti_client_flush(uint32_t flag);
int cupti_client_dropped(void *context, uint32_t stream, size_t *dropped);
int cupti_client_clock(uint64_t (*clock)(void));
int cupti_client_timestamp(uint64_t *timestamp);
int cupti_client_all_syncs(uint8_t enable);
int cupti_client_thread_ids(uint32_t type);
int cupti_client_attribute(int attribute, size_t *size, void *value);
int cupti_client_finalize(void);

/* ---- for the rest of us ---- */

/* Asks CUPTI for a callback of ours. */
void cupti_want(int domain, uint32_t cbid);

/* The longer way of a callback: to us if we want it, and to the profiler if it does. */
void cupti_client_callback(int domain, uint32_t cbid, const void *data);

/* Is this thread inside a callback in which CUPTI may not be flushed? */
bool cupti_client_may_flush(void);

/* Are thread ids in records the kernel's?  Not while it has a kind enabled and chose others. */
bool cupti_client_leaves_tids(void);

/* Does it want a buffer for each thread?  As it said, or as this CUPTI does by itself. */
bool cupti_client_per_thread(void);

bool cupti_client_has_kind(uint32_t kind);
bool cupti_client_ever_had(uint32_t kind);

/* Its last buffer may be back: activity is ours again if so. */
void cupti_client_try_resume(void);

/* Over starting up. */
void cupti_client_lock(void);
void cupti_client_unlock(void);

/* It asked for CUPTI and was refused. */
void cupti_client_refused(const char *who);

void cupti_client_forget(void);
void cupti_both_forget(void);

#endif
