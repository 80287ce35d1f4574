/*
 * The connection to the collector: roster line, hello, the mapped arena.  A process connects once, at its first row.
 *
 * State that must not survive a fork is in struct guest, a page of its own that the kernel zeroes in a child (MADV_WIPEONFORK), however the
 * child was made.  So a child starts unconnected and connects at its first row.
 */
#ifndef INJECT_CORE_SESSION_H
#define INJECT_CORE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/clock.h"
#include "trace/config.h"
#include "trace/health.h"
#include "trace/wire.h"

struct intern;
struct stack_table;

enum session_state { SESSION_NEW, SESSION_CONNECTING, SESSION_UP, SESSION_OFF };

#define PARKED 16

/* Largest arena, in bytes, if the program limits its address space or locks all of it. */
#define SESSION_TIGHT (16u << 20)

struct guest {
	uint32_t epoch;                 /* 0: not connected; else `process`.  A thread's stream is valid for one epoch */
	uint32_t state;                 /* enum session_state */
	struct arena *arena;            /* NULL until connected */
	struct bell *bell;
	struct carrier *carrier;        /* carrier.c; NULL: the arena is shared */
	struct intern *intern;          /* intern.c */
	struct stack_table *stacks;     /* stacks.c */
	uint32_t process;               /* number given by the collector */
	uint32_t clock;                 /* enum wire_clock */
	uint32_t flags;                 /* PROCESS_ bits set before there was an arena */
	uint32_t gate;                  /* windows.c: GATE_ bits of stream.h; 0: not computed yet */
	uint32_t orders;                /* windows.c: number of the last order that the gate reflects */
	uint32_t watcher;               /* 1: a thread of this object polls for orders, too (cupti_flush.c) */
	uint32_t unseen;                /* 1: a child of clone(2) or _Fork(), for which no fork handler ran */
	int64_t start;                  /* REALTIME ns when the object started in this process */
	/* MONOTONIC ns: when the connecting thread, and threads that wait for it, give up; 0: not connecting yet */
	int64_t deadline;
	uint64_t missed;                /* rows lost while another thread was connecting, to be counted as HEALTH_connect_slow */
	uint32_t gone, slots_gone;      /* stream.c: blocks and thread slots of the arena that were unmapped */
	uint32_t parked[PARKED];        /* stream.c: blocks of ended threads; index + 1, 0: none */
	struct config config;           /* defaults until connected */
};

/* Never NULL. */
extern struct guest *guest;

/* Returns how many bytes of address space the arena may take; UINT64_MAX: the program neither limits nor locks it. */
uint64_t session_room(void);

/* True if an arena is mapped in this address space, this process's or a parent's. */
bool session_has_mapped(void);

/* In a forked child: unmaps the parent's arena. */
void session_drop_parents(void);

/* Reports that a program is started into which this object cannot be loaded; why: ROSTER_.  Async-signal-safe, also in a vfork child. */
void session_tell_lost(char why, const char *program);

/* The current time on the clock of the rows: ticks of the TSC, or MONOTONIC ns. */
static inline int64_t clock_now(void)
{
	return __builtin_expect(guest->clock == CLOCK_TSC, 1) ? (int64_t)tsc_now() : clock_ns(CLOCK_MONOTONIC);
}

/* Connects if that was not tried yet; waits at most WIRE_HANDSHAKE_MS.  True when there is an arena.  Any thread; preserves errno. */
bool session_connect(void);

/* Sets PROCESS_ bits of this process, in the arena as soon as there is one. */
void session_flag(uint32_t bits);

/* Call in a forked child whose parent had initialized CUDA, before session_module.forked(): its roster line then says so. */
void session_forked_after_cuda(void);

/* True if there is a session ($GPROF_SESSION).  If not, this object does nothing. */
bool session_wanted(void);

/* A child made by vfork() or clone(CLONE_VM) may be running in this memory (system_hooks.c). */
extern bool session_memory_shared;

/*
 * False in a vfork child, which runs in its parent's memory and must change nothing.  Asks the kernel for the pid only if there may be such
 * a child and no filter forbids it.
 */
bool session_in_own_memory(void);

/* True if there is an arena and it is this process's.  A child other than a vfork child has a wiped page. */
bool session_is_own(void);

/* The process id as known without a system call: a child of clone() without a fork handler has its parent's until it connects. */
uint32_t session_pid(void);

/* True if the session's folder has this file of WIRE_FILES: what a process must know before it connects. */
bool session_file(const char *name);

/* Tells the collector that a block is full.  Preserves errno. */
void session_ring(void);

/* The kernel's process id, which in a vfork child differs from session_pid(); session_pid() if the kernel answers with an error. */
int session_real_pid(void);

#endif
