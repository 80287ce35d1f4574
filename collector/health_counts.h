/* What the collector counts against a process or the session; account.c writes it as health rows. */
#ifndef COLLECTOR_HEALTH_COUNTS_H
#define COLLECTOR_HEALTH_COUNTS_H

#include <stddef.h>
#include <stdint.h>

struct health_count {
	unsigned reason;                /* HEALTH_ */
	uint64_t count;
	uint64_t written;               /* count in the row written last */
	int64_t first, last;            /* on the clock given to health_counts_add() */
	char detail[224];               /* of the first one; "": none */
};

/* { 0 } is empty. */
struct health_counts {
	struct health_count *list;
	size_t n, cap;
};

/* Counts n more of a reason at time `now`.  fmt (may be NULL) gives the detail, if there is none yet. */
void health_counts_add(struct health_counts *t, unsigned reason, uint64_t n, int64_t now, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Returns the count of a reason; NULL: none.  Valid until the next health_counts_add(). */
struct health_count *health_counts_find(const struct health_counts *t, unsigned reason);

/* Frees the list; *t is then empty and can be used again. */
void health_counts_release(struct health_counts *t);

#endif
