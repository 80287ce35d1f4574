/* The session's named pipe: wakes the collector for lines of the board, and has the lines of processes without a board. */
#ifndef COLLECTOR_ROSTER_H
#define COLLECTOR_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/wire.h"

struct roster_line {
	char how;                       /* as in wire.h; for 'x' the name is an errno, for 'l' a number of rows */
	uint32_t pid, ppid;
	int64_t start;
	char name[ROSTER_LINE_MAX];
};

/* Parses n bytes, without the line end.  False: not a roster line. */
bool roster_parse(struct roster_line *l, const char *text, size_t n);

/* True if the values are ones that a process may send. */
bool roster_is_line(const struct roster_line *l);

struct roster {
	int fd;
	size_t n;                       /* bytes of an incomplete line */
	char rest[ROSTER_LINE_MAX];
	uint64_t bad;                   /* invalid lines */
};

#define ROSTER_INIT { .fd = -1 }

/* Creates and opens the pipe in the folder.  Returns 0, or -1 after fail(). */
int roster_open(struct roster *r, const char *folder);
void roster_close(struct roster *r);

/* Calls `seen` for each line.  Reads at most ROSTER_READ bytes, because guests are waiting.  False: the pipe was empty. */
#define ROSTER_READ (16 << 10)
bool roster_read(struct roster *r, void (*seen)(void *arg, const struct roster_line *l), void *arg);

#endif
