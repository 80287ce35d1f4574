/* Queues of CUDA streams: when was all GPU work done that had been launched into a stream before a given time? */
#ifndef CLI_MODEL_GPU_QUEUES_H
#define CLI_MODEL_GPU_QUEUES_H

#include <stdint.h>

struct model;
struct queues;

/* Builds the queues of all streams; NULL: out of memory.  queues_free() takes NULL. */
struct queues *queues_make(struct model *m);
void queues_free(struct queues *q);

/*
 * Latest end of the GPU work that work launched into a stream at `when` waits for: earlier work of the stream and, by the rules of the
 * legacy default stream, earlier work of other streams.  0: none, or none has a time.
 */
int64_t queues_done(const struct queues *q, uint32_t process, uint32_t context, uint32_t stream, int64_t when);

#endif
