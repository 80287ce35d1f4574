/* What is new in a private arena, as frames: one round of it.  carrier.c writes them. */
#ifndef INJECT_CARRIER_FRAMES_H
#define INJECT_CARRIER_FRAMES_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "trace/frame.h"

/* A block as it was found at the beginning of a round. */
struct found_block {
	uint32_t index, limit;          /* rows below the limit are published */
	uint32_t turn;
	bool full;
};

/* One mapping, which a forked child does not see. */
struct carrier {
	struct bell bell;               /* private: only our thread listens */
	const char *folder;
	struct arena *arena;
	struct arena *told;             /* what the collector knows of its header */
	uint32_t process, n_blocks;
	int pid;

	/* carrier.c: the pipe */
	int fd, dir;                    /* the pipe; the session folder, where own_table.  -1: not open */
	bool own_table;                 /* the thread's descriptors are not the program's */
	bool full;                      /* the pipe had no room for the last frame */
	bool gone;                      /* nobody is at the other end any more */
	dev_t dev;                      /* of the pipe: under its number may be a file of the program's */
	ino_t ino;

	/* carrier.c: the thread, and who waits for it; futex words */
	pthread_t thread;
	uint32_t running, stop;
	uint32_t asked, done;           /* rounds asked for at an end, and done */
	uint32_t lock;                  /* where there is no thread: who sends has it */
	int64_t deadline;               /* MONOTONIC: for the round asked for */
	int64_t budget;                 /* ns that ends may still wait, all together */
	int64_t next;                   /* MONOTONIC: of the next whole round */
	uint64_t left_told;             /* rows that could not be sent, as the collector was told */

	/* carrier_frames.c */
	bool moved;                     /* the round sent rows */
	uint32_t sequence;              /* of the frame sent last */
	struct slot slot;               /* being copied */
	uint32_t n_found;
	struct found_block found[MAX_BLOCKS];
	struct {
		struct frame head;
		char body[FRAME_MAX - sizeof(struct frame)];
	} out;
};

/*
 * Sends what is new: blocks that were handed over; all: also what is published in the others, and the header.  True:
 * everything was sent; false: what is left comes with the next round.
 */
bool carrier_round(struct carrier *c, bool all);

/* Rows that are published and not sent, and those dropped of which the collector does not know. */
uint64_t carrier_rows_left(const struct carrier *c);

/*
 * In carrier.c: writes c->out, whose head has place, at and thread, and whose body has n bytes.  False: not a byte was
 * written.
 */
bool carrier_put(struct carrier *c, enum frame_kind kind, unsigned flags, uint32_t n);

#endif
