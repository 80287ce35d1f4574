/*
 * A thread's way into the arena: enter, reserve, publish, leave.  The hot path: no lock, no syscall, no allocation per row.
 *
 *	struct stream *s = stream_enter();
 *	if (s) {
 *		struct mark_row *row = stream_reserve(s, ROW_mark, sizeof *row);
 *		if (row) {
 *			*row = (struct mark_row){ ... };
 *			stream_publish(s, row);
 *		}
 *		stream_leave(s);
 *	}
 *
 * Every hook brackets its work so.  Between enter and leave a signal handler's hooks find the stream busy and are counted as nested;
 * nothing that can call back into the program, or leave by longjmp, may stand between them.
 */
#ifndef INJECT_STREAM_H
#define INJECT_STREAM_H

#include <stddef.h>

#include "inject/health.h"
#include "inject/session.h"
#include "trace/records.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Thread-local, 40 bytes: an object that was dlopened has only the loader's spare room for initial-exec TLS. */
struct stream {
	struct block *block;            /* never NULL once entered; an empty one when the arena is full */
	struct slot *slot;              /* open ranges; a private one when the arena has no place left, NULL when there is no memory */
	uint32_t epoch;                 /* guest epoch that the rest is valid for */
	uint32_t thread;                /* ordinal */
	uint32_t sequence;              /* of ranges begun by this thread */
	uint8_t busy;                   /* inside a hook of ours */
	uint8_t tool;                   /* a thread of ours or of CUPTI: flag 1 of its thread row */
	uint16_t too_deep;              /* ranges.c: pushes beyond MAX_DEPTH that are still open */
	uint64_t scratch;               /* cupti_api.c: depth and start of the outermost call */
};

extern __thread struct stream stream_self __attribute__((tls_model("initial-exec")));

/* First use in this thread and process: connect, take a place and a block, name the thread.  False: nothing can be recorded. */
bool stream_attach(struct stream *s);

/* Hands the full block over and takes a free one for a row of this kind and size; NULL when there is none (then it is counted). */
struct block *stream_next_block(struct stream *s, unsigned kind, size_t size);

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

static inline void stream_leave(struct stream *s)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	s->busy = 0;
}

/*
 * Room for one row of `size` bytes.  Nothing that writes rows (intern_*) may come between this and the publish: it would write to
 * the same room.
 *
 * The size is that of the struct, and behind it the tail padded to 8 (stream_tail()).  NULL: it is already counted as
 * dropped and there is nothing else to do.
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

/* From here on the row is the collector's, even if the next instruction kills us. */
static inline void stream_publish(struct stream *s, const void *row)
{
	struct block *b = s->block;

	__atomic_store_n(&b->used, b->used + ((const struct row_head *)row)[-1].length, __ATOMIC_RELEASE);
}

/* Size of a row struct with a tail of n bytes. */
static inline size_t stream_tail(size_t row, size_t n)
{
	return row + ((n + 7) & ~(size_t)7);
}

#define GATE_KNOWN 1u
#define GATE_CUDA  2u                   /* rows of CUDA's calls are wanted */
#define GATE_NVTX  4u                   /* those of NVTX are */
#define GATE_EDGE  8u                   /* the next CUDA call bounds a window or a step */
#define GATE_LAUNCHES 32u               /* steps are looked for in them */
#define GATE_SAMPLE 64u                 /* samples of CPU time are */
#define GATE_TORCH 256u                 /* PyTorch may begin or end a step */
#define GATE_WATCH 16u                  /* NVTX names may begin or end a window or a step */

/* Follows the orders that have come: the gate as it is now. */
uint32_t windows_look(void);

/* What is wanted now.  Inside a stream, with nothing reserved, or outside.  Range nesting and definitions always go on. */
static inline uint32_t gate_now(void)
{
	uint32_t gate = __atomic_load_n(&guest->gate, __ATOMIC_RELAXED);

	if (unlikely(!gate || __atomic_load_n(&guest->arena->n_orders, __ATOMIC_RELAXED) != guest->orders))
		gate = windows_look();
	return gate;
}

static inline bool capture_on(void)
{
	return gate_now() & GATE_CUDA;
}

static inline bool capture_nvtx(void)
{
	return gate_now() & GATE_NVTX;
}

/* The innermost push/pop range open on this thread; 0: none. */
static inline uint64_t stream_range(const struct stream *s)
{
	uint32_t depth = s->slot ? s->slot->depth : 0;

	return depth ? s->slot->stack[depth - 1].id : 0;
}

/* A new range id of this thread. */
static inline uint64_t stream_range_id(struct stream *s)
{
	return (uint64_t)s->thread << 40 | ++s->sequence;
}

/* The program names one of its threads (kernel thread id). */
void stream_name_thread(struct stream *s, uint32_t tid, const char *name, size_t n);

/* Marks this thread as one of ours, before its first row: its thread row gets flag 1. */
void stream_tool_thread(void);

#endif
