/*
 * let_go hello|answer ROWS: makes ROWS marks.  Before the injected object sends hello, or reads the answer, opens so many other connections
 * that the collector closes this idle one.  Prints whether it was closed.
 *
 * Its send() and recvmsg() also replace those of libc in the injected object.
 */
#include <errno.h>
#include <nvtx3/nvToolsExt.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define MOST 80

static bool at_hello, at_answer, was_let_go;

static bool is_over(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };

	return poll(&p, 1, ms) > 0;
}

/* Opens silent connections until the collector closes fd. */
static void need_places(int fd)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int more[MOST], n = 0;

	snprintf(to.sun_path, sizeof to.sun_path, "%s/sock", getenv("GPROF_SESSION"));
	for (; n < MOST && !is_over(fd, 0); n++) {
		more[n] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		if (connect(more[n], (struct sockaddr *)&to, sizeof to) < 0)
			break;
	}
	was_let_go = is_over(fd, 10000);
	while (n > 0)
		close(more[--n]);
}

ssize_t send(int fd, const void *what, size_t size, int flags)
{
	if (at_hello) {
		at_hello = false;
		need_places(fd);
	}
	return syscall(SYS_sendto, fd, what, size, flags, NULL, 0);
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	struct pollfd answer = { .fd = fd, .events = POLLIN };

	if (!at_answer)
		return syscall(SYS_recvmsg, fd, m, flags);
	at_answer = false;
	poll(&answer, 1, 10000);
	need_places(fd);
	errno = EAGAIN;         /* as if the answer had not arrived in time */
	return -1;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	at_hello = strcmp(argv[1], "hello") == 0;
	at_answer = strcmp(argv[1], "answer") == 0;
	for (int i = atoi(argv[2]); i > 0; i--)
		nvtxMarkA("row");
	printf("let go: %d\n", was_let_go);
	return 0;
}
