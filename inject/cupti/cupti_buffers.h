/*
 * Pool of empty buffers for CUPTI: config.buffer_limit buffers of 1 MiB.  Buffers are zero when they are handed out.  Otherwise CUPTI
 * would zero each on the program's thread and so touch all its pages.
 */
#ifndef INJECT_CUPTI_CUPTI_BUFFERS_H
#define INJECT_CUPTI_CUPTI_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUPTI_BUFFER_SIZE (1u << 20)

/* Maps a pool of `limit` buffers, or fewer if the address space is limited.  Before CUPTI asks for the first; later calls do nothing. */
void cupti_buffers_init(uint64_t limit);

/*
 * True if the pool is large enough for one buffer per thread.  Then CUPTI writes records without a shared lock, and each thread that calls
 * CUDA holds 1 MiB, of which it touches what it fills.  With a small pool all threads share one buffer, so that the first threads do not
 * take all of them.
 */
bool cupti_buffers_for_each_thread(void);

/*
 * Gives CUPTI an empty buffer.  Any thread, lock-free.  When the pool is empty: a spare of 32 KiB if there is one buffer per thread, or
 * before version 27 (12.9), where refusing can crash CUPTI.  When no spare is left: NULL, or before version 27 a buffer whose records are
 * discarded.
 */
void cupti_buffers_request(uint8_t **buffer, size_t *size, size_t *max_records);

/* Unmaps buffers that were never handed out, except for a few.  Any thread. */
void cupti_buffers_tighten(void);

/* True if this buffer was handed out here; otherwise it is the client's. */
bool cupti_buffers_gave(const uint8_t *buffer);

/* ... and its records are to be read: it is not the discard buffer. */
bool cupti_buffers_has(const uint8_t *buffer);

/* REALTIME ns when the buffer was handed out; 0: unknown. */
int64_t cupti_buffers_asked(const uint8_t *buffer);

/* Takes back a buffer in which CUPTI reported `valid` bytes, and zeroes these.  Any thread, lock-free. */
void cupti_buffers_return(uint8_t *buffer, size_t valid);

/* CUPTI is done with the discard buffer.  True if only one thread had written to it, so that its records can be counted. */
bool cupti_buffers_discard(const uint8_t *buffer);

/* Buffers that CUPTI holds now. */
uint32_t cupti_buffers_out(void);

/* In a forked child: forgets the pool, which the parent's CUPTI writes to. */
void cupti_buffers_forget(void);

#endif
