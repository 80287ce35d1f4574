/*
 * signals_block() blocks signals and disables pthread cancellation on the calling thread; signals_restore() restores both.  Connecting to the
 * collector contains cancellation points, and a signal handler may leave by longjmp().  Either would abandon the connection half-way,
 * possibly inside NVTX's initialisation, for which all other threads would wait for ever.
 *
 * Signals that an instruction raises stay unblocked: the kernel kills the process if one is raised while blocked.  SIGSYS is among them:
 * the program's seccomp filter may answer with SECCOMP_RET_TRAP.
 */
#ifndef INJECT_CORE_SIGNALS_BLOCKED_H
#define INJECT_CORE_SIGNALS_BLOCKED_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct signals_blocked {
	sigset_t signals;
	bool blocked;           /* false: sigprocmask failed (a seccomp filter), nothing to restore */
	int cancel;
};

static inline void signals_block(struct signals_blocked *c)
{
	static const int never[] = { SIGSYS, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };
	sigset_t all;

	sigfillset(&all);
	for (unsigned i = 0; i < sizeof never / sizeof *never; i++)
		sigdelset(&all, never[i]);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &c->cancel);
	c->blocked = pthread_sigmask(SIG_BLOCK, &all, &c->signals) == 0;
}

static inline void signals_restore(const struct signals_blocked *c)
{
	if (c->blocked)
		pthread_sigmask(SIG_SETMASK, &c->signals, NULL);
	pthread_setcancelstate(c->cancel, NULL);
}

#endif
