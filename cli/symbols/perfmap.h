/* Reads /tmp/perf-PID.map: lines "START SIZE name", numbers in hexadecimal, with which runtimes name generated code. */
#ifndef SYMBOLS_PERFMAP_H
#define SYMBOLS_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct perfmap {
	struct made {
		uint64_t start, end;
		const char *name;
		size_t order;           /* line number; for one address, the last line is used */
	} *list;                        /* by start */
	uint64_t *reach;                /* highest end of list[0..i] */
	size_t n;
	char *text;
};

/*
 * Reads a map.  Empty if the file does not exist, was last written before `when` (by an earlier process with this pid), is a symbolic link,
 * or belongs neither to root nor to this user (any_owner: skip this test, for a folder that the user named).
 */
void perfmap_read(struct perfmap *m, const char *path, time_t when, bool any_owner);
void perfmap_release(struct perfmap *m);

/* Name of the code at an address, or NULL. */
const char *perfmap_at(const struct perfmap *m, uint64_t address);

#endif
