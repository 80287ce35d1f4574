/*
 * The session's board: a file in the session folder, made by the collector and mapped by each process when the injected object is
 * loaded.  Through it a process reads the settings and announces itself without a system call.  A forked child inherits the mapping.
 *
 * The lines are a ring.  A writer claims line `head` if the line's turn says it is free, fills the line in and adds 1 to the turn.  The
 * collector reads the lines in order and sets each turn to that of the next round.
 */
#ifndef TRACE_BOARD_H
#define TRACE_BOARD_H

#include <stddef.h>
#include <stdint.h>

#include "trace/config.h"
#include "trace/wire.h"

#define BOARD_MAGIC 0x6472616f62707267ull
#define BOARD_LINES 4096u               /* 256 KiB; the collector reads them 100 times a second */

/* The contents of a roster line (wire.h), as numbers. */
struct board_line {
	uint32_t turn;                  /* place + rounds * BOARD_LINES: free; that + 1: filled in */
	uint32_t pid, ppid;
	uint32_t how;                   /* letter of the roster line */
	int64_t  start;
	char     name[40];              /* zero-terminated */
};

struct board {
	/* written by the collector before the first process starts, constant afterwards; magic is written last */
	uint64_t magic;
	uint32_t version, size;         /* WIRE_VERSION, sizeof */
	uint32_t clock;                 /* enum wire_clock of the guests' rows */
	uint32_t reserved;
	struct config config;

	/* written by the collector, with board_give(): the orders that a new process starts with */
	uint32_t orders_turn __attribute__((aligned(64)));      /* odd: the orders are being written */
	struct orders_given capture __attribute__((aligned(64)));

	/* written by processes */
	uint32_t head __attribute__((aligned(64)));     /* lines begun so far */
	uint32_t lost;                  /* lines not written because the ring was full */
	struct board_line lines[BOARD_LINES] __attribute__((aligned(64)));
};

_Static_assert(sizeof(struct board_line) == 64, "a line is a cache line");

/* Copies words with relaxed atomics: another process may write them at the same time.  bytes: a multiple of 8. */
static inline void board_copy_words(void *to, const void *from, size_t bytes)
{
	uint64_t *t = to;
	const uint64_t *f = from;

	for (size_t i = 0; i < bytes / sizeof *t; i++)
		__atomic_store_n(&t[i], __atomic_load_n(&f[i], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

/*
 * Collector only: publishes the orders on the board.  *turn: the collector's copy of orders_turn, 0 at first; the value on the board is
 * not trusted, because processes can overwrite it.
 */
static inline void board_give(struct board *b, uint32_t *turn, const struct orders_given *o)
{
	__atomic_store_n(&b->orders_turn, ++*turn, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	board_copy_words(b->capture.orders, o->orders, sizeof o->orders);
	__atomic_store_n(&b->capture.n_orders, o->n_orders, __ATOMIC_RELEASE);
	__atomic_store_n(&b->orders_turn, ++*turn, __ATOMIC_RELEASE);
}

/* State of the orders before a reader copies them with board_copy_words(); compared by board_seen() after the copy. */
struct board_look {
	uint32_t turn, n_orders;
};

/* Reads the state of the orders; call it before copying them. */
static inline struct board_look board_look(const struct board *b)
{
	struct board_look l;

	l.turn = __atomic_load_n(&b->orders_turn, __ATOMIC_ACQUIRE);
	l.n_orders = __atomic_load_n(&b->capture.n_orders, __ATOMIC_ACQUIRE);
	return l;
}

enum board_seen {
	BOARD_MIXED,            /* orders changed during the copy: copy again */
	BOARD_BUT_OLDEST,       /* an order is being written over the oldest, orders[n_orders % ORDERS]; all others are valid */
	BOARD_WHOLE,            /* the copy is consistent */
};

/* Tells after a copy whether it is consistent.  before: result of board_look() before the copy. */
static inline enum board_seen board_seen(const struct board *b, struct board_look before)
{
	struct board_look now;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	now = board_look(b);
	if (now.turn == before.turn && !(now.turn & 1))
		return BOARD_WHOLE;
	return now.n_orders == before.n_orders ? BOARD_BUT_OLDEST : BOARD_MIXED;
}

#endif
