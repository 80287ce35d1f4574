/*
 * struct period: finds the steps of a program from the sequence of its launches, for programs that do not mark their steps.  Method and
 * limits: docs/explanation/steps.md.  No clock, no floating-point library, no locks, and no memory but *p and struct period_room; the
 * same launches give the same steps.
 *
 *	struct period *p = memory of sizeof *p bytes (1.5 MB), zeroed or not; calls take up to 16 KB of stack
 *	period_init(p);
 *	for each launch, in the order of their starts:
 *		period_launch(p, &launch);
 *		while (period_take(p, &step))
 *			...a step, possibly one that began long ago: the first steps are reported late, all at once
 *
 * While recording, the caller serialises the calls (one lock around period_launch(), or one detector per thread).  All threads of a
 * process belong into one sequence: several threads launch parts of a step (e.g. forward and backward).  A reader of a trace can feed the
 * launches twice: period_again() forgets the sequence and keeps the model, so that the first steps are found too.
 */
#ifndef TRACE_RULES_PERIOD_H
#define TRACE_RULES_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum period_flags {
	PERIOD_GRAPH     = 1,           /* a whole CUDA graph */
	PERIOD_COPY_IN   = 2,           /* a copy from the host */
	PERIOD_OPTIMIZER = 4,           /* a kernel with the name of an optimizer's kernel, see period_kernel_flags() */
};

struct period_launch {
	uint64_t name;                  /* hash of the launched work: kernel name, "a copy to the device", "a graph" */
	uint64_t config;                /* hash of its configuration: grid, block, bytes, graph */
	int64_t start, end;             /* of the host's call, ns; end 0: not known */
	uint32_t thread;                /* id of the launching thread, or a hash of the id */
	uint32_t flags;                 /* PERIOD_ bits */
};

struct period_step {
	uint64_t first;                 /* number of its first launch, counted from 0 */
	uint64_t last;                  /* number of the last launch that certainly belongs to the step */
	int64_t start, end;             /* when these two calls started */
};

/* The period found so far.  launches 0: none. */
struct period_model {
	uint64_t launches;              /* launches per step, median */
	int64_t duration;               /* ns from the start of a step to the next, median */
	double confidence;              /* 0..1: regularity, number of cycles seen, clarity of the step's begin */
	uint64_t anchor;                /* identity of the launch that marks the step's begin, of the family anchor_kind */
	uint32_t anchor_offset;         /* launches from the step's first launch to the anchor, mostly 0 */
	uint8_t anchor_kind;            /* enum period_family */
	bool revised;                   /* earlier steps were found with another period: feed the launches again */
	bool named;                     /* a step contains kernels known as an optimizer's */
	bool plain;                     /* the begin of a step is unambiguous */
	bool whole;                     /* these steps cover nearly all launches */
};

/* Each launch has three identities: its name, its name with that of the thread's previous launch, its name with its configuration. */
enum period_family { PERIOD_NAME, PERIOD_PAIR, PERIOD_CONFIG, PERIOD_FAMILIES };

#define PERIOD_RING      32768u         /* launches remembered; a power of two */
#define PERIOD_TABLE     16384u         /* slots of the table of identities; a power of two */
#define PERIOD_THREADS   16u
#define PERIOD_LANDMARKS 48u
#define PERIOD_QUEUE     1024u          /* steps found and not yet taken; beyond it the oldest are lost */
#define PERIOD_BYTES_MAX (2u << 20)

/* Everything below is private to the detector. */
struct period_entry {
	int64_t start;
	uint64_t number : 56, flags : 8;
	uint32_t id[PERIOD_FAMILIES];
	uint32_t idle;                  /* ns from the end of the latest earlier call to the start of this one */
};

struct period_slot {
	uint32_t id;
	uint16_t count;
	uint16_t newest;                /* index of its newest entry, as in period_at() */
	uint16_t oldest;                /* index of its oldest entry */
	uint8_t family;
};

struct period_landmark {
	uint32_t id;
	uint8_t family;
	bool graph;
	uint32_t offset;                /* launches from the step's first launch */
	uint16_t hits;                  /* number of examined cycles that contained it */
	uint64_t seen;                  /* number of the newest launch with this identity, plus 1; 0: none */
	int64_t seen_start;
};

struct period_candidate {
	uint32_t gap;                   /* launches between occurrences, the median */
	uint16_t slot;
	uint16_t regular;               /* gaps close to the median, per 1000 gaps */
	uint16_t covers;                /* launches inside such gaps, per 1000 launches since the first occurrence */
	uint8_t hinted;                 /* a kernel of an optimizer */
};

/*
 * Allocator of learning's temporary memory: up to 10 KiB a block and 20 KiB in all, freed in reverse order.  Not on the stack, because the
 * guest learns inside a launch, on the program's stack.  take() may return NULL: then this attempt to learn is skipped.
 */
struct period_room {
	void *(*take)(size_t size);
	void (*give)(void *room);
};

struct period {
	struct period_room room;

	/* per launch */
	uint64_t n;                     /* launches so far */
	uint64_t learn_at;              /* number of launches at which to learn again */
	int64_t busy_until;             /* latest end of a call so far, ns */
	uint32_t before[PERIOD_THREADS];        /* name of each thread's previous launch */
	uint8_t find[PERIOD_FAMILIES][256];     /* index + 1 of the landmark with this low byte of its id; 0: none */
	uint32_t oldest, stored;        /* ring: place of the oldest entry, number of entries */
	bool sparse;                    /* common pairs are no longer stored */
	uint64_t common[PERIOD_RING / 64];      /* bit set of pairs too frequent to mark a step */

	/* the model, and the state of learning it */
	struct period_model model;
	struct period_landmark landmarks[PERIOD_LANDMARKS];     /* by offset */
	uint32_t n_landmarks, master;   /* a step is complete when the landmark `master` was seen */
	uint32_t same;                  /* consecutive times that learning found the same period */
	uint64_t tentative, tentative_n;        /* a period to confirm, and the launches when it was found; see is_believed() */
	uint64_t doubted_at, doubts;    /* last such launch, and number of launches of an optimizer that the model lacks */
	uint64_t previous_master;       /* number + 1 of the launch that completed the last step */
	uint64_t n_steps;

	struct period_step queue[PERIOD_QUEUE];
	uint64_t queued, taken;

	struct period_entry ring[PERIOD_RING];

	/* scratch of period_learn() */
	bool hinted;                    /* the ring contains a kernel of an optimizer */
	bool partial;                   /* the last period found covers too few launches to be the whole step */
	bool pending;                   /* there may be a longer period, not yet seen often enough */
	struct period_slot table[PERIOD_TABLE];
	uint16_t older[PERIOD_FAMILIES][PERIOD_RING];   /* index of the previous entry of the same identity; own index: none */
	struct period_candidate candidates[1024];
};

_Static_assert(sizeof(struct period) <= PERIOD_BYTES_MAX, "the promise about memory");

/* Initialises *p; room: allocator of learning's temporary memory.  There is nothing to release. */
void period_init_with(struct period *p, struct period_room room);

/* period_init_with() malloc and free. */
static inline void period_init(struct period *p)
{
	period_init_with(p, (struct period_room){ malloc, free });
}

/* Feeds the next launch.  Learns from the ring now and then, which takes much longer than a usual call. */
void period_launch(struct period *p, const struct period_launch *l);

/* Feeds the end (ns) of a CUDA call that is not a launch, e.g. a synchronization: the host was not idle before it. */
static inline void period_call(struct period *p, int64_t end)
{
	if (end > p->busy_until)
		p->busy_until = end;
}

/* Takes the next step found, oldest first; false: none for now. */
bool period_take(struct period *p, struct period_step *step);

/* Ends the sequence: learns once more from the launches in the ring; call period_take() afterwards. */
void period_finish(struct period *p);

/* Restarts the sequence of launches and keeps the model. */
void period_again(struct period *p);

/* PERIOD_OPTIMIZER if the name is that of an optimizer's kernel, else 0.  Slow: call it once per kernel, not per launch. */
uint32_t period_kernel_flags(const char *name);

/* Entry i of the ring, 0 the oldest. */
static inline const struct period_entry *period_at(const struct period *p, uint32_t i)
{
	return &p->ring[(p->oldest + i) % PERIOD_RING];
}

/* When learning runs: regularly (accepts only a settled period), when the ring is full, at the end of the sequence. */
enum period_when { PERIOD_SETTLED, PERIOD_FULL, PERIOD_LAST };

/* Looks for a period in the ring; true: found, and stored in p->model. */
bool period_learn(struct period *p, enum period_when when);

#endif
