/* Joins rows by id: GPU row -> API call (correlation id) -> NVTX range (range id). */
#ifndef MODEL_JOIN_H
#define MODEL_JOIN_H

#include <stddef.h>
#include <stdint.h>

struct model;

#define NO_ROW SIZE_MAX

/* The API row of a process with this correlation id, the last one if several have it; NO_ROW: none, or id 0. */
size_t model_api_of(struct model *m, uint32_t process, uint32_t corr);

/* The range row of a process with this range id, or NO_ROW. */
size_t model_range_of(struct model *m, uint32_t process, uint64_t id);

/*
 * By range row: the row of the push/pop range directly around it on its thread; UINT32_MAX: none, or the row is a start/end range.
 * free() it; NULL: out of memory.
 */
uint32_t *model_range_parents(struct model *m);

/* Builds the tables of both lookups, which cannot run out of memory afterwards.  0, or -1. */
int model_join(struct model *m);

#endif
