/* Which row belongs to which: GPU row -> API call -> NVTX range. */
#ifndef MODEL_JOIN_H
#define MODEL_JOIN_H

#include <stddef.h>
#include <stdint.h>

struct model;

#define NO_ROW SIZE_MAX

/* The API row of a process with this correlation id, or NO_ROW.  Id 0 has none.  Of several, the last one written. */
size_t model_api_of(struct model *m, uint32_t process, uint32_t corr);

/* The range row of a process with this range id, or NO_ROW. */
size_t model_range_of(struct model *m, uint32_t process, uint64_t id);

/*
 * For every range row the row of the push/pop range directly around it on its thread; UINT32_MAX: none, or a start/end
 * range. free() it; NULL: out of memory.
 */
uint32_t *model_range_parents(struct model *m);

/* Makes the two tables, so that the lookups cannot fail for want of memory.  0, or -1. */
int model_join(struct model *m);

#endif
