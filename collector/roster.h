/* The session's named pipe: one line a process start. */
#ifndef COLLECTOR_ROSTER_H
#define COLLECTOR_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/wire.h"

struct roster_line {
	char how;                       /* as in wire.h; the name of 'x' is an errno, of 'l' a number of rows */
	uint32_t pid, ppid;
	int64_t start;
	char name[ROSTER_LINE_MAX];
};

/* text without its line end.  False: it is no roster line. */
bool roster_parse(struct roster_line *l, const char *text, size_t n);

struct roster {
	int fd;
	size_t n;                       /* bytes of a line that is not whole yet */
	char rest[ROSTER_LINE_MAX];
	uint64_t bad;                   /* lines that were none */
};

#define ROSTER_INIT { .fd = -1 }

/* Creates and opens the pipe in the folder.  0 or -1. */
int roster_open(struct roster *r, const char *folder);
void roster_close(struct roster *r);

/* Calls seen for every line that is there. */
void roster_read(struct roster *r, void (*seen)(void *arg, const struct roster_line *l), void *arg);

#endif
