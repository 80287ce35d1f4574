/* What the collector counts against a process or the session; account.c writes it as health rows. */
#ifndef COLLECTOR_TROUBLES_H
#define COLLECTOR_TROUBLES_H

#include <stddef.h>
#include <stdint.h>

struct trouble {
	unsigned reason;                /* HEALTH_ */
	uint64_t count;
	uint64_t told;                  /* count in the row written last */
	int64_t first, last;            /* on the clock given to troubles_add() */
	char detail[224];               /* of the first one; "": none */
};

/* { 0 } is empty. */
struct troubles {
	struct trouble *list;
	size_t n, cap;
};

/* Counts n more of a reason at time `now`.  fmt (may be NULL) gives the detail, if there is none yet. */
void troubles_add(struct troubles *t, unsigned reason, uint64_t n, int64_t now, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Returns the count of a reason; NULL: none.  Valid until the next troubles_add(). */
struct trouble *troubles_find(const struct troubles *t, unsigned reason);

/* Frees the list; *t is then empty and can be used again. */
void troubles_release(struct troubles *t);

#endif
