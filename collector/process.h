/* A process of the session, and what the collector has of a connected one. */
#ifndef COLLECTOR_PROCESS_H
#define COLLECTOR_PROCESS_H

#include <stdbool.h>

#include "collector/alive.h"
#include "collector/arena.h"
#include "collector/ends.h"
#include "collector/stage.h"
#include "collector/health_counts.h"

/* What the collector knows of a block, beyond the block's contents. */
struct block_note {
	uint32_t drained;               /* bytes taken; BLOCK_BAD: the block is invalid, ignored until it is handed over */
	uint32_t filled;                /* it is free, but its pages are still allocated */
	uint64_t last_range;            /* id of the last range row taken from it */
};

#define BLOCK_BAD UINT32_MAX

struct thread_note {
	uint32_t id, tid;               /* number in the process; kernel thread id as the process sees it */
	uint32_t flags;
	/* a later row of the guest has its name, which the guest follows or the program gave: do not read the kernel's */
	bool own_name;
	int64_t start;
	char comm[16];                  /* the kernel's name, as last read */
};

/* Data of a connected process; freed when the process ends. */
struct connected_guest {
	struct arena_view view;
	struct arena_replica *replica;  /* NULL: the arena is shared; else it is private, and filled through the pipe */
	bool unheard;                   /* its bell has no listener: its full blocks are polled */
	struct orders_given capture;         /* the orders given to it */
	struct staging staging;
	struct block_note *blocks;
	struct thread_note *threads;
	size_t n_threads, cap_threads;
	int64_t last_time;              /* latest time in a row, on the process's clock */
	unsigned sweeps;
	unsigned quiet;                 /* sweeps since a block was last given back; pages.c */
	bool filled;                    /* some block has block_note.filled */
	uint64_t health_written[128], drops_written[256], costs_written[16]; /* counts in the rows written last */
};

struct tree_process {
	struct tree_process *next;      /* in the same bucket; the newest is first */
	uint32_t number, pid, host_pid; /* host_pid 0: unknown (another pid namespace) */
	uint32_t ppid, parent, flags;
	unsigned clock;                 /* clock of its rows: CLOCK_TSC or CLOCK_MONO */
	int64_t start, end;             /* REALTIME ns; end 0: alive as far as known */
	bool injected;                  /* a roster line or a hello came: libgprof_inject.so is loaded */
	bool left;                      /* it had closed the connection before its hello was answered */
	bool described;                 /* its attributes were written */
	bool other_image;               /* at the last look it ran another program, and had sent nothing */
	uint64_t image;                 /* identifies the file that it runs, as last known; 0: unknown */
	uint32_t flags_written;         /* flags in the process row written last */
	struct alive alive;
	struct ending ending;
	struct connected_guest *guest;  /* NULL: not connected, or over */
	uint32_t late;                  /* the number that it chose for its frames; 0: none */
	struct tree_process *late_next; /* in the same bucket of tree.late */
	struct health_counts health_counts; /* times on the process's clock */
	char name[ROSTER_LINE_MAX];
};

/* Returns a process whose number, pid and so on the caller fills in; NULL: no memory. */
struct tree_process *process_new(unsigned clock);

/* Returns p->flags, and from its arena the flags that a guest may set itself. */
uint32_t process_flags(const struct tree_process *p);

/* Counts that p sends its rows through the pipe, and why.  Once per process: it may ask for several arenas. */
void process_note_pipe(struct tree_process *p, const char *why);

#define PIPE_REQUESTED "requested by --transport=pipe"

/*
 * Makes p a guest with a new arena.  *fd is the arena's descriptor, which the caller closes; fd NULL: the arena is filled through the
 * pipe.  Returns 0, or -1 after fail().
 */
int guest_new(struct tree_process *p, struct output *out, const char *folder, uint64_t arena_size,
	      const struct orders_given *capture, int *fd);

/* As guest_new(), with the arena that the process made; the caller closes fd. */
int guest_adopt(struct tree_process *p, struct output *out, uint64_t arena_size, const struct orders_given *capture, int fd);

/* Gives the guest these orders. */
void guest_tell(struct tree_process *p, const struct orders_given *capture);

/* Frees the guest and unmaps its arena; p->guest is NULL afterwards. */
void guest_free(struct tree_process *p);

/* True if the GPU rows of all windows that have ended were handed over, or if there is no CUPTI that could. */
bool guest_flushed(const struct tree_process *p);

#endif
