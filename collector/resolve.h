/* Adds names and source lines of stacks to the finished trace. */
#ifndef COLLECTOR_RESOLVE_H
#define COLLECTOR_RESOLVE_H

/*
 * Runs `gprof-trace resolve` of this installation and waits for it, so that the trace does not change after gprof-run has ended.  A failure
 * is logged; the trace is usable without names.  sources: the setting.
 */
void resolve_run(const char *path, unsigned sources);

#endif
