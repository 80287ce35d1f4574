/*
 * Acts as gprof-run for the collector:
 *
 *	fake_run [-o TRACE] [-s SETTING=VALUE]... [-d SYSCALL] [-l] -- PROGRAM...
 *
 * Prints "collector PID", "session DIR", the collector's messages, "program STATUS" when the program has ended (128 + N: by signal N), and
 * "gone" when the collector has ended.  -l: exits at the program's end without telling the collector.  -d: forbids the collector a system
 * call (memfd_create, pidfd_open, bind or fallocate), as in a hardened container.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/config.h"
#include "trace/wire.h"

static char folder[80];
static char settings[8192];
static bool leaves;
static long denied = -1;

static void die(const char *what)
{
	fprintf(stderr, "fake_run: %s: %s\n", what, strerror(errno));
	exit(3);
}

static void write_config(void)
{
	static struct config c;
	static char text[1 << 16];
	char path[128];
	int fd;
	size_t n;

	config_init(&c);
	c.arena_size = 32 << 20;
	c.transport = TRANSPORT_SHM;    /* fake_guest supports only this */
	if (config_parse(&c, settings, strlen(settings)) < 0)
		die(settings);
	n = config_format(&c, text, sizeof text);
	snprintf(path, sizeof path, "%s/config", folder);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || write(fd, text, n) != (ssize_t)n)
		die(path);
	close(fd);
}

static long syscall_of(const char *name)
{
	static const struct { const char *name; long number; } calls[] = {
		{ "memfd_create", SYS_memfd_create }, { "pidfd_open", SYS_pidfd_open }, { "bind", SYS_bind },
		{ "fallocate", SYS_fallocate },
	};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].number;
	errno = EINVAL;
	die(name);
	return -1;
}

static void deny(long number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof code / sizeof *code, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		die("seccomp");
}

static int start_collector(void)
{
	char path[4096], number[16];
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
		die("socketpair");
	fcntl(pair[0], F_SETFD, FD_CLOEXEC);
	snprintf(path, sizeof path, "%s/lib/gprof/gprof-collector", getenv("GPROF_BUILD"));
	snprintf(number, sizeof number, "%d", pair[1]);
	pid = fork();
	if (pid == 0) {
		if (denied >= 0)
			deny(denied);
		execl(path, path, "--session", folder, "--control", number, NULL);
		die(path);
	}
	close(pair[1]);
	printf("collector %d\nsession %s\n", pid, folder);
	return pair[0];
}

static bool hear(int control)
{
	char text[4097];
	ssize_t n = recv(control, text, sizeof text - 1, 0);

	printf("%.*s\n", n > 0 ? (int)n : 4, n > 0 ? text : "gone");
	return n > 0 && strncmp(text, "closed", 6) != 0 && strncmp(text, "error", 5) != 0;
}

static pid_t start_program(char **argv)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	setenv(WIRE_ENV, folder, 1);
	execvp(argv[0], argv);
	die(argv[0]);
	return -1;
}

int main(int argc, char **argv)
{
	int opt, control, status;
	char word[64];
	pid_t program;

	setvbuf(stdout, NULL, _IOLBF, 0);
	strcpy(settings, "output=run.gtrace\n");
	while ((opt = getopt(argc, argv, "+o:s:d:l")) > 0) {
		if (opt == 'l')
			leaves = true;
		else if (opt == 'd')
			denied = syscall_of(optarg);
		else
			sprintf(settings + strlen(settings), "%s%s\n", opt == 'o' ? "output=" : "", optarg);
	}
	snprintf(folder, sizeof folder, "%s/gprof-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(folder))
		die(folder);
	write_config();
	control = start_collector();
	if (!hear(control))
		return 1;
	program = start_program(argv + optind);
	snprintf(word, sizeof word, "main %d", program);
	send(control, word, strlen(word), MSG_NOSIGNAL);
	waitpid(program, &status, 0);
	printf("program %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	if (leaves)
		return 0;
	snprintf(word, sizeof word, "ended %d", program);
	send(control, word, strlen(word), MSG_NOSIGNAL);
	while (hear(control))
		;
	return 0;
}
