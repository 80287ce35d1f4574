/*
 * --on-trace-ready: a command that runs each time a cycle of the schedule is finished and in the file, with {} replaced by its path.
 * One at a time; cycles that end meanwhile share the next.  It never touches the program, and its failure is in health.
 */
#ifndef COLLECTOR_READY_H
#define COLLECTOR_READY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct session;

struct ready {
	pid_t running;                  /* 0: none */
	uint64_t started;               /* cycles that a command has run for */
};

/* Ten times a second. */
void ready_look(struct session *s);

/* No process is left: for cycles that nobody was told of yet; waits for the command, ten seconds at most. */
void ready_last(struct session *s);

#endif
