/*
 * From exec to the program's end.  The program is in gprof-run's process group, so it receives the terminal's signals
 * itself; signals sent to gprof-run alone are forwarded.  All signals are blocked and read from a signalfd, so there are no
 * signal handlers.
 */
#include "cli/run/run.h"
#include "cli/ui/fail.h"
#include "trace/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* With --wait=primary: longest wait for the collector to write the rows of ended processes. */
#define DRAIN_MS 10000
/*
 * Longest further wait for processes that end shortly after the program (Python's resource tracker, the last reader of a
 * pipe), so that the trace is finished when gprof-run returns.
 */
#define LINGER_MS 300
/* Time between the end of recording and --kill's signal, in which GPU rows are fetched from CUPTI. */
#define KILL_GRACE_MS 200
/* With --wait=all: after this time a line says what gprof-run waits for. */
#define EXPLAIN_MS 3000

struct follow {
	struct program_launch *l;
	struct run_session *s;
	const struct request *r;
	struct group_signal_probe probe;
	int stopped;                    /* signal that stopped the program; 0: it runs */
	bool followed;                  /* gprof-run stopped itself too */
	bool impatient;                 /* a signal asked to end while waiting for the collector */
};

static int64_t now_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

/* ---- stop and continue ---- */

static bool in_foreground(void)
{
	int tty = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	bool yes = tty >= 0 && tcgetpgrp(tty) == getpgrp();

	if (tty >= 0)
		close(tty);
	return yes;
}

/*
 * Stops gprof-run by the signal that stopped the program, so that the shell sees a stopped job.  After a SIGSTOP to the
 * program alone gprof-run stops only if it is in the foreground, where the terminal would otherwise be stuck.
 */
static void stop_too(int sig)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t one;

	if (getpid() == 1 || (sig == SIGSTOP && !in_foreground()))
		return;
	if (sig == SIGSTOP) {
		raise(SIGSTOP);
		return;
	}
	sigaction(sig, &plain, NULL);
	sigemptyset(&one);
	sigaddset(&one, sig);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &one, NULL);           /* the process stops here */
	sigprocmask(SIG_BLOCK, &one, NULL);
}

/* ---- children ---- */

static void program_changed(struct follow *f, int status)
{
	f->followed = false;
	f->stopped = 0;
	if (WIFSTOPPED(status)) {
		f->stopped = WSTOPSIG(status);
	} else if (!WIFCONTINUED(status)) {
		f->l->status = status;
		f->l->ended = true;
	}
}

/* Reads the CPU time of the ended program, which must happen before waitpid() removes the process. */
static void read_cpu_time(struct program_launch *l)
{
	siginfo_t info = { 0 };
	struct timespec t;
	clockid_t clock;

	if (waitid(P_PID, (id_t)l->program, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == l->program &&
	    clock_getcpuclockid(l->program, &clock) == 0 && clock_gettime(clock, &t) == 0)
		l->cpu = t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Waits for all children that changed state; as process 1 this includes orphans. */
static void reap(struct follow *f)
{
	int status;
	pid_t pid;

	if (!f->l->ended)
		read_cpu_time(f->l);
	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
		if (pid == f->l->program)
			program_changed(f, status);
		else if (WIFEXITED(status) || WIFSIGNALED(status)) {
			f->s->collector = pid == f->s->collector ? 0 : f->s->collector;
			f->probe.pid = pid == f->probe.pid ? 0 : f->probe.pid;
		}
	}
}

/* ---- forwarding signals ---- */

static bool from_keyboard(int sig)
{
	return sig == SIGINT || sig == SIGQUIT || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU || sig == SIGWINCH || sig == SIGHUP;
}

/*
 * Whether to forward a signal sent by the kernel.  Keyboard signals reach the whole group, so no.  An alarm that was set
 * before exec is meant for the program, and the kernel sends a terminal's SIGHUP only to the session leader, so yes.
 */
static bool pass_on_systems(struct follow *f, int sig)
{
	if (sig == SIGALRM || sig == SIGVTALRM || sig == SIGPROF)
		return true;
	if (sig == SIGHUP && getsid(0) == getpid())
		return true;
	if (from_keyboard(sig))
		group_signal_probe_saw(&f->probe, sig); /* consumes the probe's copy of this signal */
	return false;
}

static bool wants_passing(struct follow *f, const struct signalfd_siginfo *si)
{
	int sig = (int)si->ssi_signo;
	pid_t sender = (pid_t)si->ssi_pid;

	if (si->ssi_code > 0)
		return pass_on_systems(f, sig);
	if (sender == getpid() || sender == f->l->program)
		return false;
	if (group_signal_probe_saw(&f->probe, sig))
		return false;
	reap(f);
	return !f->l->ended && (sig != SIGCONT || f->stopped);
}

static void pass_on(struct follow *f, const struct signalfd_siginfo *si)
{
	union sigval value = { .sival_ptr = (void *)(uintptr_t)si->ssi_ptr };

	if (f->l->ended || !wants_passing(f, si))
		return;
	if (si->ssi_code == SI_QUEUE)
		sigqueue(f->l->program, (int)si->ssi_signo, value);
	else
		kill(f->l->program, (int)si->ssi_signo);
}

/* After the program ended, a signal that would have ended it ends the wait for the collector. */
static void after_the_end(struct follow *f, int sig)
{
	f->impatient |= sig == SIGINT || sig == SIGTERM || sig == SIGQUIT || sig == SIGHUP;
	if (sig == SIGTSTP)
		raise(SIGSTOP);
}

static void take_signals(struct follow *f)
{
	struct signalfd_siginfo si;

	while (read(f->l->signals, &si, sizeof si) == (ssize_t)sizeof si) {
		if (si.ssi_signo == SIGCHLD)
			reap(f);
		else if (f->l->ended)
			after_the_end(f, (int)si.ssi_signo);
		else if (f->r->capture_signal && (int)si.ssi_signo == f->r->capture_signal)
			run_session_toggle(f->s);
		else
			pass_on(f, &si);
	}
	if (f->stopped && !f->followed) {
		f->followed = true;
		stop_too(f->stopped);
	}
}

/* ---- the loop ---- */

/* Waits for a signal or a message until `end` (ms of CLOCK_MONOTONIC; -1: forever).  Returns as run_session_answer(); 0: no message. */
static int step(struct follow *f, int64_t end)
{
	struct pollfd p[2] = { { .fd = f->l->signals, .events = POLLIN }, { .fd = f->s->control, .events = POLLIN } };
	int64_t left = end < 0 ? -1 : end - now_ms();

	if (end >= 0 && left < 0)
		left = 0;
	if (poll(p, 2, left > 60000 ? 60000 : (int)left) <= 0)
		return 0;
	if (p[0].revents)
		take_signals(f);
	return p[1].revents ? run_session_answer(f->s) : 0;
}

/* The trace was closed when its capture range ended, while the program runs: sends --kill's signal, or says so. */
static void trace_is_closed(struct follow *f)
{
	if (f->r->kill_signal)
		kill(f->l->program, f->r->kill_signal);
	else if (!f->r->quiet)
		note("the recorded range has ended and '%s' is complete; the program continues", f->s->trace);
}

static void follow_program(struct follow *f)
{
	const struct config *c = &f->r->config;
	bool closed = false;
	int64_t end = -1;

	if (c->duration_ms && f->r->kill_signal)
		end = now_ms() + (int64_t)(c->delay_ms + c->duration_ms) + KILL_GRACE_MS;
	reap(f);
	while (!f->l->ended) {
		step(f, end);
		if (f->s->finished && !closed) {
			closed = true;
			trace_is_closed(f);
		}
		if (end >= 0 && now_ms() >= end && !f->l->ended) {
			kill(f->l->program, f->r->kill_signal);
			end = -1;
		}
	}
}

/* Waits until the trace has all rows of ended processes or, with --wait=all, until the last process ended. */
static void follow_collector(struct follow *f)
{
	bool all = f->r->config.wait_all, told = false, drained = false;
	int64_t start = now_ms(), end = start + (all ? EXPLAIN_MS : DRAIN_MS);

	while (f->s->control >= 0 && !f->impatient) {
		int answer = step(f, told ? -1 : end);

		if (f->s->finished)
			return;
		if (answer > 0 && !all && !drained) {
			drained = true;
			end = now_ms() + LINGER_MS;
		}
		if (drained && now_ms() >= end)
			return;
		if (now_ms() < end || told)
			continue;
		if (!all) {
			note("gprof-run waited %d s and ends; the collector is still writing '%s'", DRAIN_MS / 1000, f->s->trace);
			return;
		}
		note("the program ended; waiting for the processes that it started (--wait=all)");
		told = true;
	}
}

static void kill_the_rest(pid_t collector)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;

	while (proc && (e = readdir(proc)) != NULL) {
		pid_t pid = atoi(e->d_name);

		if (pid > 1 && pid != collector)
			kill(pid, SIGKILL);
	}
	if (proc)
		closedir(proc);
}

/*
 * When process 1 of a container ends, the kernel kills all others, including the collector.  So gprof-run as process 1 kills
 * the remaining processes itself and waits for the collector to finish the trace and remove its folder.
 */
static void end_container(struct follow *f)
{
	int64_t end = now_ms() + DRAIN_MS;

	while (f->s->control >= 0 && !f->s->finished && !f->impatient && now_ms() < end) {
		kill_the_rest(f->s->collector);
		step(f, end);
	}
}

void follow(struct program_launch *l, struct run_session *s, const struct request *r)
{
	struct follow f = { .l = l, .s = s, .r = r };

	group_signal_probe_start(&f.probe);
	follow_program(&f);
	group_signal_probe_stop(&f.probe);
	run_session_ended(s, l->program, l->status, l->cpu);
	follow_collector(&f);
	if (getpid() == 1)
		end_container(&f);
}
