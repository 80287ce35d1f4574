/*
 * Which activity records belong to the program's own profiler: those of work that was begun while it had the record's
 * kind enabled. CUPTI alone would tell by the launch, so we do too: correlation ids count launches, and a record's time
 * is that of the GPU, which may come much later.  Nothing here calls anybody.
 */
#ifndef INJECT_CUPTI_WINDOW_H
#define INJECT_CUPTI_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* It enabled or disabled a kind now (REALTIME ns). */
void cupti_window_open(uint32_t kind, int64_t now);
void cupti_window_close(uint32_t kind, int64_t now);

/*
 * Is there a window whose first or last correlation id is not known yet?  Then the next API call that begins tells it.
 */
bool cupti_window_pending(void);
void cupti_window_begun(uint32_t corr);

/* Has any kind ever been enabled? */
bool cupti_window_any(void);

/* Does this record belong to it?  size: to the next record. */
bool cupti_window_has(const uint8_t *record, size_t size);

/* Of a fork, or a finalize. */
void cupti_window_forget(void);

/* Offsets of the times in a record of this kind that lie within size; their number, at most CUPTI_TIMES. */
#define CUPTI_TIMES 5
size_t cupti_record_times(uint32_t kind, size_t size, unsigned offsets[CUPTI_TIMES]);

#endif
