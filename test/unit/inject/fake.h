/* An arena without a collector: what the guest publishes is read back here. */
#ifndef TEST_UNIT_INJECT_FAKE_H
#define TEST_UNIT_INJECT_FAKE_H

#include "inject/stream.h"

/* A connected guest with so many blocks; the calling thread's stream starts anew. */
void fake_session(uint32_t n_small, uint32_t n_large);

/* From now on this is to be recorded: ORDER_ bits. */
void fake_order(uint32_t mask);

/* From this REALTIME on; followed at once. */
void fake_order_at(uint32_t mask, int64_t real);

/* Calls visit for every published row of all blocks, in block order. */
void fake_rows(void (*visit)(const struct row_head *head, const void *row, void *arg), void *arg);

/* Published rows of a kind; the i-th of them, or NULL. */
size_t fake_count(unsigned kind);
const void *fake_row(unsigned kind, size_t i);

/* Text of a string id from the published rows, or NULL; static storage. */
const char *fake_string(uint32_t id);

#endif
