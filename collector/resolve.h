/* Names and lines of stacks, written into the finished trace. */
#ifndef COLLECTOR_RESOLVE_H
#define COLLECTOR_RESOLVE_H

/*
 * Runs our own `gprof-trace resolve` on it and waits for that: who reads the trace when gprof-run has ended finds it as
 * it stays.  A failure is said in the log, and the trace is good without.
 */
void resolve_run(const char *path);

#endif
