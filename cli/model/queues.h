/* What each CUDA stream had to do, in the order in which it was launched: when was everything done that was launched
 * before? */
#ifndef MODEL_QUEUES_H
#define MODEL_QUEUES_H

#include <stdint.h>

struct model;
struct queues;

/* NULL: out of memory.  queues_free() takes NULL. */
struct queues *queues_make(struct model *m);
void queues_free(struct queues *q);

/*
 * The latest end of the GPU work that a stream waits for when something is put into it at `when`, by work launched
 * before: its own, and by the rules of the legacy default stream that of the others.  0: there is none, or none that
 * has a time.
 */
int64_t queues_done(const struct queues *q, uint32_t process, uint32_t context, uint32_t stream, int64_t when);

#endif
