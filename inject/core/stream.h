/*
 * Writing rows to the arena: enter, reserve, publish, leave.  The hot path: no lock, no system call, no allocation per row.
 *
 * 	struct stream *s = stream_enter();
 * 	if (s) {
 * 		struct mark_row *row = stream_reserve(s, ROW_mark, sizeof *row);
 * 		if (row) {
 * 			*row = (struct mark_row){ ... };
 * 			stream_publish(s, row);
 * 		}
 * 		stream_leave(s);
 * 	}
 *
 * Every hook encloses its work like this.  Between enter and leave, hooks that a signal handler calls find the stream busy; their calls are
 * counted as nested.  Code between enter and leave must not call back into the program and must not leave by longjmp.
 */
#ifndef INJECT_CORE_STREAM_H
#define INJECT_CORE_STREAM_H

#include <stddef.h>

#include "inject/core/health.h"
#include "inject/core/session.h"
#include "trace/records.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Thread-local.  At most 40 bytes: initial-exec TLS of an object loaded by dlopen() must fit into the loader's spare space. */
struct stream {
	struct block *block;            /* never NULL after stream_enter(); an empty one when the arena is full */
	struct slot *slot;              /* open ranges; a private slot when the arena has no free one, NULL without memory */
	uint32_t epoch;                 /* guest->epoch for which the other members are valid */
	uint32_t thread;                /* number of the thread in its process */
	uint32_t sequence;              /* of this thread's last range id */
	uint8_t busy;                   /* inside a hook */
	uint8_t tool;                   /* a thread of this object or of CUPTI: flag 1 of its thread row */
	uint16_t too_deep;              /* ranges.c: pushes beyond MAX_DEPTH that are still open */
	uint64_t scratch;               /* cupti_api.c: depth and start of the outermost call */
};

/* The calling thread's stream; use stream_enter(). */
extern __thread struct stream stream_self __attribute__((tls_model("initial-exec")));

/* At the first use in this thread and process: connects, takes a slot, describes the thread.  False: nothing can be recorded. */
bool stream_attach(struct stream *s);

/* Hands the full block to the collector and takes a free one for a row of this kind and size in bytes.  NULL: none is free (counted). */
struct block *stream_next_block(struct stream *s, unsigned kind, size_t size);

/* Returns the calling thread's stream.  NULL: nothing can be recorded, or the thread is inside a hook (counted). */
static inline struct stream *stream_enter(void)
{
	struct stream *s = &stream_self;

	if (unlikely(s->busy)) {
		health_count(HEALTH_nested);
		return NULL;
	}
	s->busy = 1;
	/* A fork wiped guest->epoch, so a child never writes to its parent's block. */
	if (unlikely(s->epoch != guest->epoch || !s->epoch) && !stream_attach(s)) {
		s->busy = 0;
		return NULL;
	}
	return s;
}

/* Unmaps the free blocks of the arena beyond its first `most` bytes: for a program that limits its address space or locks all of it. */
void stream_tighten(uint64_t most);

/* Unmaps the free slots for threads, except some for new threads. */
void stream_tighten_slots(void);

/* Ends what stream_enter() began. */
static inline void stream_leave(struct stream *s)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	s->busy = 0;
}

/*
 * Returns room for one row of `size` bytes: its struct, or stream_tail() of the struct with a tail.  NULL: the row was counted as dropped.
 * Before stream_publish(), call nothing that writes rows (intern_*): it would write to the same room.
 */
static inline void *stream_reserve(struct stream *s, unsigned kind, size_t size)
{
	struct block *b = s->block;
	size_t need = sizeof(struct row_head) + size;
	struct row_head *head;

	if (unlikely(b->used + need > b->cap) && !(b = stream_next_block(s, kind, need)))
		return NULL;
	head = (struct row_head *)((char *)(b + 1) + b->used);
	*head = (struct row_head){ .kind = (uint16_t)kind, .length = (uint32_t)need };
	return head + 1;
}

/* Publishes the row that was reserved last: the collector gets it even if the process is killed now. */
static inline void stream_publish(struct stream *s, const void *row)
{
	struct block *b = s->block;

	__atomic_store_n(&b->used, b->used + ((const struct row_head *)row)[-1].length, __ATOMIC_RELEASE);
}

/* Size of a row struct with a tail of n bytes, padded to 8. */
static inline size_t stream_tail(size_t row, size_t n)
{
	return row + ((n + 7) & ~(size_t)7);
}

#define GATE_KNOWN 1u
#define GATE_CUDA  2u                   /* CUDA calls are recorded */
#define GATE_NVTX  4u                   /* NVTX ranges and marks are recorded */
#define GATE_EDGE  8u                   /* the next CUDA call bounds a window or a step */
#define GATE_LAUNCHES 32u               /* steps are detected from launches */
#define GATE_SAMPLE 64u                 /* CPU samples are recorded */
#define GATE_TORCH 256u                 /* PyTorch may begin or end a step */
#define GATE_WATCH 16u                  /* NVTX names may begin or end a window or a step */

/* Applies new orders of the collector; returns the gate. */
uint32_t windows_look(void);

/*
 * Returns the GATE_ bits: what is recorded now.  Call outside stream_enter(), or inside with no row reserved.  The nesting of ranges and
 * definitions are always recorded.
 */
static inline uint32_t gate_now(void)
{
	uint32_t gate = __atomic_load_n(&guest->gate, __ATOMIC_RELAXED);

	if (unlikely(!gate || __atomic_load_n(&guest->arena->n_orders, __ATOMIC_RELAXED) != guest->orders))
		gate = windows_look();
	return gate;
}

/* True if CUDA calls are recorded now. */
static inline bool capture_on(void)
{
	return gate_now() & GATE_CUDA;
}

/* True if NVTX ranges and marks are recorded now. */
static inline bool capture_nvtx(void)
{
	return gate_now() & GATE_NVTX;
}

/* Returns the id of the thread's innermost open push/pop range; 0: none. */
static inline uint64_t stream_range(const struct stream *s)
{
	uint32_t depth = s->slot ? s->slot->depth : 0;

	return depth ? s->slot->stack[depth - 1].id : 0;
}

/* Returns a new range id, unique in the process. */
static inline uint64_t stream_range_id(struct stream *s)
{
	return (uint64_t)s->thread << 40 | ++s->sequence;
}

/* Records the name that the program gives to one of its threads.  tid: the kernel's thread id. */
void stream_name_thread(struct stream *s, uint32_t tid, const char *name, size_t n);

/*
 * Records the calling thread's kernel name if it differs from `known`, and copies it there; not if the program named the thread with
 * stream_name_thread().  known "": only copies it.
 */
#define THREAD_NAME 16u
void stream_follow_name(struct stream *s, char known[THREAD_NAME]);

/* Marks the calling thread as one of this object; its thread row gets flag 1.  Call before its first row. */
void stream_tool_thread(void);

#endif
