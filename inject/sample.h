/*
 * Samples of what the program's threads do with their CPU time.  Each thread has a timer of its own, which counts that time alone and
 * signals that thread alone: a thread that sleeps is not woken, and a stack is that of the thread that used the time.
 *
 * The signal is the one that libc keeps from programs, for changing the ids of all threads (33, SIGSETXID).  A program cannot catch,
 * block, ignore or wait for it through libc: nothing of the program's is taken, and no thread is missed that blocks all signals.  What
 * libc sends by it is handed on to libc.
 */
#ifndef INJECT_SAMPLE_H
#define INJECT_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

struct sampler;
struct stream;

/* What pthread_create() and thrd_create() are to run in the thread that they make; NULL: as the program says, nothing is sampled. */
struct sampler *sample_thread_new(void *start, void *arg);
void *sample_run(void *sampler);
int sample_run_c11(void *sampler);

/* The thread was made, or (error) was not; NULL: one that is not sampled. */
void sample_thread_made(struct sampler *t, bool made);

/* This thread has got its stream: it is sampled from now on. */
void sample_thread_begins(struct stream *s);

/* This thread ends: its timer goes.  Before its stream does. */
void sample_thread_ends(void);

/* In a forked child, after all parts have forgotten the parent: timers are not inherited. */
void sample_forked(void);

/* ---- between the two files ---- */

#define SAMPLE_SIGNAL 33
#define SAMPLE_STACK  (64u << 10)       /* what a handler may use: the program's stack may be small, and so its alternate one */

/* One thread that is sampled; a mapping of its own, below it the stack for its handler. */
struct sampler {
	int timer;                      /* the kernel's number */
	uint32_t armed;                 /* the epoch of the process that its timer is of; 0: it has none */
	uint32_t owed;                  /* samples that fell into our own code, not written yet */
	uint32_t tried;                 /* the epoch in which it was to get one */
	void *start;                    /* the function that the thread is to run, and its argument */
	void *arg;
};

extern __thread struct sampler *sampler_self __attribute__((tls_model("initial-exec")));

/* Takes the signal, or takes it again when libc has.  0, or -1 and errno. */
int sample_take_signal(void);

#endif
