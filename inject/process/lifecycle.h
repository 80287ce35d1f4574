/* How a process begins and ends: fork, _exit, exec, exit, quick_exit.  Includes the interposed functions. */
#ifndef INJECT_PROCESS_LIFECYCLE_H
#define INJECT_PROCESS_LIFECYCLE_H

/*
 * Makes modules_stop() run at exit before the CUDA driver's exit handler.  Handlers run in reverse order of registration, so call this
 * again whenever CUDA has come further (injected, cuInit finished, first context); modules_stop() may run more than once.  Any thread.
 */
void lifecycle_at_exit(void);

/* Once, at load: reads the profiler's variables, registers fork and exit handlers. */
void lifecycle_init(void);

#endif
