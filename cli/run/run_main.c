/* gprof-run: runs a program and records it. */
#include "cli/run/run.h"
#include "cli/ui/fail.h"
#include "cli/ui/options.h"
#include "cli/ui/paths.h"
#include "trace/path.h"
#include "trace/wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

struct run_state {
	struct request request;
	struct target target;
	struct env plain, ours;         /* the program's environment without and with the injected object */
	struct run_session session;
	struct program_launch launch;
};

/*
 * In LD_PRELOAD, ':' and ' ' end a name.  Replaces a path that has them by a link in the session's folder.  0, or -1 after an
 * error message.
 */
static int loadable_path(const struct run_session *s, char *path, size_t size)
{
	char link[160];

	if (!path[strcspn(path, ": ")])
		return 0;
	if (path_join(link, sizeof link, s->folder, "inject") < 0 || strlen(link) >= size || link[strcspn(link, ": ")] ||
	    symlink(path, link) < 0)
		return fail("the loader cannot load '%s': its path has a blank or a colon", path);
	strcpy(path, link);
	return 0;
}

static int set_injection_paths(struct run_state *x)
{
	char inject[PATH_MAX];
	bool there = path_ours(PATH_INJECT, inject, sizeof inject) == 0;

	if (!there)
		fail_errno("cannot find gprof-run's library '%s'; nothing inside the program is recorded", inject);
	if (env_copy(&x->ours, x->plain.vars) < 0)
		return -1;
	there = there && loadable_path(&x->session, inject, sizeof inject) == 0;
	if (there && env_switch_libraries_on(&x->ours, x->request.config.trace_libraries) < 0)
		return -1;
	env_unset(&x->ours, WIRE_ENV_RESTORE);
	if (!x->request.restore && env_set(&x->ours, WIRE_ENV_RESTORE, "0") < 0)
		return -1;
	return env_open_doors(&x->ours, x->session.folder, there ? inject : NULL, &x->target,
			      x->request.config.trace_nvtx || x->request.config.trace_libraries);
}

/* Finds the program and makes its environment, before anything is started.  EXIT_OK, or an exit status after an error message. */
static int find_command(struct run_state *x)
{
	if (env_of_request(&x->plain, &x->request, environ) < 0)
		return EXIT_FAILED;
	if (target_find(&x->target, x->request.argv[0], &x->plain) < 0)
		return x->target.status;
	return EXIT_OK;
}

/* Prints, in one rank only, what will not be recorded. */
static void say_what_to_expect(struct run_state *x)
{
	bool say = output_rank() <= 0;

	target_check(&x->target, &x->plain, say);
	if (!say)
		return;
	request_say_ignored();
	target_check_order(&x->request);
}

/* Starts the session.  False, after an error message: the program runs without being recorded. */
static bool start_session(struct run_state *x)
{
	struct config *c = &x->request.config;

	if (!*x->session.folder)
		return false;
	c->main_pid = (uint64_t)x->launch.program;
	output_path(&x->request, x->launch.program, c->output, sizeof c->output);
	if (*c->record_raw)
		output_make_folder(c->record_raw);
	return run_session_start(&x->session, c) == 0;
}

static int run(struct run_state *x)
{
	bool with_us;

	launch_prepare(&x->launch);
	say_what_to_expect(x);
	cupti_hint(&x->target, &x->request, &x->plain, x->request.config.cupti_hint, CONFIG_TEXT);
	if (run_session_make(&x->session) < 0 || set_injection_paths(x) < 0)
		run_session_give_up(&x->session);
	if (launch_hold(&x->launch, &x->target, &x->request, &x->plain, &x->ours) < 0) {
		hint("the program runs without being recorded");
		run_session_give_up(&x->session);
		launch_instead(&x->launch, &x->target, &x->request, &x->plain);
		return -1;
	}
	with_us = start_session(x);
	launch_release(&x->launch, with_us);
	run_session_main(&x->session, x->launch.program);
	follow(&x->launch, &x->session, &x->request);
	launch_check_exec(&x->launch, &x->target);
	after(&x->launch, &x->session, &x->request);
	return 0;
}

int main(int argc, char **argv)
{
	struct run_state x = { .session = RUN_SESSION_INIT };
	int rc = request_parse(&x.request, argc, argv);

	if (rc == OPTIONS_DONE && fflush(stdout) != 0)
		return fail_errno("cannot write to standard output"), EXIT_FAILED;
	if (rc < 0)
		return rc == OPTIONS_DONE ? EXIT_OK : EXIT_USAGE;
	rc = find_command(&x);
	if (rc == EXIT_OK && run(&x) < 0)
		rc = EXIT_NOT_EXECUTABLE;
	run_session_release(&x.session);
	env_release(&x.plain);
	env_release(&x.ours);
	request_release(&x.request);
	if (rc == EXIT_OK)
		launch_end_alike(&x.launch);
	return rc;
}
