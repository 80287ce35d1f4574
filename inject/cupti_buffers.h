/* The pool of empty buffers that CUPTI fills: 1 MiB each, config.buffer_limit of them, memory touched only as far as it is used. */
#ifndef INJECT_CUPTI_BUFFERS_H
#define INJECT_CUPTI_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUPTI_BUFFER_SIZE (1u << 20)

/* Before CUPTI asks for the first one; again, it does nothing. */
void cupti_buffers_init(uint64_t limit);

/*
 * Are there enough that each thread may have one?  CUPTI then writes records without a lock that all threads share, and each thread that
 * calls CUDA holds 1 MiB, of which it touches what it fills.  Otherwise all share one: a small limit must not mean that the threads that
 * come first have everything.
 */
bool cupti_buffers_for_each_thread(void);

/*
 * CUPTI wants an empty buffer; any thread, lock-free.  Without one it gets none; before version 27 a smaller one, and at last one that
 * is thrown away.
 */
void cupti_buffers_request(uint8_t **buffer, size_t *size, size_t *max_records);

/* Did we hand it out?  Else it is the program's own profiler's. */
bool cupti_buffers_gave(const uint8_t *buffer);

/* Is it one of ours, with records to be read? */
bool cupti_buffers_has(const uint8_t *buffer);

/* When CUPTI asked for it, REALTIME ns; 0: not known. */
int64_t cupti_buffers_asked(const uint8_t *buffer);

/* CUPTI is done with it and so are we. */
void cupti_buffers_return(uint8_t *buffer);

/*
 * CUPTI is done with a buffer that is not ours to read: the one that is thrown away.  True when no other thread had it meanwhile, so that
 * its records can be counted.
 */
bool cupti_buffers_discard(const uint8_t *buffer);

/* Buffers that CUPTI holds now. */
uint32_t cupti_buffers_out(void);

/* A forked child's copy: CUPTI's threads, and so its buffers, are the parent's. */
void cupti_buffers_forget(void);

#endif
