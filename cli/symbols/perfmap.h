/* /tmp/perf-PID.map: "START SIZE name" in hexadecimal, by which runtimes name the code they make. */
#ifndef SYMBOLS_PERFMAP_H
#define SYMBOLS_PERFMAP_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct perfmap {
	struct made {
		uint64_t start, end;
		const char *name;
		size_t order;           /* of its line: of two for one address the later one holds */
	} *list;                        /* by start */
	uint64_t *reach;                /* highest end up to each */
	size_t n;
	char *text;
};

/* Empty when there is none, or it was last written before `when`: by another process of that number. */
void perfmap_read(struct perfmap *m, const char *path, time_t when);
void perfmap_release(struct perfmap *m);

/* Name of the code at an address, or NULL. */
const char *perfmap_at(const struct perfmap *m, uint64_t address);

#endif
