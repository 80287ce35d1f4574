/*
 * What is to be recorded, and from when to when: the delay and the duration that the settings name, and what people say while the
 * program runs.  Guests are told in order, each in its arena; one that is new follows the last.
 */
#ifndef COLLECTOR_ORDERS_H
#define COLLECTOR_ORDERS_H

#include "collector/tree.h"

struct orders {
	struct tree *tree;              /* borrowed */
	int turn;                       /* borrowed: a timer, for what the settings say */
	int64_t start;                  /* MONOTONIC ns: the session's */
	int64_t on;                     /* ... when recording began first, in one process at least; 0: it has not */
	bool begun;                     /* in all: the delay means nothing more */
	uint32_t mask;                  /* of all processes now: ORDER_ bits */
	bool over;                      /* nothing more is recorded */
};

/* The first order. */
void orders_begin(struct orders *o, struct tree *tree, int turn, int64_t start);

/* The timer went off. */
void orders_turn(struct orders *o);

/* Records `set` as well and `clear` no more, in one process (NULL: in all, and in those to come).  False: recording is over. */
bool orders_change(struct orders *o, struct process *only, uint32_t set, uint32_t clear);

/* Nothing more, ever. */
void orders_end(struct orders *o);

/* Bits of a process now. */
uint32_t orders_of(const struct orders *o, const struct process *p);

/* Bits that any process has, or one to come will. */
uint32_t orders_anywhere(const struct orders *o);

/* It follows the last order it was given, or has no arena to follow one in. */
bool orders_followed(const struct process *p);

#endif
