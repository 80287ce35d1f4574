/* After the program ended: prints the page or the trace's name, then does --stats and --export. */
#include "cli/input/input.h"
#include "cli/page/page.h"
#include "cli/run/run.h"
#include "cli/ui/fail.h"
#include "cli/ui/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The tables that nsys prints for --stats and this version has. */
#define STATS "nvtx_pushpop_sum,cuda_api_sum,cuda_gpu_kern_sum,cuda_gpu_mem_time_sum,cuda_gpu_mem_size_sum"

static const struct program_launch *ended; /* for the handler below */

/* A signal while the page is made: end at once, as the program ended. */
static void end_now(int sig)
{
	(void)sig;
	launch_end_alike(ended);
}

static void allow_interruption(const struct program_launch *l)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction act = { .sa_handler = end_now };
	sigset_t set;

	ended = l;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		sigaction(signals[i], &act, NULL);
		sigaddset(&set, signals[i]);
	}
	sigaddset(&set, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Runs gprof-trace.  Its output goes to stderr, because stdout belongs to the program. */
static void run_tool(const struct program_launch *l, char *const *argv)
{
	char path[PATH_MAX];
	pid_t parent = getpid(), pid;
	int null;

	if (path_ours(PATH_TRACE, path, sizeof path) < 0) {
		fail_errno("cannot find '%s'", path);
		return;
	}
	pid = fork();
	if (pid < 0)
		fail_errno("cannot start '%s'", path);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		null = open("/dev/null", O_RDONLY);
		dup2(null, STDIN_FILENO);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		launch_restore_signals(l);
		if (getppid() == parent)
			execv(path, argv);
		_exit(EXIT_NOT_FOUND);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Exports to each format in list.  overwrite (-f) also replaces an existing export, which is named after the trace. */
static void export_all(const struct program_launch *l, const struct run_session *s, char *list, bool overwrite)
{
	for (char *format; (format = strsep(&list, ","));) {
		char *argv[] = { "gprof-trace", "export", "--format", format, (char *)s->trace, overwrite ? "-f" : NULL, NULL };

		run_tool(l, argv);
	}
}

/* Prints the page with one write, because several ranks may share a terminal. */
static void print_page(const char *trace)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	if (out)
		page_print(&(struct input){ .path = trace }, out, 0, NULL);
	if (out && fclose(out) == 0 && n)
		fwrite(text, 1, n, stderr);
	else
		note("the trace is '%s'", trace);
	free(text);
}

void after(const struct program_launch *l, const struct run_session *s, const struct request *r)
{
	char *report[] = { "gprof-trace", "report", "-r", STATS, (char *)s->trace, NULL };

	if (!*s->trace)
		return;
	allow_interruption(l);
	if (s->lost)
		note("the collector ended before the program; '%s' has all rows that were written before that", s->trace);
	if (r->quiet || output_rank() > 0)
		note("the trace is '%s'", s->trace);
	else
		print_page(s->trace);
	if (r->stats)
		run_tool(l, report);
	if (r->exports)
		export_all(l, s, r->exports, r->config.overwrite);
}
