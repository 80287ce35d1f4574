/* The ways a process comes to be and ends: fork, _exit, exec, exit.  Includes the interposed functions. */
#ifndef INJECT_LIFECYCLE_H
#define INJECT_LIFECYCLE_H

/*
 * Makes sure that modules_stop() runs at exit before the CUDA driver's own exit handler.  Handlers run in reverse order of
 * registration, so call it again whenever CUDA has come further (injected, cuInit finished, first context); it is idempotent in effect.
 */
void lifecycle_at_exit(void);

/* Once, at load. */
void lifecycle_init(void);

#endif
