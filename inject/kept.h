/*
 * The times in which CUDA's rows were kept, so that a row of the GPU that comes late is judged by the call that launched it.  Written
 * under the lock of windows.c, read without one.
 */
#ifndef INJECT_KEPT_H
#define INJECT_KEPT_H

#include <stdbool.h>
#include <stdint.h>

/* From REALTIME ns on; whole: from the process's start.  And until. */
void kept_from(int64_t real, bool whole);
void kept_until(int64_t real);

/* A call came, which may be the first since such a boundary. */
void kept_call(uint32_t corr);

/* Or'ed states: OPEN_FIRST or OPEN_END where a call is waited for. */
uint32_t kept_edges(void);

/* Nothing was kept so far: another process. */
void kept_clear(void);

/* Is a GPU row kept whose call has this correlation id (0: none), and that began then (REALTIME ns)? */
bool windows_keep(uint32_t corr, int64_t real);

/*
 * The first call since some boundaries, of anything whose state has OPEN_ bits: the state behind it.  What ends without a call in it has
 * neither id.
 */
uint32_t open_settle(uint32_t state, uint32_t corr, uint32_t *first, uint32_t *end);

#endif
