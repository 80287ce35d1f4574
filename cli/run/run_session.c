/* The session: its folder, the start of the collector, and the messages between gprof-run and the collector. */
#include "cli/run/run.h"
#include "cli/ui/fail.h"
#include "cli/ui/paths.h"
#include "trace/clock.h"
#include "trace/path.h"
#include "trace/wire.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Longest wait for the collector's start.  It takes milliseconds unless the file system hangs, which must not block the job. */
#define READY_MS 10000

#define MESSAGE_MAX 4096

extern char **environ;

/* ---- the folder ---- */

static bool is_ours(const char *name)
{
	static const char *const names[] = { WIRE_FOLDER };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return strncmp(name, "order.", 6) == 0;
}

static void remove_folder(struct run_session *s)
{
	DIR *d = *s->folder ? opendir(s->folder) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (is_ours(e->d_name))
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	if (*s->folder)
		rmdir(s->folder);
	s->folder[0] = '\0';
}

/* Whether a socket in a session folder there fits sockaddr_un. */
static bool folder_fits(const char *path)
{
	struct sockaddr_un a;

	return *path == '/' && strlen(path) + strlen("/gprof-XXXXXX/sock") < sizeof a.sun_path;
}

/* Writes a file of the size of the settings, to find a full disk while another folder can still be chosen. */
static bool reserve_config(const struct run_session *s)
{
	static const char zeros[sizeof(struct config)];
	char path[160];
	ssize_t n;
	int fd;

	if (path_join(path, sizeof path, s->folder, "config") < 0 ||
	    (fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0)
		return false;
	n = write(fd, zeros, sizeof zeros);
	close(fd);
	if (n >= 0 && n < (ssize_t)sizeof zeros)
		errno = ENOSPC;         /* a partial write sets no errno */
	return n == (ssize_t)sizeof zeros;
}

static bool try_folder(struct run_session *s, const char *parent)
{
	int saved;

	if (!parent || !folder_fits(parent))
		return false;
	if (path_join(s->folder, sizeof s->folder, parent, "gprof-XXXXXX") < 0 || !mkdtemp(s->folder)) {
		s->folder[0] = '\0';
		return false;
	}
	if (reserve_config(s))
		return true;
	saved = errno;
	remove_folder(s);
	errno = saved;
	return false;
}

int run_session_make(struct run_session *s)
{
	if (try_folder(s, getenv("XDG_RUNTIME_DIR")) || try_folder(s, getenv("TMPDIR")) || try_folder(s, "/tmp"))
		return 0;
	fail_errno("cannot make a session folder in XDG_RUNTIME_DIR, TMPDIR or /tmp");
	hint("the program runs without being recorded; set TMPDIR to a folder that can be written");
	return -1;
}

static int write_config(const struct run_session *s, const struct config *c)
{
	char path[160], *text;
	size_t n = config_format(c, NULL, 0);
	int fd, rc = -1;

	text = malloc(n + 1);
	if (!text)
		return fail("out of memory");
	config_format(c, text, n + 1);
	fd = path_join(path, sizeof path, s->folder, "config") < 0 ? -1 : open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, n) != (ssize_t)n || ftruncate(fd, (off_t)n) < 0) {
		fail_errno("cannot write '%s'", path);
		goto out;
	}
	rc = 0;
out:
	if (fd >= 0)
		close(fd);
	free(text);
	return rc;
}

/* ---- the collector ---- */

/* In the child: becomes the collector, with the control socket as its only descriptor.  Does not return. */
static void become_collector(const char *program, const char *folder, int control)
{
	static const char *const injection_variables[] = { "LD_PRELOAD", WIRE_ENV, "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH" };
	static const int deaf[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
	int null = open("/dev/null", O_RDWR);
	char text[32];
	sigset_t none;

	setsid();
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	if (control == 3)
		fcntl(3, F_SETFD, 0);
	else
		dup2(control, 3);
	launch_close_from(4);
	/* An outer session must not record this collector.  GPROF_SESSION is set to "", so that it is not put back at exec. */
	for (size_t i = 0; i < sizeof injection_variables / sizeof *injection_variables; i++)
		unsetenv(injection_variables[i]);
	setenv(WIRE_ENV, "", 1);
	for (size_t i = 0; i < sizeof deaf / sizeof *deaf; i++)
		signal(deaf[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execl(program, program, "--session", folder, "--control", "3", (char *)NULL);
	send(3, text, (size_t)snprintf(text, sizeof text, "exec %d", errno), MSG_NOSIGNAL);
	_exit(EXIT_NOT_FOUND);
}

static int start_collector(struct run_session *s)
{
	char program[PATH_MAX];
	int pair[2];

	if (path_ours(PATH_COLLECTOR, program, sizeof program) < 0)
		return fail_errno("cannot find the collector '%s'", program);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fail_errno("cannot make a socket for the collector");
	s->collector = fork();
	if (s->collector == 0)
		become_collector(program, s->folder, pair[1]);
	close(pair[1]);
	s->control = pair[0];
	return s->collector < 0 ? fail_errno("cannot start the collector") : 0;
}

/* ---- messages ---- */

/* Receives a message as text.  Returns its length; 0: the collector has ended; -1: no message. */
static ssize_t receive(struct run_session *s, char *text, int flags)
{
	ssize_t n;

	do
		n = recv(s->control, text, MESSAGE_MAX - 1, flags);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno != EAGAIN)
		n = 0;
	text[n > 0 ? n : 0] = '\0';
	return n;
}

static void say_to_collector(struct run_session *s, const char *word)
{
	if (s->control >= 0)
		send(s->control, word, strlen(word), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Closes the control socket. */
static void hang_up(struct run_session *s)
{
	if (s->control >= 0)
		close(s->control);
	s->control = -1;
}

static int wait_ready(struct run_session *s)
{
	struct pollfd p = { .fd = s->control, .events = POLLIN };
	int64_t end = clock_ns(CLOCK_MONOTONIC) / 1000000 + READY_MS, now;
	char text[MESSAGE_MAX];

	do {
		now = clock_ns(CLOCK_MONOTONIC) / 1000000;
	} while (now < end && poll(&p, 1, (int)(end - now)) < 0 && errno == EINTR);
	if (!p.revents)
		return fail("the collector was not ready within %d s", READY_MS / 1000);
	if (receive(s, text, 0) <= 0)
		return fail("the collector ended before it was ready");
	if (strncmp(text, "ready ", 6) == 0) {
		snprintf(s->trace, sizeof s->trace, "%s", text + 6);
		return 0;
	}
	if (strncmp(text, "error ", 6) == 0)
		return fail("%s", text + 6);
	if (strncmp(text, "exec ", 5) == 0)
		return errno = atoi(text + 5), fail_errno("cannot execute the collector");
	return fail("unexpected message from the collector: '%s'", text);
}

/* Kills the collector: if it did not answer in time, it may still be working on a file system that hangs. */
void run_session_give_up(struct run_session *s)
{
	hang_up(s);
	if (s->collector > 0)
		kill(s->collector, SIGKILL);
	if (s->collector > 0)
		waitpid(s->collector, NULL, 0);
	s->collector = 0;
	remove_folder(s);
}

/* Prints where the trace is and why, if it is not at the requested path. */
static void say_place(const struct run_session *s, const struct config *c)
{
	const char *slash = strrchr(c->output, '/'), *got = strrchr(s->trace, '/');
	size_t folder = slash ? (size_t)(slash - c->output) : 0;

	if (!got || (size_t)(got - s->trace) != folder || strncmp(s->trace, c->output, folder) != 0)
		note("the trace is '%s', because '%s' cannot be written", s->trace, c->output);
	else if (c->overwrite)
		note("the trace is '%s', because '%s' cannot be replaced; is it still being written?", s->trace, slash + 1);
	else
		note("the trace is '%s', because '%s' exists; -f replaces it", s->trace, slash + 1);
}

/* Creates an empty file in the session's folder, which tells the program's processes what is recorded before they connect. */
static int announce(const struct run_session *s, const char *what, bool wanted)
{
	char path[160];
	int fd;

	if (!wanted)
		return 0;
	if (path_join(path, sizeof path, s->folder, what) < 0 ||
	    (fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) < 0)
		return fail_errno("cannot write '%s'", path);
	close(fd);
	return 0;
}

static int announce_all(const struct run_session *s, const struct config *c)
{
	if (announce(s, WIRE_SAMPLES, c->sample) < 0 || announce(s, WIRE_TORCH, c->trace_torch) < 0 ||
	    announce(s, WIRE_TORCH_OPS, c->trace_torch > 1) < 0)
		return -1;
	return announce(s, WIRE_TORCH_SHAPES, c->torch_shapes) < 0 ? -1 : announce(s, WIRE_TORCH_MEMORY, c->torch_memory);
}

int run_session_start(struct run_session *s, const struct config *c)
{
	if (write_config(s, c) == 0 && announce_all(s, c) == 0 && start_collector(s) == 0 && wait_ready(s) == 0) {
		if (strcmp(s->trace, c->output) != 0)
			say_place(s, c);
		return 0;
	}
	hint("the program runs without being recorded");
	run_session_give_up(s);
	return -1;
}

void run_session_main(struct run_session *s, pid_t pid)
{
	char word[32];

	snprintf(word, sizeof word, "main %d", (int)pid);
	say_to_collector(s, word);
}

void run_session_ended(struct run_session *s, pid_t pid, int status, int64_t cpu)
{
	char word[96];
	unsigned how = WIFSIGNALED(status) ? ENDED_SIGNAL : ENDED_EXIT;

	snprintf(word, sizeof word, "ended %d %u %d %" PRId64, (int)pid, how,
		 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), cpu);
	say_to_collector(s, word);
}

void run_session_toggle(struct run_session *s)
{
	say_to_collector(s, "toggle");
}

int run_session_answer(struct run_session *s)
{
	char text[MESSAGE_MAX];
	ssize_t n = receive(s, text, MSG_DONTWAIT);

	if (n == 0) {
		s->lost = !s->finished;
		hang_up(s);
		return -1;
	}
	if (strncmp(text, "error ", 6) == 0)
		fail("%s", text + 6);
	/* The trace was moved because its folder vanished; "closed" follows. */
	if (strncmp(text, "moved ", 6) == 0)
		snprintf(s->trace, sizeof s->trace, "%s", text + 6);
	s->finished |= strcmp(text, "closed") == 0;
	return s->finished || strcmp(text, "drained") == 0;
}

void run_session_release(struct run_session *s)
{
	hang_up(s);
	if (s->lost)
		remove_folder(s);
}
