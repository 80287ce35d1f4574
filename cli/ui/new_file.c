#include "cli/ui/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ui/fail.h"

#define UNIQUE ".gprof-XXXXXX.part"
#define SUFFIX ".part"

static char unfinished[PATH_MAX];       /* for remove_and_end(); "": none */
static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

static void remove_and_end(int sig)
{
	unlink(unfinished);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Handles signals that would end the process.  A signal that is ignored, as with nohup, stays ignored. */
static void handle_signals(void)
{
	struct sigaction old, new = { .sa_handler = remove_and_end, .sa_flags = SA_NODEFER };

	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(ending[i], &new, NULL);
}

/* /dev/null, a pipe: must be opened directly, because rename() would replace it by a file. */
static bool is_device(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* Creates the unique file.  Signals are blocked until `unfinished` is set, so that the handler removes the file. */
static int make_part(struct new_file *f)
{
	sigset_t ends, before;
	int why;

	sigemptyset(&ends);
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		sigaddset(&ends, ending[i]);
	sigprocmask(SIG_BLOCK, &ends, &before);
	f->fd = mkostemps(f->part, (int)strlen(SUFFIX), O_CLOEXEC);
	why = errno;
	if (f->fd >= 0) {
		memcpy(unfinished, f->part, sizeof unfinished);
		handle_signals();
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = why;
	return f->fd;
}

int new_file_open(struct new_file *f, const char *path, bool replace)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path + 1) : 0;
	struct stat st;

	*f = (struct new_file){ .path = path, .replace = replace, .fd = -1 };
	if (is_device(path)) {
		f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return f->fd < 0 ? fail_errno("cannot write '%s'", path) : 0;
	}
	if (!replace && lstat(path, &st) == 0)
		return fail("'%s' exists; -f replaces it, -o FILE writes elsewhere", path);
	if (snprintf(f->part, sizeof f->part, "%.*s" UNIQUE, folder, path) >= (int)sizeof f->part) {
		errno = ENAMETOOLONG;
		return fail_errno("cannot write '%s'", path);
	}
	if (make_part(f) < 0)
		return fail_errno("cannot write '%s'", path);
	return 0;
}

/*
 * Gives the file its final name.  Without `replace`, link() fails if the name was taken since new_file_open(); on file systems
 * without hard links rename() replaces that file.
 */
static int give_name(const struct new_file *f)
{
	if (!f->replace) {
		if (link(f->part, f->path) == 0)
			return unlink(f->part);
		if (errno == EEXIST)
			return -1;
	}
	return rename(f->part, f->path);
}

int new_file_keep(struct new_file *f)
{
	if (!f->part[0])
		return 0;
	if (give_name(f) < 0) {
		fail_errno("cannot rename '%s' to '%s'", f->part, f->path);
		new_file_drop(f);
		return -1;
	}
	f->part[0] = unfinished[0] = '\0';
	return 0;
}

void new_file_drop(struct new_file *f)
{
	if (f->part[0])
		unlink(f->part);
	f->part[0] = unfinished[0] = '\0';
}
