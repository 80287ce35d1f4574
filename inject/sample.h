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

#include <pthread.h>

#include "trace/records.h"

struct sampler;

/* pthread_create() as the program called it, by the real one. */
int sample_create(int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *), pthread_t *thread,
		  const pthread_attr_t *attr, void *(*start)(void *), void *arg);

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
	uint32_t armed;
	uint32_t owed;                  /* samples that fell into our own code, not written yet */
	uint32_t reserved;
	void *(*start)(void *);         /* what the thread is to run */
	void *arg;
};

extern __thread struct sampler *sampler_self __attribute__((tls_model("initial-exec")));

/* Takes the signal, or takes it again when libc has.  0, or -1 and errno. */
int sample_take_signal(void);

#endif
