#include "collector/ready.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/clocks.h"
#include "collector/drain.h"
#include "collector/session.h"
#include "trace/health.h"

#define LAST_WAIT_MS 10000
#define COMMAND_MAX  (2 * CONFIG_TEXT + PATH_MAX)

/* Returns how many cycles of the schedule have ended in all processes.  *whole: the rows of these were handed over. */
static uint64_t cycles(struct session *s, bool *whole)
{
	uint64_t n = s->tree.ready_of_gone;

	*whole = true;
	for (size_t i = 0; i < s->tree.n_live; i++) {
		const struct tree_process *p = s->tree.live[i];
		const struct arena *a = p->guest ? p->guest->view.a : NULL;

		if (!a)
			continue;
		n += __atomic_load_n(&a->n_ready, __ATOMIC_ACQUIRE);
		*whole &= guest_flushed(p);
	}
	return n;
}

/* Replaces each {} by the trace's path, quoted for the shell. */
static void fill_in(char *out, size_t size, const char *command, const char *path)
{
	size_t n = 0;

	for (const char *c = command; *c && n + 8 < size; c++) {
		if (c[0] != '{' || c[1] != '}') {
			out[n++] = *c;
			continue;
		}
		out[n++] = '\'';
		for (const char *p = path; *p && n + 8 < size; p++)
			n += (size_t)snprintf(out + n, size - n, *p == '\'' ? "'\\''" : "%c", *p);
		out[n++] = '\'';
		c++;
	}
	out[n] = '\0';
}

static void run(struct session *s)
{
	static const int deaf[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2 };
	char command[COMMAND_MAX];

	fill_in(command, sizeof command, s->config.on_trace_ready, s->out.path);
	s->ready.running = fork();
	if (s->ready.running > 0)
		return;
	if (s->ready.running < 0) {
		s->ready.running = 0;
		health_counts_add(&s->health_counts, HEALTH_ready_failed, 1, clocks_now(CLOCK_MONO), "the command could not be started");
		return;
	}
	for (size_t i = 0; i < sizeof deaf / sizeof *deaf; i++)
		signal(deaf[i], SIG_DFL);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static void reap(struct session *s)
{
	int status;

	if (!s->ready.running || waitpid(s->ready.running, &status, WNOHANG) != s->ready.running)
		return;
	s->ready.running = 0;
	if (status)
		health_counts_add(&s->health_counts, HEALTH_ready_failed, 1, clocks_now(CLOCK_MONO), "%s %d",
				  WIFSIGNALED(status) ? "signal" : "exit status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* Writes all rows so far to the file. */
static void write_all(struct session *s)
{
	for (size_t i = 0; i < s->tree.n_live; i++) {
		struct tree_process *p = s->tree.live[i];

		if (!p->guest)
			continue;
		drain(p, DRAIN_ALL);
		staging_write(&p->guest->staging);
	}
	staging_write(&s->rows);
}

void ready_look(struct session *s)
{
	uint64_t n;
	bool whole;

	if (!s->config.on_trace_ready[0])
		return;
	reap(s);
	n = cycles(s, &whole);
	if (s->ready.running || n == s->ready.started || !whole)
		return;
	s->ready.started = n;
	write_all(s);
	run(s);
}

void ready_last(struct session *s)
{
	const struct timespec nap = { .tv_nsec = 5000000 };
	int64_t end = clocks_now(CLOCK_MONO) + LAST_WAIT_MS * 1000000ll;
	bool whole;

	if (!s->config.on_trace_ready[0])
		return;
	for (int round = 0; round < 2; round++) {
		while (s->ready.running && clocks_now(CLOCK_MONO) < end) {
			reap(s);
			nanosleep(&nap, NULL);
		}
		if (round || cycles(s, &whole) == s->ready.started || s->ready.running)
			continue;
		write_all(s);
		run(s);
	}
	if (s->ready.running)
		health_counts_add(&s->health_counts, HEALTH_ready_failed, 1, clocks_now(CLOCK_MONO), "the command did not end within %d s",
				  LAST_WAIT_MS / 1000);
}
