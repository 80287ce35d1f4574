/*
 * Protocol between guest (the injected object) and collector: roster line, hello, arena, doorbell.  Plain memory layouts.
 * Both sides come from one build: a different WIRE_VERSION is refused with a reason.
 *
 * The session folder ($GPROF_SESSION, mode 0700) holds
 *   board    settings, orders, and a line for each process (board.h)
 *   roster   named pipe: wakes the collector after a line on the board; carries the line itself (below) if the board cannot be mapped
 *   sock     unix socket, SOCK_SEQPACKET: hello -> welcome + two descriptors (arena, bell); then the guest closes it.  A guest whose
 *            wait timed out sends a second packet instead: wire_late and the descriptor of its own arena (docs/explanation/architecture.md)
 *   config   settings as text (config.h), written by gprof-run, read by the collector
 *   rows, order.N   used where an arena cannot be shared (frame.h)
 */
#ifndef TRACE_WIRE_H
#define TRACE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "trace/records.h"

#define WIRE_VERSION    4u
#define WIRE_ENV        "GPROF_SESSION"
#define WIRE_BOARD      "board"         /* a file in the session's folder (board.h) */
/* Empty files in the session folder: settings that a process needs before it connects. */
#define WIRE_SAMPLES    "samples"       /* CPU time is sampled */
#define WIRE_TORCH      "torch"         /* PyTorch's ranges are recorded */
#define WIRE_TORCH_OPS  "torch-ops"     /* operators too */
#define WIRE_TORCH_SHAPES "torch-shapes" /* with shapes of inputs */
#define WIRE_TORCH_MEMORY "torch-memory" /* allocations of its CUDA allocator */
#define WIRE_FILES      WIRE_SAMPLES, WIRE_TORCH, WIRE_TORCH_OPS, WIRE_TORCH_SHAPES, WIRE_TORCH_MEMORY
/* Every file of the folder but order.N, for who removes it. */
#define WIRE_FOLDER     "sock", "ctl", "roster", "rows", "config", "inject", WIRE_BOARD, WIRE_FILES
#define WIRE_FILE_MAX   16              /* longest of WIRE_FILES */
#define WIRE_ENV_RESTORE "GPROF_RESTORE"        /* 0: do not restore gprof-run's variables in a child's cleaned environment */
#define WIRE_ENV_FIRST "GPROF_FIRST"    /* first entry of LD_PRELOAD for this program only: AddressSanitizer's library */
#define WIRE_HANDSHAKE_MS 200           /* longest time that gprof-run may delay a program, once in its life */
#define WIRE_ANSWER_MS    150           /* part of it for the collector's answer; then the process goes on with its own arena */
#define WIRE_LATE 0x80000000u           /* bit of the process number that such a process gives itself */

/*
 * Roster line: "R1 <how> <pid> <ppid> <start, REALTIME ns> <name>\n", at most ROSTER_LINE_MAX bytes; below PIPE_BUF, so lines never mix.
 * An empty line only wakes the collector.  how:
 *   c   a new program image, with the injected object preloaded
 *   d   a process into which the CUDA driver or NVTX loaded the object later
 *   f   a forked child;  F   a forked child of a parent that had initialised CUDA
 *   x   could not connect and records nothing; <name> is the errno
 *   s   does not connect, because its seccomp filter would kill it
 *   l   at the end of the process, <name> rows had not gone through the pipe
 *   n   the process starts a program that cannot load the object; <name> is the reason (ROSTER_...) and the program
 */
#define ROSTER_32BIT        '3'
#define ROSTER_FOREIGN      'f'
#define ROSTER_OUT_OF_REACH 'r'         /* the process cannot open the object's file, e.g. after chroot() */
#define ROSTER_FILTERED     's'         /* the seccomp filter inherited from its parent would kill it */
#define ROSTER_LINE_MAX 64

/* How rows leave a process: SHM, an arena mapped by guest and collector; PIPE, frames through a pipe (frame.h). */
enum carrier_kind { CARRIER_SHM, CARRIER_PIPE };

enum wire_clock { CLOCK_NONE, CLOCK_TSC, CLOCK_MONO, CLOCK_REAL };      /* clock of a chunk, or of a process's rows */

struct wire_hello {
	uint32_t version, size;         /* WIRE_VERSION, sizeof */
	uint32_t pid, ppid;             /* as the guest sees them */
	int64_t start;                  /* REALTIME ns when the injected object started in the process */
	uint32_t flags;                 /* PROCESS_ bits known so far */
	uint32_t most_mib;              /* limit of the arena's size in MiB; 0: no limit */
	uint32_t carrier;               /* CARRIER_PIPE: second hello, the process could not map the arena of the first welcome */
	int32_t error;                  /* errno of that mapping */
	uint32_t alone;                 /* 1: without an answer in time the process uses its own arena, so a late answer is possible */
	uint32_t pad;
	char name[16];                  /* program_invocation_short_name, cut */
};

struct wire_welcome {
	uint32_t version, size;
	uint32_t process;               /* number given to the process */
	uint32_t refused;               /* 0, or a HEALTH_ reason: then there are no descriptors */
	uint32_t clock;                 /* CLOCK_TSC or CLOCK_MONO: clock of the guest's rows */
	uint32_t config_size;           /* sizeof(struct config), which follows in the same packet */
	uint64_t arena_size;
	uint32_t carrier;               /* enum carrier_kind.  PIPE: no descriptors; the fields below lay out the guest's private arena */
	uint32_t n_small, n_large, pad;
	uint64_t blocks;
};

/* Sent by a guest that got no answer in time, with the descriptor of its own arena. */
struct wire_late {
	uint32_t version, size;
	uint64_t arena_size;            /* bytes; layout: arena_lay_out(arena_size) */
};

/* Facts about a process: bits of process.flags in the trace. */
#define PROCESS_CONNECTED      0x001u   /* said hello and got an arena */
#define PROCESS_NVTX           0x002u   /* NVTX initialised the injected object */
#define PROCESS_CUDA           0x004u   /* the CUDA driver called the injected object */
#define PROCESS_CUPTI          0x008u   /* CUPTI is up */
#define PROCESS_KERNELS        0x010u   /* at least one GPU row arrived */
#define PROCESS_FORKED         0x020u   /* a forked child that did not exec */
#define PROCESS_FORKED_CUDA    0x040u   /* ... of a parent that had initialised CUDA */
#define PROCESS_ENDED          0x080u   /* the collector saw it end */
#define PROCESS_CLEAN          0x100u   /* it ran the exit hooks: CUPTI was flushed */
#define PROCESS_EXECED         0x200u   /* it ended by exec; the new image is another process row */
#define PROCESS_PRELOADED      0x400u   /* the object was preloaded at program start, not loaded later by the driver or NVTX */
#define PROCESS_SIMULATED      0x800u   /* its GPU is the simulated one of test/sim */

/* How a process ended. */
enum how_ended { ENDED_UNKNOWN, ENDED_EXIT, ENDED_SIGNAL };

/* ---- the arena: one memfd per process, made and sized by the collector, mapped by guest and collector ---- */

#define ARENA_MAGIC     0x616e657261706721ull
#define SMALL_BLOCK     (64u << 10)     /* first block of a thread.  One wake (6 us) per 64 KiB costs 4 ns per 40-byte row */
#define LARGE_BLOCK     (256u << 10)    /* every further block of a thread that filled one */
#define MAX_BLOCKS      8192u
#define MAX_SLOTS       1024u           /* number of threads at once whose open ranges are saved if the process is killed */
#define MAX_DEPTH       128u            /* push/pop ranges open at once on a thread */
#define MAX_STARTED     4096u           /* start/end ranges open at once in a process */

/* FREE -> OWNED -> FULL: by the guest.  FULL -> FREE: by the collector.  FREE -> GONE: by the guest, which has unmapped the block. */
enum block_state { BLOCK_FREE, BLOCK_OWNED, BLOCK_FULL, BLOCK_GONE };

/* First bytes of a block; rows follow.  The collector may read rows below `used` at any time. */
struct block {
	uint32_t index;                 /* of the block's word in arena.block_state */
	uint32_t cap;                   /* bytes for rows */
	uint32_t used;                  /* bytes published: release store by the guest, acquire load by the collector */
	uint32_t drained;               /* bytes taken by the collector; private to it */
	uint32_t thread;                /* ordinal of the owning thread */
	uint32_t turn;                  /* arena.turns when the block was handed over */
	uint32_t rest;                  /* pipe: unsent bytes of a row longer than a frame */
	uint32_t pad[9];
};

/* Before each row in a block.  Rows are 8-byte aligned. */
struct row_head {
	uint16_t kind;                  /* enum record_kind */
	uint16_t flags;                 /* 0 */
	uint32_t length;                /* of head, row and padded tail; a multiple of 8 */
};

struct open_range {
	uint64_t id;                    /* 0: this entry is free (start/end table) */
	int64_t  start;                 /* the guest's clock */
	uint64_t payload;
	uint32_t name, domain, category, color, payload_type;
	uint32_t thread;
	int32_t  step;
	uint32_t tag;                   /* effect of the range on windows and steps (inject/capture/windows.h); 0: none */
};

/* Open push/pop ranges of a thread.  Written only by that thread; read by the collector after a kill. */
struct slot {
	uint32_t owner;                 /* thread ordinal, or 0: free.  Taken by compare and swap */
	uint32_t depth;                 /* open ranges; stack[0 .. depth-1] are valid: release store after writing an entry */
	uint64_t tid;                   /* kernel thread id of the owner */
	struct open_range stack[MAX_DEPTH];
};

struct health_cell {
	uint64_t count;
	int64_t  first, last;           /* the guest's clock */
	uint32_t has_detail;            /* 0 -> 1 by compare and swap, 2 when detail is written */
	char detail[100];               /* zero-terminated */
};

/*
 * State of a step or window that is not yet a row: it is running, or waits for the correlation id of the first call after its begin or
 * its end.  Written by the guest under its lock; read by the collector when the process is gone.
 */
#define OPEN_USED    1u                 /* this entry is taken: release store after the row was filled in */
#define OPEN_RUNNING 2u
#define OPEN_FIRST   4u                 /* no call since its begin */
#define OPEN_END     8u                 /* no call since its end */
#define OPEN_CUT     16u                /* incomplete if the process ends while it is open */
#define OPEN_HELD    64u                /* a found step; its end is known when the next step is found */
#define OPEN_WHOLE   32u                /* a window that began with the process; becomes a row only if it ends before the process */

#define MAX_OPEN_STEPS   64u
#define MAX_OPEN_WINDOWS 8u

struct open_step {
	uint32_t state;                 /* OPEN_ bits */
	uint32_t kind;                  /* position in the list of the setting `steps` */
	struct step_row row;
};

struct open_window {
	uint32_t state, reserved;
	struct window_row row;
};

struct drop_cell {
	uint64_t count;
	int64_t  first, last;
};

/* Places of gprof-run's code in the program whose time is measured; cost rows refer to them. */
#define COST_PLACES(X)                                                             \
	X(start,   "start-up of the injected object")                              \
	X(connect, "connecting to the collector")                                  \
	X(cupti,   "finding and starting CUPTI")                                   \
	X(buffer,  "turning activity buffers into rows (mostly CUPTI's thread)")   \
	X(flush,   "periodic flush of CUPTI (gprof-run's thread)")                 \
	X(drain,   "last flush at exit")                                           \
	X(carry,   "sending rows through the pipe (gprof-run's thread)")           \
	X(window,  "switching CUPTI on for the first window")                      \
	X(stack,   "taking call stacks")

enum cost_place {
	COST_none,
#define X(name, text) COST_##name,
	COST_PLACES(X)
#undef X
	N_COSTS
};

struct cost_cell {
	uint64_t count;
	int64_t  total;                 /* ticks of the guest's clock */
};

/* An order of the collector to a running guest; the guest checks for new orders in every hook. */
#define ORDER_CUDA 1u                   /* bits of what is recorded */
#define ORDER_NVTX 2u
#define ORDER_ALL  (ORDER_CUDA | ORDER_NVTX)

struct order {
	uint32_t mask;                  /* ORDER_ bits to record from now on; 0: nothing */
	uint32_t over;                  /* 1: final, recording does not start again */
	uint32_t window;                /* number of windows opened by orders so far, including this one */
	uint32_t reserved;
	int64_t time;                   /* when the order was given, on the guest's clock */
	int64_t real;                   /* the same moment, REALTIME ns */
};

#define ORDERS 16u                      /* number of latest orders kept */

/* The latest orders, with their times on both clocks; a guest gets the time on its own clock. */
struct orders_given {
	uint32_t n_orders;              /* orders given so far */
	uint32_t reserved;
	struct given {
		struct order order;
		int64_t tsc, mono;
	} orders[ORDERS];
};

/* State of the guest; read by the collector when the process is gone. */
enum guest_life { LIFE_NEW, LIFE_RUNNING, LIFE_DRAINING, LIFE_ENDED };

struct arena {
	/* written by the collector before hand-over, constant afterwards */
	uint64_t magic;
	uint64_t size;                  /* bytes of the whole mapping */
	uint64_t blocks;                /* offset of the first block; small blocks come first */
	uint32_t version, n_small, n_large, process;
	uint32_t clock;                 /* enum wire_clock */
	uint32_t reserved[3];

	/* written by the collector while the guest runs */
	/* n_orders: orders given so far, at least one; the last is orders[(n_orders - 1) % ORDERS], written before n_orders (release) */
	uint32_t n_orders __attribute__((aligned(64)));
	struct order orders[ORDERS];

	/* written by the guest */
	uint32_t life __attribute__((aligned(64)));     /* enum guest_life */
	uint32_t flags;                 /* PROCESS_ bits, by atomic or */
	uint32_t n_taken;               /* blocks not free; guest adds, collector subtracts */
	uint32_t next_thread;           /* last thread ordinal given */
	uint32_t next_started;          /* last sequence number of a start/end range */
	uint32_t turns;                 /* blocks handed over so far */
	int64_t  last_time;             /* the guest's clock when a block was last taken, or at exit; bounds the end of ranges left open */
	uint32_t orders_seen;           /* number of the order in force */
	uint32_t n_windows;             /* windows opened so far */
	uint32_t n_closed;              /* windows closed so far */
	uint32_t n_flushed;             /* closed windows whose GPU rows have all been delivered */
	uint32_t n_ready;               /* windows closed because a cycle of the schedule had ended */
	uint32_t shutdown;              /* 1: the capture range that closes the trace has ended */
	uint32_t names_seen;            /* WATCHED_CAPTURE: the capture range was seen; bit i: kind of step i was (inject/capture/watch.h) */
	char     names_other[100];      /* some NVTX names that matched nothing, zero-terminated */
	uint32_t exit_status;           /* 256 + exit status; 0: not known */
	int64_t  cpu;                   /* CPU time of the process in its exit hooks, ns; 0: not known */
	struct cost_cell costs[16];
	struct health_cell health[128];
	struct drop_cell drops[256];
	struct open_range started[MAX_STARTED];
	struct open_step steps[MAX_OPEN_STEPS];
	struct open_window windows[MAX_OPEN_WINDOWS];
	uint32_t block_state[MAX_BLOCKS];
	struct slot slots[MAX_SLOTS];
};

/* Part of the arena that the collector writes while the guest runs. */
#define ARENA_TOLD       offsetof(struct arena, n_orders)
#define ARENA_TOLD_BYTES (offsetof(struct arena, life) - offsetof(struct arena, n_orders))

/* Address of block i. */
static inline struct block *arena_block(struct arena *a, uint32_t i)
{
	uint64_t at = a->blocks;

	at += i < a->n_small ? (uint64_t)i * SMALL_BLOCK
			     : (uint64_t)a->n_small * SMALL_BLOCK + (uint64_t)(i - a->n_small) * LARGE_BLOCK;
	return (struct block *)((char *)a + at);
}

/*
 * The doorbell: one page for the whole session, passed along with each arena.  A guest that has filled a block adds 1 to `rings` and,
 * if `sleeping` is set, calls FUTEX_WAKE on `rings`.
 */
struct bell {
	uint32_t rings;
	uint32_t sleeping;
};

#endif
