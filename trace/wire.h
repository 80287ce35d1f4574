/*
 * What the guest and the collector say to each other: roster line, hello, arena, doorbell.  Header only; plain memory layouts.
 * Both sides come from one build: a different WIRE_VERSION is refused with a reason.
 *
 * The session folder ($GPROF_SESSION, mode 0700) holds
 *   roster   named pipe; one line a process (below), written whole
 *   sock     unix socket, SOCK_SEQPACKET: hello -> welcome + two descriptors (arena, bell); then both sides close it
 *   config   settings as text (config.h), written by gprof-run, read by the collector
 *   rows, order.N   where an arena cannot be shared (frame.h)
 */
#ifndef TRACE_WIRE_H
#define TRACE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "trace/records.h"

#define WIRE_VERSION    3u
#define WIRE_ENV        "GPROF_SESSION"
/* Files in the session's folder, so that a process can know before it connects. */
#define WIRE_SAMPLES    "samples"       /* CPU time is sampled */
#define WIRE_TORCH      "torch"         /* PyTorch's ranges are recorded */
#define WIRE_TORCH_OPS  "torch-ops"     /* all of them */
#define WIRE_TORCH_SHAPES "torch-shapes" /* with the shapes of inputs */
#define WIRE_TORCH_MEMORY "torch-memory" /* what its allocator does */
#define WIRE_FILES      WIRE_SAMPLES, WIRE_TORCH, WIRE_TORCH_OPS, WIRE_TORCH_SHAPES, WIRE_TORCH_MEMORY
#define WIRE_FILE_MAX   16              /* longest of these names */
#define WIRE_ENV_RESTORE "GPROF_RESTORE"        /* 0: our variables are not put back where a program cleaned the environment of a child */
#define WIRE_HANDSHAKE_MS 200           /* longest that a program may wait for us, once in its life */

/*
 * Roster line: "R1 <how> <pid> <ppid> <start, REALTIME ns> <name>\n", at most ROSTER_LINE_MAX bytes, which is below PIPE_BUF, so
 * lines never mix.  how: 'c' constructor (a new program image, preloaded), 'd' the same, but loaded later by the driver's or NVTX's
 * door, 'f' forked child, 'F' forked child of a CUDA-initialised parent, 'x' could not connect and records nothing: the name is then an errno,
 * 'l' at its end so many rows (the name) had not gone through the pipe.
 */
#define ROSTER_LINE_MAX 64

/* How rows leave a process: in an arena that both map, or in frames through a pipe out of one of its own (frame.h). */
enum carrier_kind { CARRIER_SHM, CARRIER_PIPE };

enum wire_clock { CLOCK_NONE, CLOCK_TSC, CLOCK_MONO, CLOCK_REAL };      /* of a chunk, and of a process's own rows */

struct wire_hello {
	uint32_t version, size;         /* WIRE_VERSION, sizeof */
	uint32_t pid, ppid;             /* as the guest sees them */
	int64_t start;                  /* REALTIME ns when our object started in it */
	uint32_t flags;                 /* PROCESS_ bits known so far */
	uint32_t most_mib;              /* its arena may have no more than that; 0: no limit */
	uint32_t carrier;               /* CARRIER_PIPE: it cannot map what it was given before */
	int32_t error;                  /* ... because of this errno */
	char name[16];                  /* program_invocation_short_name, cut */
};

struct wire_welcome {
	uint32_t version, size;
	uint32_t process;               /* number given to the process */
	uint32_t refused;               /* 0, or a HEALTH_ reason: then there are no descriptors */
	uint32_t clock;                 /* CLOCK_TSC or CLOCK_MONO: what the guest stamps its rows with */
	uint32_t config_size;           /* sizeof(struct config), which follows in the same packet */
	uint64_t arena_size;
	uint32_t carrier;               /* enum carrier_kind.  PIPE: no descriptors; the rest is for its own arena */
	uint32_t n_small, n_large, pad;
	uint64_t blocks;
};

/* Facts about a process: bits of process.flags in the trace. */
#define PROCESS_CONNECTED      0x001u   /* said hello and got an arena */
#define PROCESS_NVTX           0x002u   /* its NVTX calls reached us */
#define PROCESS_CUDA           0x004u   /* the CUDA driver called us */
#define PROCESS_CUPTI          0x008u   /* CUPTI is up */
#define PROCESS_KERNELS        0x010u   /* at least one GPU row arrived */
#define PROCESS_FORKED         0x020u   /* a forked child that did not exec */
#define PROCESS_FORKED_CUDA    0x040u   /* ... of a parent that had initialised CUDA */
#define PROCESS_ENDED          0x080u   /* the collector saw it end */
#define PROCESS_CLEAN          0x100u   /* it passed our exit hooks: CUPTI was flushed */
#define PROCESS_EXECED         0x200u   /* it ended by exec; the new image is another process row */
#define PROCESS_PRELOADED      0x400u   /* our constructor ran at program start (not only by the driver's or NVTX's door) */
#define PROCESS_SIMULATED      0x800u   /* its GPU is the simulated one of test/sim */

/* How a process ended. */
enum how_ended { ENDED_UNKNOWN, ENDED_EXIT, ENDED_SIGNAL };

/* ---- the arena: one memfd a process, made and sized by the collector, mapped by both ---- */

#define ARENA_MAGIC     0x616e657261706721ull
#define SMALL_BLOCK     (64u << 10)     /* 64 KiB: a wake costs 6 us, so at 40-byte rows that is 4 ns a row; first block of a thread */
#define LARGE_BLOCK     (256u << 10)    /* every further block of a thread that filled one */
#define MAX_BLOCKS      8192u
#define MAX_SLOTS       1024u           /* threads at once whose open ranges survive a kill */
#define MAX_DEPTH       128u            /* push/pop ranges open at once on a thread */
#define MAX_STARTED     4096u           /* start/end ranges open at once in a process */

enum block_state { BLOCK_FREE, BLOCK_OWNED, BLOCK_FULL };       /* FREE -> OWNED, OWNED -> FULL: guest.  FULL -> FREE: collector */

/* First bytes of a block; rows follow.  The collector may read rows below `used` at any time. */
struct block {
	uint32_t index;                 /* of its word in arena.block_state */
	uint32_t cap;                   /* bytes for rows */
	uint32_t used;                  /* bytes published: release store by the guest, acquire load by the collector */
	uint32_t drained;               /* bytes taken by the collector; its own */
	uint32_t thread;                /* ordinal of the thread that owns it */
	uint32_t turn;                  /* arena.turns when it was handed over */
	uint32_t rest;                  /* on the pipe: bytes still to be sent of a row longer than a frame */
	uint32_t pad[9];
};

/* Before each row in a block.  Rows are 8-byte aligned. */
struct row_head {
	uint16_t kind;                  /* enum record_kind */
	uint16_t flags;                 /* 0 */
	uint32_t length;                /* of head, row and padded tail; a multiple of 8 */
};

struct open_range {
	uint64_t id;                    /* 0: this place is free (start/end table) */
	int64_t  start;                 /* own clock */
	uint64_t payload;
	uint32_t name, domain, category, color, payload_type;
	uint32_t thread;
	int32_t  step;
	uint32_t tag;                   /* windows.h: what it means to capture; 0: nothing */
};

/* A thread's place in the arena.  Written by its thread alone; read by the collector after a kill. */
struct slot {
	uint32_t owner;                 /* thread ordinal, or 0: free.  Taken by compare and swap */
	uint32_t depth;                 /* open push/pop ranges; stack[0 .. depth-1] are whole: release store after writing one */
	uint64_t tid;                   /* kernel thread id of the owner */
	struct open_range stack[MAX_DEPTH];
};

struct health_cell {
	uint64_t count;
	int64_t  first, last;           /* own clock */
	uint32_t has_detail;            /* 0 -> 1 by compare and swap, 2 when detail is whole */
	char detail[100];               /* zero-terminated */
};

/*
 * A step or a window that is not yet a row: it runs, or the first call after its begin or its end has not come, whose correlation id
 * is part of it.  Written by the guest under a lock of its own; read by the collector when the process is gone.
 */
#define OPEN_USED    1u                 /* this place is taken: release store after the row was filled in */
#define OPEN_RUNNING 2u
#define OPEN_FIRST   4u                 /* no call since it began */
#define OPEN_END     8u                 /* none since it ended */
#define OPEN_CUT     16u                /* the process's end is not its own: it is incomplete then */
#define OPEN_HELD    64u                /* a step that was found and whose end the next one will tell */
#define OPEN_WHOLE   32u                /* a window that began with the process: no row, unless it ends before */

#define MAX_OPEN_STEPS   64u
#define MAX_OPEN_WINDOWS 8u

struct open_step {
	uint32_t state;                 /* OPEN_ bits */
	uint32_t kind;                  /* place in the setting's list */
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

/* Places where our own time in the program goes; cost rows name them. */
#define COST_PLACES(X)                                                             \
	X(start,   "start-up of the injected object")                              \
	X(connect, "connecting to the collector")                                  \
	X(cupti,   "finding and starting CUPTI")                                   \
	X(buffer,  "turning activity buffers into rows (mostly CUPTI's thread)")   \
	X(flush,   "periodic flush of CUPTI (our thread)")                         \
	X(drain,   "last flush at exit")                                           \
	X(carry,   "sending rows through the pipe (our thread)")                       \
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
	int64_t  total;                 /* own clock ticks */
};

/* What the collector tells a running guest; the guest looks for news in every hook. */
#define ORDER_CUDA 1u                   /* bits of what is recorded */
#define ORDER_NVTX 2u
#define ORDER_ALL  (ORDER_CUDA | ORDER_NVTX)

struct order {
	uint32_t mask;                  /* ORDER_ bits; 0: nothing is to be recorded from now on */
	uint32_t over;                  /* 1: nor ever again */
	uint32_t window;                /* windows that such orders have opened so far, the one of this order included */
	uint32_t reserved;
	int64_t time;                   /* when it was given: the guest's own clock */
	int64_t real;                   /* and REALTIME ns */
};

#define ORDERS 16u                      /* the last so many are kept */

/* How far the guest is; read by the collector when the process is gone. */
enum guest_life { LIFE_NEW, LIFE_RUNNING, LIFE_DRAINING, LIFE_ENDED };

struct arena {
	/* written by the collector before hand-over, constant afterwards */
	uint64_t magic;
	uint64_t size;                  /* of the whole mapping */
	uint64_t blocks;                /* offset of the first block; all small ones come first */
	uint32_t version, n_small, n_large, process;
	uint32_t clock;                 /* enum wire_clock */
	uint32_t reserved[3];

	/* written by the collector while the guest runs */
	uint32_t n_orders __attribute__((aligned(64))); /* given so far, at least one: release store after the last, which is orders[(n_orders - 1) % ORDERS] */
	struct order orders[ORDERS];

	/* written by the guest */
	uint32_t life __attribute__((aligned(64)));     /* enum guest_life */
	uint32_t flags;                 /* PROCESS_ bits, by atomic or */
	uint32_t n_taken;               /* blocks not free; guest adds, collector subtracts */
	uint32_t next_thread;           /* last thread ordinal given */
	uint32_t next_started;          /* sequence of start/end ranges */
	uint32_t turns;                 /* blocks handed over so far */
	int64_t  last_time;             /* own clock, stored when a block is taken and at exit: bounds salvaged ranges */
	uint32_t orders_seen;           /* number of the last order that it follows */
	uint32_t n_windows;             /* opened so far */
	uint32_t n_closed;              /* closed so far */
	uint32_t n_flushed;             /* of them, with all that the GPU had done by then delivered */
	uint32_t n_ready;               /* closed because a cycle of the schedule had ended */
	uint32_t shutdown;              /* 1: a capture range has ended that the trace was to be closed with */
	uint32_t names_seen;            /* watch.h: bits of the capture range and of the kinds of steps that were seen */
	char     names_other[100];      /* some of the NVTX names that were neither, zero-terminated */
	uint32_t exit_status;           /* 256 + the status that it exits with; 0: not known */
	int64_t  cpu;                   /* CPU time of the process when it passed our exit hooks, ns; 0: not known */
	struct cost_cell costs[16];
	struct health_cell health[128];
	struct drop_cell drops[256];
	struct open_range started[MAX_STARTED];
	struct open_step steps[MAX_OPEN_STEPS];
	struct open_window windows[MAX_OPEN_WINDOWS];
	uint32_t block_state[MAX_BLOCKS];
	struct slot slots[MAX_SLOTS];
};

/* What the collector writes while the guest runs. */
#define ARENA_TOLD       offsetof(struct arena, n_orders)
#define ARENA_TOLD_BYTES (offsetof(struct arena, life) - offsetof(struct arena, n_orders))

/* Place of block i. */
static inline struct block *arena_block(struct arena *a, uint32_t i)
{
	uint64_t at = a->blocks;

	at += i < a->n_small ? (uint64_t)i * SMALL_BLOCK
			     : (uint64_t)a->n_small * SMALL_BLOCK + (uint64_t)(i - a->n_small) * LARGE_BLOCK;
	return (struct block *)((char *)a + at);
}

/*
 * The doorbell: one page for the whole session, handed over with each arena.  A guest that has filled a block adds 1 to `rings` and,
 * if `sleeping` is set, does FUTEX_WAKE on it.
 */
struct bell {
	uint32_t rings;
	uint32_t sleeping;
};

#endif
