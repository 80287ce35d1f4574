/* What the collector itself counts against a process or the session; account.c makes health rows of it. */
#ifndef COLLECTOR_TROUBLES_H
#define COLLECTOR_TROUBLES_H

#include <stddef.h>
#include <stdint.h>

struct trouble {
	unsigned reason;                /* HEALTH_ */
	uint64_t count;
	uint64_t told;                  /* count in the row written last */
	int64_t first, last;            /* on the clock given to troubles_add() */
	char detail[224];               /* the first one; "" when there is none */
};

/* { 0 } is empty. */
struct troubles {
	struct trouble *list;
	size_t n;
};

/* Counts n more of a reason at `now`.  fmt (may be NULL) is its detail if it is the first. */
void troubles_add(struct troubles *t, unsigned reason, uint64_t n, int64_t now, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* NULL: nothing was counted for this reason.  Borrowed until the next troubles_add(). */
struct trouble *troubles_find(const struct troubles *t, unsigned reason);

void troubles_release(struct troubles *t);

#endif
