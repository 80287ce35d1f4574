/*
 * struct period: finds the steps of a program in the sequence of its launches, where nothing marks them.  How, and where it fails:
 * docs/steps.md.  Pure: no clock, no allocation, no floating-point library, no locks; the same launches give the same steps.
 *
 *	struct period *p = memory of sizeof *p bytes (1.5 MB), zeroed or not; calls take up to 16 KB of stack
 *	period_init(p);
 *	for each launch, in the order of their starts:
 *		period_launch(p, &launch);
 *		while (period_take(p, &step))
 *			...a step, possibly one that began a while ago: at first they come late, all at once
 *
 * On line the caller serialises the calls (one lock around period_launch(), or one detector for one thread's launches); all threads
 * of a process belong into one sequence, since a step is launched by several (forward here, backward there).  Off line the launches
 * can be fed twice: period_again() forgets the sequence and keeps what was learnt, so that the first steps are found as well as the last.
 */
#ifndef TRACE_PERIOD_H
#define TRACE_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum period_flags {
	PERIOD_GRAPH     = 1,           /* a whole CUDA graph */
	PERIOD_COPY_IN   = 2,           /* a copy from the host */
	PERIOD_OPTIMIZER = 4,           /* an optimizer's kernel by its name, see period_kernel_flags() */
};

struct period_launch {
	uint64_t name;                  /* hash of what is launched: the kernel, "a copy to the device", "a graph" */
	uint64_t config;                /* hash of how: grid, block, bytes, which graph */
	int64_t start, end;             /* of the call on the host, ns; end 0: not known */
	uint32_t thread;                /* who launches: an id or a hash of it */
	uint32_t flags;
};

struct period_step {
	uint64_t first;                 /* number of its first launch: how many were fed before it */
	uint64_t last;                  /* of the last one that surely belongs to it */
	int64_t start, end;             /* when those calls started */
};

/* What is known now.  launches 0: nothing yet. */
struct period_model {
	uint64_t launches;              /* in a step, the median */
	int64_t duration;               /* ns from one start to the next, the median */
	double confidence;              /* 0..1: how regular, how often seen, how clear where a step begins */
	uint64_t anchor;                /* identity of the launch that starts a step (name, config, or pair of names: see anchor_kind) */
	uint32_t anchor_offset;         /* launches from the step's first launch to that one, mostly 0 */
	uint8_t anchor_kind;            /* enum period_family */
	bool revised;                   /* steps handed out earlier were of another period: feed again */
	bool named;                     /* an optimizer's kernels are known among its launches */
	bool plain;                     /* where a step begins is plain to see */
	bool whole;                     /* such steps are nearly all there is */
};

/* A launch is known under three identities: what, what after what on the same thread, and what with its configuration. */
enum period_family { PERIOD_NAME, PERIOD_PAIR, PERIOD_CONFIG, PERIOD_FAMILIES };

#define PERIOD_RING      32768u         /* launches remembered; a power of two */
#define PERIOD_TABLE     16384u         /* identities counted; a power of two */
#define PERIOD_THREADS   16u
#define PERIOD_LANDMARKS 48u
#define PERIOD_QUEUE     1024u          /* steps found and not yet taken: the oldest are lost */
#define PERIOD_BYTES_MAX (2u << 20)

/* Everything below is the detector's own. */
struct period_entry {
	int64_t start;
	uint64_t number : 56, flags : 8;
	uint32_t id[PERIOD_FAMILIES];
	uint32_t idle;                  /* ns between the end of the call before and this one */
};

struct period_slot {
	uint32_t id;
	uint16_t count;
	uint16_t newest;                /* its newest entry, as in period_at() */
	uint16_t oldest;
	uint8_t family;
};

struct period_landmark {
	uint32_t id;
	uint8_t family;
	bool graph;
	uint32_t offset;                /* launches from the step's first one */
	uint16_t hits;                  /* cycles that had it, of those looked at */
	uint64_t seen;                  /* number of the newest launch that was it, plus 1; 0: none */
	int64_t seen_start;
};

struct period_candidate {
	uint32_t gap;                   /* launches between occurrences, the median */
	uint16_t slot;
	uint16_t regular;               /* of 1000 gaps, so many are like the median */
	uint16_t covers;                /* of 1000 launches since the first occurrence, so many lie in such gaps */
	uint8_t hinted;                 /* an optimizer's kernel, or the one behind it */
};

struct period {
	/* per launch */
	uint64_t n;                     /* launches so far */
	uint64_t learn_at;              /* launch at which to look for a period again */
	int64_t busy_until;
	uint32_t before[PERIOD_THREADS];        /* the launch before, of each thread */
	uint8_t find[PERIOD_FAMILIES][256];     /* landmark by the low byte of its id, plus 1 */
	uint32_t oldest, stored;        /* entries in the ring: where the first one is, and how many */
	bool sparse;                    /* common pairs are no longer stored */
	uint64_t common[PERIOD_RING / 64];      /* pairs of names that are so frequent that they cannot mark a step */

	/* what was learnt */
	struct period_model model;
	struct period_landmark landmarks[PERIOD_LANDMARKS];
	uint32_t n_landmarks, master;   /* the landmark at whose sight a step is complete; landmarks are in order of their offsets */
	uint32_t same;                  /* how often learning came to the same period again */
	uint64_t tentative, tentative_n;        /* a period that must be found again when there are four times as many launches */
	uint64_t doubted_at, doubts;    /* optimizers seen that are not in the model */
	uint64_t previous_master;       /* number + 1 of the launch */
	uint64_t n_steps;

	struct period_step queue[PERIOD_QUEUE];
	uint64_t queued, taken;

	struct period_entry ring[PERIOD_RING];

	/* scratch of period_learn() */
	bool hinted;                    /* there is an optimizer's kernel in the ring */
	bool partial;                   /* what was found last does not fill the time, and others copy from the host */
	bool pending;                   /* there may be a longer period, not yet seen often enough */
	struct period_slot table[PERIOD_TABLE];
	uint16_t older[PERIOD_FAMILIES][PERIOD_RING];   /* the occurrence before, as index; own index: none */
	struct period_candidate candidates[1024];
};

_Static_assert(sizeof(struct period) <= PERIOD_BYTES_MAX, "the promise about memory");

void period_init(struct period *p);
void period_launch(struct period *p, const struct period_launch *l);

/* A CUDA call that is no launch has ended: until then the host was not idle.  Synchronizations, above all. */
static inline void period_call(struct period *p, int64_t end)
{
	if (end > p->busy_until)
		p->busy_until = end;
}

/* The next step that was found; false: no more for now. */
bool period_take(struct period *p, struct period_step *step);

/* The sequence is over: looks once more, with what there is. */
void period_finish(struct period *p);

/* The sequence starts anew; what was learnt stays. */
void period_again(struct period *p);

/* PERIOD_OPTIMIZER for the names that optimizers' kernels have, else 0.  Once per kernel, not per launch. */
uint32_t period_kernel_flags(const char *name);

/* Entry i of those that are remembered, 0 the oldest. */
static inline const struct period_entry *period_at(const struct period *p, uint32_t i)
{
	return &p->ring[(p->oldest + i) % PERIOD_RING];
}

/* When to be content with a period: with one for which there is nothing to wait any more, before launches are forgotten, at the end. */
enum period_when { PERIOD_SETTLED, PERIOD_FULL, PERIOD_LAST };

/* Looks for a period in the ring: true if there is one, which is now p->model. */
bool period_learn(struct period *p, enum period_when when);

#endif
