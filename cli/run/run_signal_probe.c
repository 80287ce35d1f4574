/*
 * Was a signal sent to gprof-run alone, or to its whole process group (kill -TERM -PGID, killpg)?  Only in the first case
 * gprof-run must forward it: programs that count signals ("second one: quit now") must not get it twice.  Linux does not
 * tell, so a process in the same group, the probe, counts the signals that it receives.
 */
#include "cli/run/run.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 50  /* on a busy machine the probe may run later than gprof-run */

extern char **environ;

/*
 * Clears the probe's name and command line, so that pkill for "gprof" or for a word of the command line does not match it:
 * that would look like a signal to the whole group.
 */
static void hide_words(void)
{
	char *first = program_invocation_name;

	prctl(PR_SET_NAME, "run-witness");
	if (environ && environ[0] > first && environ[0] - first < 1 << 20)
		memset(first, 0, (size_t)(environ[0] - first));
}

static void watch(uint32_t *seen, pid_t parent)
{
	sigset_t all;
	int sig;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	launch_close_from(0);
	hide_words();
	sigfillset(&all);
	for (;;) {
		sig = sigwaitinfo(&all, NULL);
		if (sig > 0 && sig < 65)
			__atomic_add_fetch(&seen[sig], 1, __ATOMIC_RELEASE);
	}
}

void group_signal_probe_start(struct group_signal_probe *w)
{
	size_t size = sizeof w->known;
	pid_t parent = getpid();

	w->seen = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (w->seen == MAP_FAILED) {
		w->seen = NULL;
		return;
	}
	w->pid = fork();
	if (w->pid == 0)
		watch(w->seen, parent);
	if (w->pid < 0)
		w->pid = 0;
}

static bool changed(struct group_signal_probe *w, int sig)
{
	uint32_t seen = __atomic_load_n(&w->seen[sig], __ATOMIC_ACQUIRE);
	bool is = seen != w->known[sig];

	w->known[sig] = seen;
	return is;
}

bool group_signal_probe_saw(struct group_signal_probe *w, int sig)
{
	struct timespec ms = { .tv_nsec = 1000000 };

	if (w->pid == 0 || sig < 1 || sig > 64)
		return false;
	for (int i = 0; i < PATIENCE_MS; i++) {
		if (changed(w, sig))
			return true;
		nanosleep(&ms, NULL);
	}
	return changed(w, sig);
}

void group_signal_probe_stop(struct group_signal_probe *w)
{
	if (w->pid > 0) {
		kill(w->pid, SIGKILL);
		waitpid(w->pid, NULL, 0);
	}
	if (w->seen)
		munmap(w->seen, sizeof w->known);
	*w = (struct group_signal_probe){ 0 };
}
