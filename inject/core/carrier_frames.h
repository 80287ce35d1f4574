/* One round of the carrier: finds what is new in a private arena and sends it as frames through carrier_put(). */
#ifndef INJECT_CORE_CARRIER_FRAMES_H
#define INJECT_CORE_CARRIER_FRAMES_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "trace/frame.h"

/* State of a block at the beginning of a round. */
struct found_block {
	uint32_t index, limit;          /* limit: bytes of rows published */
	uint32_t turn;
	bool full;
};

/* A separate mapping; not copied into forked children if guest is wiped there. */
struct carrier {
	struct bell bell;               /* private: only the carrier thread listens */
	const char *folder;
	struct arena *arena;
	struct arena *sent_header;      /* copy of the arena's header as the collector has it */
	uint32_t process, n_blocks;
	int pid;

	/* carrier.c: the pipe */
	int fd, dir;                    /* the pipe; the session folder if own_table.  -1: not open */
	bool own_table;                 /* the thread has a private descriptor table */
	bool full;                      /* the pipe had no room for the last frame */
	uint32_t refusals;              /* consecutive turns with a full pipe */
	bool gone;                      /* the pipe has no reader any more */
	dev_t dev;                      /* identity of the pipe: the program may reuse the descriptor's number */
	ino_t ino;

	/* carrier.c: the thread and the threads that wait for it; futex words */
	pthread_t thread;
	uint32_t running, stop;
	uint32_t asked, done;           /* final rounds requested and done */
	uint32_t lock;                  /* without a carrier thread: held by the thread that sends */
	int64_t deadline;               /* MONOTONIC ns, of the requested round */
	int64_t budget;                 /* ns that the ends of the process may still wait, in all */
	int64_t next;                   /* MONOTONIC ns of the next whole round */
	uint64_t left_reported;         /* unsent rows last reported to the collector */
	bool unheard;                   /* the hello got no answer: it goes out as the first frame */
	struct wire_hello hello;

	/* carrier_frames.c */
	bool moved;                     /* the round sent rows */
	uint32_t sequence;              /* number of the last frame sent */
	uint32_t given_back;            /* blocks sent completely and freed, of arena->turns handed over */
	struct slot slot;               /* copy of the slot being sent */
	uint32_t n_found;
	struct found_block found[MAX_BLOCKS];
	struct {
		struct frame head;
		char body[FRAME_MAX - sizeof(struct frame)];
	} out;
};

/*
 * Sends blocks that were handed over; all: also published rows of blocks in use, and changes of the header.  True: everything was sent;
 * false: the rest comes with the next round.  One thread at a time.
 */
bool carrier_round(struct carrier *c, bool all);

/* Published rows not yet sent, plus dropped rows that the collector has not been told of. */
uint64_t carrier_rows_left(const struct carrier *c);

/*
 * In carrier.c: sends c->out as one frame.  The caller has set place, at and thread in the head and n bytes of the body.  False: no byte
 * was written.
 */
bool carrier_put(struct carrier *c, enum frame_kind kind, unsigned flags, uint32_t n);

#endif
