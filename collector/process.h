/* One process of the tree, and what the collector holds of one that is connected. */
#ifndef COLLECTOR_PROCESS_H
#define COLLECTOR_PROCESS_H

#include <stdbool.h>

#include "collector/alive.h"
#include "collector/arena.h"
#include "collector/ends.h"
#include "collector/stage.h"
#include "collector/troubles.h"

/* What we know of a block beyond what stands in it. */
struct block_note {
	uint32_t drained;               /* bytes taken; BLOCK_BAD: it makes no sense, wait for its end */
	uint32_t reserved;
	uint64_t last_range;            /* id of the last range row taken from it */
};

#define BLOCK_BAD UINT32_MAX

struct thread_note {
	uint32_t id, tid;               /* ordinal; kernel thread id as the process sees it */
	uint32_t flags;
	bool own_name;                  /* the program named it through NVTX */
	int64_t start;
	char comm[16];                  /* the kernel's name for it, as last read */
};

/* A connected process.  Gone when the process is. */
struct guest {
	struct arena_view view;
	struct mirror *mirror;          /* NULL: the arena is shared; else it is ours, filled through the pipe */
	struct capture capture;         /* the orders that it was given */
	struct staging staging;
	struct block_note *blocks;
	struct thread_note *threads;
	size_t n_threads;
	int64_t last_time;              /* latest time seen in a row, own clock */
	unsigned sweeps;
	uint64_t health_told[128], drops_told[256], costs_told[16];      /* counts in the rows written last */
};

struct process {
	struct process *next;           /* of the same bucket, newest first */
	uint32_t number, pid, host_pid; /* host_pid 0: not known (another pid namespace) */
	uint32_t ppid, parent, flags;
	unsigned clock;                 /* of its own rows: CLOCK_TSC or CLOCK_MONO */
	int64_t start, end;             /* REALTIME; end 0: alive as far as we know */
	bool injected;                  /* a roster line or a hello came: it carries our object */
	bool described;                 /* its attributes are written */
	bool other_image;               /* its program was another one at the last look, and nothing was heard of it */
	uint64_t image;                 /* which file it runs, as known last; 0: not known */
	uint32_t flags_told;            /* flags in the process row written last */
	struct alive alive;
	struct ending ending;
	struct guest *guest;            /* NULL: not connected, or over */
	struct troubles troubles;       /* times on its clock */
	char name[ROSTER_LINE_MAX];
};

/* NULL when out of memory.  number, pid and so on are the caller's to fill in. */
struct process *process_new(unsigned clock);

/* p->flags and what its arena says, without what only the collector can know. */
uint32_t process_flags(const struct process *p);

/*
 * Makes it a guest with a new arena; the arena's descriptor in *fd is the caller's.  fd NULL: one that it fills through
 * the pipe.  0 or -1.
 */
int guest_new(struct process *p, struct output *out, const char *folder, uint64_t arena_size,
	      const struct capture *capture, int *fd);

/* Tells it what is to be recorded from now on. */
void guest_tell(struct process *p, const struct capture *capture);

void guest_free(struct process *p);

/* All that the GPU did in the windows that have ended is handed over, or there is no CUPTI that could. */
bool guest_flushed(const struct process *p);

#endif
