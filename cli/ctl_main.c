/* gprof-ctl: starts and stops recording in a session that runs. */
#include "cli/cmd.h"
#include "cli/ctl.h"
#include "cli/fail.h"
#include "cli/options.h"
#include "trace/clock.h"
#include "trace/version.h"
#include "trace/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A process that makes no call sees an order when it makes the next. */
#define FOLLOW_MS 1000

static int process_number;

static int opt_version(const struct opt *o, const char *value)
{
	(void)o, (void)value;
	printf("gprof-ctl %s\n", GPROF_VERSION);
	return OPTIONS_DONE;
}

static int opt_man(const struct opt *o, const char *value);
static int opt_completion(const struct opt *o, const char *value);

static const struct opt opts[] = {
	{ 'p', "process", "N", opt_int, &process_number, "one process alone: its number in `status`", NULL, 0 },
	{ 'v', "version", NULL, opt_version, NULL, "print the version", NULL, 0 },
	{ 0, "man", NULL, opt_man, NULL, "print the man page (roff)", NULL, OPT_MORE },
	{ 0, "completion", NULL, opt_completion, NULL, "print the completion for bash", NULL, OPT_MORE },
	{ 0 },
};

static const struct cmd cmd_ctl = {
	.words = "start stop status mark list cuda nvtx",
	.args = "[SESSION] start|stop|status|mark|list [cuda] [nvtx]",
	.help = "Start and stop recording in a running session of gprof-run.",
	.more = "  gprof-ctl list              the sessions that are running\n"
		"  gprof-ctl start             record from now on; each start and stop is a window\n"
		"  gprof-ctl stop              record no more, until the next start\n"
		"  gprof-ctl stop cuda         ... CUDA alone\n"
		"  gprof-ctl status            what is recorded, where, of which processes\n"
		"  gprof-ctl mark TEXT         a mark in the trace\n"
		"SESSION is a name of the list, or its trace (server, server.gtrace); one that runs alone needs none.\n",
	.opts = opts,
};

static const struct cmd *const cmds[] = { &cmd_ctl, NULL };

static const struct program program = {
	.name = "gprof-ctl",
	.help = "start and stop recording in a running session",
	.text = "Controls a program that runs under gprof-run: starts and stops recording, any number of times, without touching\n"
		"the program.  With \"gprof-run --start-later\" nothing is recorded before the first start.  Each start and the\n"
		"next stop are a window: \"gprof-trace report --window N\" is about that time alone.\n\n"
		"A session that runs alone needs no name.  Inside of a program that is recorded, its own session is meant.\n"
		"# EXIT STATUS\n"
		"0: done; 1: it could not be done; 2: a word was wrong.\n"
		"# FILES\n"
		"The socket \"ctl\" in the session's folder, gprof-XXXXXX in $XDG_RUNTIME_DIR, $TMPDIR or /tmp.\n"
		"# EXAMPLES\n"
		"    gprof-run --start-later -o server -- python serve.py &\n"
		"    gprof-ctl start; sleep 60; gprof-ctl stop\n"
		"    gprof-trace report --window 1 server.gtrace\n"
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

/* ---- what the words mean ---- */

static int tracers_of(int argc, char **argv, unsigned *mask)
{
	*mask = argc ? 0 : ORDER_ALL;
	for (int i = 0; i < argc; i++) {
		/* As in gprof-run -t: cuda,nvtx */
		for (const char *p = argv[i];; p++) {
			size_t n = strcspn(p, ",");

			if (n == 4 && memcmp(p, "cuda", n) == 0)
				*mask |= ORDER_CUDA;
			else if (n == 4 && memcmp(p, "nvtx", n) == 0)
				*mask |= ORDER_NVTX;
			else
				return fail("'%.*s' cannot be started or stopped; cuda and nvtx can", (int)n, p);
			p += n;
			if (!*p)
				break;
		}
	}
	return 0;
}

/* Until all processes have seen the order, or for a second. */
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
	note("%u of %u processes make no calls now; they %s with their next", behind, n, verb);
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
	printf("%s: window %u\n", verb[2] == 'a' ? "recording" : "stopped", window);
	return EXIT_OK;
}

static void say_status(struct ctl_session *s, const char *status)
{
	unsigned number, pid, windows, n = 0;
	char state[32], name[64];

	printf("session    %s\n", ctl_name(s));
	printf("trace      %s", ctl_fact(status, "trace"));
	printf(" (%s bytes so far)\n", ctl_fact(status, "bytes"));
	printf("recording  %s\n", ctl_fact(status, "recording"));
	printf("windows    %s\n", ctl_fact(status, "windows"));
	for (const char *p = strchr(status, '\n'); p; p = strchr(p + 1, '\n')) {
		if (sscanf(p + 1, "process %u %u %31s %u %63[^\n]", &number, &pid, state, &windows, name) != 5)
			continue;
		if (!n++)
			printf("%10s  %8s  %-10s  %7s  %s\n", "process", "pid", "recording", "windows", "name");
		printf("%10u  %8u  %-10s  %7u  %s\n", number, pid, state, windows, name);
	}
	if (*ctl_fact(status, "more"))
		printf("and %s processes more\n", ctl_fact(status, "more"));
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
		return fail("a mark has at most 1000 bytes"), EXIT_USAGE;
	return ctl_ask(s, request, answer) < 0 ? EXIT_FAILED : EXIT_OK;
}

static int list(void)
{
	struct ctl_session all[64];
	size_t n = ctl_find(all, sizeof all / sizeof *all);
	char status[CTL_ANSWER];

	if (!n)
		printf("no session is running\n");
	for (size_t i = 0; i < n; i++) {
		if (ctl_ask(&all[i], "status", status) == 0) {
			printf("%s  %-9s  ", ctl_name(&all[i]), ctl_fact(status, "recording"));
			printf("%s\n", ctl_fact(status, "trace"));
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

/* What is wrong with the words is said before a session is looked for. */
static int check(int argc, char **argv, const char *name, unsigned *mask)
{
	const char *verb = argc ? argv[0] : name;

	if (!verb)
		fail("what is to be done? start, stop, status, mark or list");
	else if (!argc && !strchr(verb, '/') && !strstr(verb, ".gtrace") && strncmp(verb, "gprof-", 6) != 0)
		fail("'%s' is none of start, stop, status, mark, list", verb);
	else if (!argc)
		fail("what is to be done with '%s'? start, stop, status or mark", verb);
	else if (!is_verb(verb))
		fail("'%s' is none of start, stop, status, mark, list", verb);
	else if (process_number < 0)
		fail("--process needs the number of a process, from 1");
	else if (strcmp(verb, "mark") == 0)
		return argc > 1 ? 0 : fail("mark needs a text");
	else if (verb[1] == 't' && strcmp(verb, "status") != 0)
		return tracers_of(argc - 1, argv + 1, mask);
	else
		return argc == 1 ? 0 : fail("%s takes no further words, such as '%s'", verb, argv[1]);
	hint("gprof-ctl --help says more");
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
