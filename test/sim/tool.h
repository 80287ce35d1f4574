/* Inside libcupti.so.13: what its files share. */
#ifndef TEST_SIM_TOOL_H
#define TEST_SIM_TOOL_H

#include "test/sim/engine.h"

#include <cuda.h>
#include <cupti.h>

#define N_KINDS 64
#define UNKNOWN_KIND 4242               /* a record kind from the future, for SIM_UNKNOWN_KIND */
#define UNKNOWN_SIZE 40

/* cupti.c */
extern const struct sim_driver *drv;    /* NULL: no driver found */
CUptiResult cupti_ready(const char *caller);    /* attaches to the driver; SIM_CUPTI_FAIL may choose the answer */
bool cupti_at_end(void);
bool cupti_in_callback(void);
uint32_t cupti_version(void);
uint64_t cupti_now(void);
void cupti_pay(void);                   /* SIM_CUPTI_COST_NS */

/* cupti_activity.c */
extern _Atomic uint8_t kind_on[N_KINDS];
enum op_fate activity_op(const struct op *op);
void activity_api(const struct sim_call *call);
void activity_enter(const struct sim_call *call);
void activity_device(const struct device *dev);
void activity_context(const struct context *ctx);
void activity_stream(const struct stream *s);
bool activity_per_thread(void);

/* records.c: sizes by version; a record in the newest layout, cut to the size of the selected one. */
size_t record_size(uint32_t kind);
size_t record_from_op(const struct op *op, uint32_t kind, void *out);
bool record_has_gpu_times(uint32_t kind);

/* cupti_clock.c: times of records on the client's clock, if it has registered one */
void clock_stamp(uint8_t *records, size_t used);
uint64_t clock_now(void);

/* buffers.c */
enum op_fate buffer_put(const void *record, size_t size, uint64_t ready);       /* into this thread's buffer */
void buffer_put_later(const void *record, size_t size);         /* by the worker, into its own */
void buffer_callbacks(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete);
void buffer_flush(bool forced);
void buffer_period(uint32_t ms);
size_t buffer_take_dropped(void);
bool buffer_in_client(void);            /* this thread is inside one of the client's buffer callbacks */
void buffer_stop(void);
void buffer_add_dropped(size_t n);

/* replay.c: SIM_REPLAY, a recording instead of records of what the program does. */
bool replay_on(void);
uint32_t replay_version(void);
void replay_to(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete);
void replay_begin(void);                /* there is a context; from a thread of its own */
void replay_wait(void);
CUptiResult replay_next(uint8_t *buffer, CUpti_Activity **record);

#endif
