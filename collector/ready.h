/*
 * --on-trace-ready: runs a command each time a cycle of the schedule has ended and is in the file, with {} replaced by the file's path.
 * One command at a time: cycles that end while it runs share the next one.  It does not affect the program; its failure is reported in
 * health.
 */
#ifndef COLLECTOR_READY_H
#define COLLECTOR_READY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct session;

struct ready {
	pid_t running;                  /* pid of the command; 0: none */
	uint64_t started;               /* cycles that a command was started for */
};

/* Call ten times a second. */
void ready_look(struct session *s);

/* Call when no process is left: runs the command for the remaining cycles, and waits for it, ten seconds at most. */
void ready_last(struct session *s);

#endif
