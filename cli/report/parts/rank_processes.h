/* Which processes of a trace are ranks. */
#ifndef CLI_REPORT_PARTS_RANK_PROCESSES_H
#define CLI_REPORT_PARTS_RANK_PROCESSES_H

#include <stdbool.h>

struct model;

/*
 * By process: whether it is a rank.  Ranks are the processes that used CUDA; in a trace without CUDA, the processes that have ranges and
 * are not workers of a rank.  The caller frees the array.  Returns NULL when out of memory.
 */
bool *job_rank_processes(struct model *m);

#endif
