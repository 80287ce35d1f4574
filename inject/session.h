/*
 * The tie to the collector: roster line, hello, the mapped arena.  Connects at the first row, never earlier, and at most once.
 *
 * Everything that must not survive a fork is in struct guest, a page of its own that the kernel zeroes in a child
 * (MADV_WIPEONFORK), however the child was made.  So a child finds itself unconnected and connects anew at its first row.
 */
#ifndef INJECT_SESSION_H
#define INJECT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/clock.h"
#include "trace/config.h"
#include "trace/health.h"
#include "trace/wire.h"

struct intern;
struct stacks;

enum session_state { SESSION_NEW, SESSION_CONNECTING, SESSION_UP, SESSION_OFF };

#define PARKED 16

struct guest {
	uint32_t epoch;                 /* 0: not connected, else `process`; a thread's stream is valid for one epoch */
	uint32_t state;                 /* enum session_state */
	struct arena *arena;            /* NULL until connected */
	struct bell *bell;
	struct carrier *carrier;        /* carrier.c; NULL: the arena is shared */
	struct intern *intern;          /* intern.c */
	struct stacks *stacks;          /* stacks.c */
	uint32_t process;               /* number given by the collector */
	uint32_t clock;                 /* enum wire_clock */
	uint32_t flags;                 /* PROCESS_ bits known before the arena was there */
	uint32_t gate;                  /* windows.c: GATE_ bits of stream.h; 0: nobody has looked yet */
	uint32_t orders;                /* windows.c: number of the last order that the gate follows */
	uint32_t watcher;               /* 1: a thread of ours looks for orders, too (cupti_flush.c) */
	int64_t start;                  /* REALTIME ns when the object started in this process */
	int64_t deadline;               /* MONOTONIC ns: for the thread that connects, and for those that wait for it.  0: nobody has begun */
	uint64_t missed;                /* rows of threads that waited for it in vain, until they are told as HEALTH_connect_slow */
	uint32_t parked[PARKED];        /* stream.c: blocks of threads that have ended; index + 1, 0: none */
	struct config config;           /* defaults until connected */
};

/* Never NULL. */
extern struct guest *guest;

/* Now, on the clock of our rows. */
static inline int64_t clock_now(void)
{
	return __builtin_expect(guest->clock == CLOCK_TSC, 1) ? (int64_t)tsc_now() : clock_ns(CLOCK_MONOTONIC);
}

/* Connects if that was not tried yet; waits at most WIRE_HANDSHAKE_MS.  True when there is an arena.  Keeps errno. */
bool session_connect(void);

/* Remembers PROCESS_ bits of this process, in the arena or until there is one. */
void session_flag(uint32_t bits);

/* In a forked child whose parent had initialised CUDA, called by its fork handlers before session's own: it is named so. */
void session_forked_after_cuda(void);

/* Is there a session at all ($GPROF_SESSION)?  Without one the object does nothing. */
bool session_wanted(void);

/* Is there this file of WIRE_FILES in its folder?  What is to be known before a process connects is told so. */
bool session_file(const char *name);

/* The collector has a full block to take. */
void session_ring(void);

/* The kernel's process id (a vfork child shares our memory, not our id). */
int session_real_pid(void);

#endif
