/* A guest with an arena and without a collector; tests read the rows that it publishes. */
#ifndef TEST_UNIT_INJECT_FAKE_H
#define TEST_UNIT_INJECT_FAKE_H

#include "inject/core/stream.h"

/* Makes a connected guest with this many small and large blocks.  The calling thread gets a new stream. */
void fake_session(uint32_t n_small, uint32_t n_large);

/* As fake_session(), recording from the start with this --step and --schedule; returns the thread's stream. */
struct stream *fake_stepped(const char *steps, const char *schedule);

/* Does what cupti_api.c does at an outermost call; true: the call is recorded. */
bool fake_call(struct stream *s, uint32_t corr);

/* Orders what is recorded from now on: ORDER_ bits. */
void fake_order(uint32_t mask);

/* Orders what is recorded from this CLOCK_REALTIME on; the guest reads the order at once. */
void fake_order_at(uint32_t mask, int64_t real);

/* Calls visit for every published row of all blocks, in block order. */
void fake_rows(void (*visit)(const struct row_head *head, const void *row, void *arg), void *arg);

/* Number of published rows of a kind; the i-th one, or NULL. */
size_t fake_count(unsigned kind);
const void *fake_row(unsigned kind, size_t i);

/* Text of a string id from the published rows, or NULL; static storage. */
const char *fake_string(uint32_t id);

#endif
