/* gprof-ctl: starts and stops recording in a running session. */
#include "cli/ctl/ctl.h"
#include "cli/ui/cmd.h"
#include "cli/ui/fail.h"
#include "cli/ui/options.h"
#include "cli/ui/screen.h"
#include "trace/clock.h"
#include "trace/version.h"
#include "trace/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ms to wait until all processes follow an order.  An idle process follows it at its next CUDA or NVTX call. */
#define FOLLOW_MS 1000

static int process_number;

static int opt_version(const struct opt *o, const char *value)
{
	(void)o, (void)value;
	screen_print("gprof-ctl %s\n", GPROF_VERSION);
	return OPTIONS_DONE;
}

static int opt_man(const struct opt *o, const char *value);
static int opt_completion(const struct opt *o, const char *value);

static const struct opt opts[] = {
	{ 'p', "process", "N", opt_int, &process_number, "only process N; 'gprof-ctl status' shows the numbers", NULL, 0 },
	{ 'v', "version", NULL, opt_version, NULL, "print the version", NULL, 0 },
	{ 0, "man", NULL, opt_man, NULL, "print the man page (roff)", NULL, OPT_MORE },
	{ 0, "completion", NULL, opt_completion, NULL, "print the completion for bash", NULL, OPT_MORE },
	{ 0 },
};

static const struct cmd cmd_ctl = {
	.words = "start stop status mark list cuda nvtx",
	.args = "[SESSION] start|stop|status|mark|list [cuda] [nvtx]",
	.help = "Start and stop recording in a running session of gprof-run.",
	.more = "  gprof-ctl list              list the running sessions\n"
		"  gprof-ctl start             start recording; a new window begins\n"
		"  gprof-ctl stop              stop recording until the next start\n"
		"  gprof-ctl stop cuda         stop recording CUDA; NVTX continues\n"
		"  gprof-ctl status            print the trace, the window and the processes\n"
		"  gprof-ctl mark TEXT         write a mark with this text into the trace\n"
		"SESSION is a name from 'gprof-ctl list' or the trace's name (server.gtrace).\n"
		"Without SESSION, the only running session is used.\n",
	.opts = opts,
};

static const struct cmd *const cmds[] = { &cmd_ctl, NULL };

static const struct program program = {
	.name = "gprof-ctl",
	.help = "start and stop recording in a running session of gprof-run",
	.text = "Starts and stops recording of a program that runs under gprof-run, any number of times.  The program keeps\n"
		"running.  With \"gprof-run --start-later\" nothing is recorded before the first start.  A window is the time from\n"
		"a start to the next stop.  \"gprof-trace report --window N\" reports on one window.\n\n"
		"Without SESSION, gprof-ctl uses the only running session.  Inside a recorded program, gprof-ctl uses the session\n"
		"of that program.\n"
		"# EXIT STATUS\n"
		"0: done.  1: failed.  2: an option or operand was wrong.\n"
		"# FILES\n"
		"The socket \"ctl\" in the session's folder, gprof-XXXXXX in $XDG_RUNTIME_DIR, $TMPDIR or /tmp.\n"
		"# EXAMPLES\n"
		"Start a server without recording:\n"
		"    gprof-run --start-later -o server -- python serve.py &\n"
		"\n"
		"Record one minute, then report on that minute:\n"
		"    gprof-ctl start; sleep 60; gprof-ctl stop\n"
		"    gprof-trace report --window 1 server.gtrace\n"
		"\n"
		"List the running sessions:\n"
		"    gprof-ctl list\n"
		"\n"
		"See which processes are recorded now:\n"
		"    gprof-ctl status\n"
		"\n"
		"Choose one of several sessions by its name or its trace:\n"
		"    gprof-ctl server start\n"
		"    gprof-ctl server.gtrace stop\n"
		"\n"
		"Record one process only:\n"
		"    gprof-ctl --process 2 start\n"
		"\n"
		"Record NVTX ranges without CUDA:\n"
		"    gprof-ctl start nvtx\n"
		"\n"
		"Stop recording CUDA and keep recording NVTX ranges:\n"
		"    gprof-ctl stop cuda\n"
		"\n"
		"Mark a moment in the trace:\n"
		"    gprof-ctl mark new model loaded\n"
		"\n"
		"Record from inside a shell script that runs under gprof-run:\n"
		"    gprof-run --start-later -- sh -c 'setup; gprof-ctl start; python train.py'\n"
		"# SEE ALSO\n"
		"gprof-run(1), gprof-trace(1)\n",
	.cmds = cmds,
};

static int opt_man(const struct opt *o, const char *value)
{
	(void)o, (void)value;
	options_man(&program, stdout);
	return OPTIONS_DONE;
}

static int opt_completion(const struct opt *o, const char *value)
{
	(void)o, (void)value;
	options_completion(&program, stdout);
	return OPTIONS_DONE;
}

/* ---- the commands ---- */

static int tracers_of(int argc, char **argv, unsigned *mask)
{
	*mask = argc ? 0 : ORDER_ALL;
	for (int i = 0; i < argc; i++) {
		/* Comma-separated, as in gprof-run -t */
		for (const char *p = argv[i];; p++) {
			size_t n = strcspn(p, ",");

			if (n == 4 && memcmp(p, "cuda", n) == 0)
				*mask |= ORDER_CUDA;
			else if (n == 4 && memcmp(p, "nvtx", n) == 0)
				*mask |= ORDER_NVTX;
			else
				return fail("unknown kind '%.*s'; use cuda or nvtx", (int)n, p);
			p += n;
			if (!*p)
				break;
		}
	}
	return 0;
}

/* Waits until all processes follow the order, at most FOLLOW_MS. */
static void wait_followed(struct ctl_session *s, const char *verb)
{
	const struct timespec nap = { .tv_nsec = 5000000 };
	int64_t end = clock_ns(CLOCK_MONOTONIC) + FOLLOW_MS * 1000000ll;
	char answer[CTL_ANSWER];
	unsigned behind = 0, n = 0;

	do {
		if (ctl_ask(s, "followed", answer) < 0 || sscanf(answer, "%u of %u", &behind, &n) != 2 || !behind)
			return;
		nanosleep(&nap, NULL);
	} while (clock_ns(CLOCK_MONOTONIC) < end);
	note("%u of %u processes are idle; they %s at their next CUDA or NVTX call", behind, n, verb);
}

static int start_or_stop(struct ctl_session *s, const char *verb, unsigned mask)
{
	char request[64], answer[CTL_ANSWER];
	unsigned window = 0;

	snprintf(request, sizeof request, "%s %u %d", verb, mask, process_number);
	if (ctl_ask(s, request, answer) < 0)
		return EXIT_FAILED;
	wait_followed(s, verb);
	sscanf(answer, "window %u", &window);
	screen_print("%s: window %u\n", verb[2] == 'a' ? "recording" : "stopped", window);
	return EXIT_OK;
}

static void say_status(struct ctl_session *s, const char *status)
{
	unsigned number, pid, windows, n = 0;
	char state[32], name[64];

	screen_print("session    %s\n", ctl_name(s));
	screen_print("trace      %s", ctl_fact(status, "trace"));
	screen_print(" (%s bytes so far)\n", ctl_fact(status, "bytes"));
	screen_print("recording  %s\n", ctl_fact(status, "recording"));
	screen_print("windows    %s\n", ctl_fact(status, "windows"));
	for (const char *p = strchr(status, '\n'); p; p = strchr(p + 1, '\n')) {
		if (sscanf(p + 1, "process %u %u %31s %u %63[^\n]", &number, &pid, state, &windows, name) != 5)
			continue;
		if (!n++)
			screen_print("%10s  %8s  %-10s  %7s  %s\n", "process", "pid", "recording", "windows", "name");
		screen_print("%10u  %8u  %-10s  %7u  %s\n", number, pid, state, windows, name);
	}
	if (*ctl_fact(status, "more"))
		screen_print("and %s further processes\n", ctl_fact(status, "more"));
}

static int status_of(struct ctl_session *s)
{
	char status[CTL_ANSWER];

	if (ctl_ask(s, "status", status) < 0)
		return EXIT_FAILED;
	say_status(s, status);
	return EXIT_OK;
}

static int mark(struct ctl_session *s, int argc, char **argv)
{
	char request[CTL_ANSWER] = "mark", answer[CTL_ANSWER];

	for (int i = 0; i < argc; i++)
		snprintf(request + strlen(request), sizeof request - strlen(request), " %s", argv[i]);
	if (strlen(request) > 1000)
		return fail("the text of a mark is longer than 1000 bytes"), EXIT_USAGE;
	return ctl_ask(s, request, answer) < 0 ? EXIT_FAILED : EXIT_OK;
}

static int list(void)
{
	struct ctl_session all[64];
	size_t n = ctl_find(all, sizeof all / sizeof *all);
	char status[CTL_ANSWER];

	if (!n)
		screen_print("no session is running\n");
	for (size_t i = 0; i < n; i++) {
		if (ctl_ask(&all[i], "status", status) == 0) {
			screen_print("%s  %-9s  ", ctl_name(&all[i]), ctl_fact(status, "recording"));
			screen_print("%s\n", ctl_fact(status, "trace"));
		}
		ctl_close(&all[i]);
	}
	return EXIT_OK;
}

static bool is_verb(const char *word)
{
	static const char *const verbs[] = { "start", "stop", "status", "mark", "list" };

	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (strcmp(word, verbs[i]) == 0)
			return true;
	return false;
}

/* Checks the command line before a session is searched.  0, or -1 after an error message. */
static int check(int argc, char **argv, const char *name, unsigned *mask)
{
	const char *verb = argc ? argv[0] : name;

	if (!verb)
		fail("missing command: start, stop, status, mark or list");
	else if (!argc && !strchr(verb, '/') && !strstr(verb, ".gtrace") && strncmp(verb, "gprof-", 6) != 0)
		fail("unknown command '%s'; use start, stop, status, mark or list", verb);
	else if (!argc)
		fail("missing command after '%s': start, stop, status or mark", verb);
	else if (!is_verb(verb))
		fail("unknown command '%s'; use start, stop, status, mark or list", verb);
	else if (process_number < 0)
		fail("--process needs a process number, 1 or more");
	else if (strcmp(verb, "mark") == 0)
		return argc > 1 ? 0 : fail("mark needs a text");
	else if (verb[1] == 't' && strcmp(verb, "status") != 0)
		return tracers_of(argc - 1, argv + 1, mask);
	else
		return argc == 1 ? 0 : fail("%s takes no operand, but '%s' was given", verb, argv[1]);
	hint("gprof-ctl --help lists the commands");
	return -1;
}

static int act(struct ctl_session *s, int argc, char **argv, unsigned mask)
{
	const char *verb = argv[0];

	if (strcmp(verb, "mark") == 0)
		return mark(s, argc - 1, argv + 1);
	if (strcmp(verb, "status") == 0)
		return status_of(s);
	return start_or_stop(s, verb, mask);
}

int main(int argc, char **argv)
{
	struct ctl_session s;
	const char *name = NULL;
	unsigned mask = 0;
	int first = options_parse(&cmd_ctl, argc, argv, false), rc;

	if (first < 0)
		return first == OPTIONS_DONE ? EXIT_OK : EXIT_USAGE;
	argc -= first;
	argv += first;
	if (argc && !is_verb(argv[0])) {
		name = *argv++;
		argc--;
	}
	if (check(argc, argv, name, &mask) < 0)
		return EXIT_USAGE;
	if (strcmp(argv[0], "list") == 0)
		return list();
	if (ctl_open(&s, name) < 0)
		return EXIT_FAILED;
	rc = act(&s, argc, argv, mask);
	ctl_close(&s);
	return rc;
}
