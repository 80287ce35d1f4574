/*
 * What is recorded, and when: by the delay and duration of the settings, and by requests while the program runs.  Each guest gets the
 * orders in sequence through its arena; a new guest begins with the last one.
 */
#ifndef COLLECTOR_ORDERS_H
#define COLLECTOR_ORDERS_H

#include "collector/tree.h"

struct orders {
	struct tree *tree;              /* borrowed */
	int turn;                       /* borrowed: timer for the settings' delay and duration */
	int64_t start;                  /* MONOTONIC ns: start of the session */
	int64_t on;                     /* MONOTONIC ns: when recording first began in any process; 0: it has not */
	bool begun;                     /* begun in all processes: the delay no longer applies */
	uint32_t mask;                  /* ORDER_ bits for all processes, and for new ones */
	bool over;                      /* recording has ended for good */
};

/* Gives the first order.  tree and turn are borrowed. */
void orders_begin(struct orders *o, struct tree *tree, int turn, int64_t start);

/* Call when the timer `turn` expires. */
void orders_turn(struct orders *o);

/*
 * Starts recording `set` and stops `clear`, in one process (NULL: in all, and in new ones).  False: recording is over, or the process has
 * no arena.
 */
bool orders_change(struct orders *o, struct tree_process *only, uint32_t set, uint32_t clear);

/* Ends recording for good. */
void orders_end(struct orders *o);

/* Returns what a process records now, in ORDER_ bits. */
uint32_t orders_of(const struct orders *o, const struct tree_process *p);

/* Returns what any process records now, or a new one would, in ORDER_ bits. */
uint32_t orders_anywhere(const struct orders *o);

/* True if the process has followed its last order, or has no arena. */
bool orders_followed(const struct tree_process *p);

#endif
