/*
 * Samples the CPU time of the program's threads.  Each thread has a timer of its own CPU time that signals only this thread: a sleeping
 * thread is not woken, and a stack belongs to the thread that used the time.
 *
 * The signal is 33 (SIGSETXID), which glibc reserves for changing the ids of all threads.  A program cannot catch, block, ignore or wait
 * for it through libc: sampling takes no signal from the program, and reaches threads that block all signals.  The handler passes glibc's
 * own signals on to glibc.
 */
#ifndef INJECT_STACKS_SAMPLE_H
#define INJECT_STACKS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/core/stream.h"

struct sampler;

/*
 * For pthread_create() and thrd_create(): returns the argument with which the new thread runs sample_run() or sample_run_c11().  NULL:
 * create the thread as the program asks, unsampled.
 */
struct sampler *sample_thread_new(void *start, void *arg);
void *sample_run(void *sampler);
int sample_run_c11(void *sampler);

/* Call after the creation; made: it succeeded.  Frees t if not.  t may be NULL. */
void sample_thread_made(struct sampler *t, bool made);

/* Call when this thread has its stream: starts its timer. */
void sample_thread_begins(struct stream *s);

/* Call at the thread's end, before its stream is released: deletes its timer and writes its current name. */
void sample_thread_ends(struct stream *s);

/* Call on the thread that ends the process: writes its current name. */
void sample_process_ends(void);

/* Call before a seccomp filter forbids rt_sigreturn: this thread is not sampled any more. */
void sample_thread_rests(void);

/* Call in a forked child after each module's forked(): starts sampling anew, as timers are not inherited. */
void sample_forked(void);

/* ---- shared by sample.c and sample_signal.c ---- */

#define SAMPLE_SIGNAL 33
#define SAMPLE_STACK  (64u << 10)       /* bytes for the handler: the program's stack and its alternate signal stack may be small */

/* A sampled thread, in a mapping of its own; the handler's stack is below it. */
struct sampler {
	int timer;                      /* kernel timer id; -1: none */
	uint32_t armed;                 /* epoch in which the timer was made; 0: no timer */
	uint32_t owed;                  /* samples that hit this object's own code, to be written later */
	uint32_t tried;                 /* epoch in which the timer was last attempted */
	char name[THREAD_NAME];         /* the thread name written last: threads name themselves after they start */
	void *start;                    /* the program's thread function and its argument */
	void *arg;
};

/* The calling thread's; NULL: the thread is not sampled. */
extern __thread struct sampler *sampler_self __attribute__((tls_model("initial-exec")));

/* Installs the handler, again if libc has replaced it, and unblocks the signal.  Returns 0, or -1 with errno. */
int sample_take_signal(void);

#endif
