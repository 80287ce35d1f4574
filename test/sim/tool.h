/* Functions and data shared by the files of the simulated libcupti.so.13. */
#ifndef TEST_SIM_TOOL_H
#define TEST_SIM_TOOL_H

#include "test/sim/engine.h"

#include <cuda.h>
#include <cupti.h>

#define N_KINDS 64
#define UNKNOWN_KIND 4242               /* a record kind that does not exist, for SIM_UNKNOWN_KIND */
#define UNKNOWN_SIZE 40
#define KIND_GREEN_CONTEXT 59            /* new in 13.2 */
#define GREEN_SIZE 152

/* cupti.c */
extern const struct sim_driver *drv;    /* NULL: no driver found */
CUptiResult cupti_ready(const char *caller);    /* attaches to the driver; returns SIM_CUPTI_FAIL's error for `caller` */
#define READY() do { CUptiResult r_ = cupti_ready(__func__); if (r_) return r_; } while (0)
bool cupti_at_end(void);
bool cupti_in_callback(void);
uint32_t cupti_version(void);
uint64_t cupti_now(void);
void cupti_pay(void);                   /* spins for SIM_CUPTI_COST_NS */
void cupti_state(uint32_t cbid, CUptiResult result, const char *message);        /* makes a callback of domain STATE */

/* cupti_activity.c */
extern _Atomic uint8_t kind_on[N_KINDS];
enum op_fate activity_op(const struct op *op);
void activity_api(const struct sim_call *call);
void activity_enter(const struct sim_call *call);
void activity_event(const struct event *e, const struct stream *s);
bool activity_zeroed(void);
bool activity_per_thread(void);
void activity_put_later(const void *record, size_t size);       /* in the simulated release's size; written by the worker */

/* cupti_resources.c: records of devices, contexts and streams; the last three functions only if the kind is enabled */
void activity_put_device(const struct device *dev);
void activity_put_context(const struct context *ctx);
void activity_put_stream(const struct stream *s);
void activity_device(const struct device *dev);
uint32_t activity_context(const struct context *ctx);    /* returns the id of its null stream, as in the record */
void activity_stream(const struct stream *s);

/* records.c: records and their sizes by release */
size_t record_size(uint32_t kind);
size_t record_from_op(const struct op *op, uint32_t kind, void *out);
size_t record_extend(void *record, size_t have, uint32_t kind);         /* cuts or extends to the kind's size, and returns it */
bool record_has_gpu_times(uint32_t kind);
uint32_t record_context(const void *record);            /* only for kinds with record_has_gpu_times() */

/* cupti_clock.c: times of records on the client's clock, if it has registered one */
void clock_stamp(uint8_t *records, size_t used);
uint64_t clock_now(void);
void clock_context(uint32_t id);        /* a context was created */

/* faults.c: faults of releases, and checks of the client */
bool fault_none(void);                                          /* SIM_IDEAL=1: no faults of releases */
bool fault_loses(const struct op *op);                          /* true: the operation gets no record */
void fault_switch(CUpti_ActivityKind kind, bool on);            /* a kind is switched; aborts where a real CUPTI would hang */
bool fault_excludes(CUpti_ActivityKind kind);                   /* true: another enabled kind excludes it */
const struct op *fault_correlation(const struct op *op, struct op *wrong);      /* op, or *wrong with a wrong correlation id */

/* buffers.c */
enum op_fate buffer_put(const void *record, size_t size, uint64_t ready);       /* ready: end of the operation; into this thread's buffer */
void buffer_put_later(const void *record, size_t size);         /* the worker writes it into its own buffer */
void buffer_callbacks(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete);
void buffer_flush(bool forced);
void buffer_period(uint32_t ms);
size_t buffer_take_dropped(void);
bool buffer_in_client(void);            /* this thread is inside one of the client's buffer callbacks */
bool buffer_completing(void);           /* some thread is inside the completion callback */
void buffer_stop(void);
void buffer_add_dropped(size_t n);
void buffer_lose(uint32_t context);     /* drops undelivered GPU records of the context */

/* replay.c: SIM_REPLAY, records from a recording instead of the program's */
bool replay_on(void);
uint32_t replay_version(void);
void replay_to(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete);
void replay_begin(void);                /* the first context exists: starts the thread that delivers */
void replay_wait(void);
CUptiResult replay_next(uint8_t *buffer, CUpti_Activity **record);

#endif
