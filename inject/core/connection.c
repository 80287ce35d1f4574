#include "inject/core/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "inject/core/seccomp.h"
#include "inject/core/session.h"

#define HIGH_NUMBER 1000

/* Descriptors of the handshake, each + 1; 0: none.  A child that another thread forks during the handshake closes its copies. */
static int open_fds[3];

/* Time until the deadline (MONOTONIC ns), at least 1 ms. */
static struct timeval left(int64_t deadline)
{
	int64_t us = (deadline - clock_ns(CLOCK_MONOTONIC)) / 1000;

	if (us < 1000)
		us = 1000;
	return (struct timeval){ .tv_sec = us / 1000000, .tv_usec = us % 1000000 };
}

/*
 * Other threads may close all descriptors at any moment and open files, which get the lowest free numbers: a high number is safer.
 * HIGH_NUMBER is small because the kernel's table grows with the number.
 */
static int move_up(int fd)
{
	int high = seccomp_allows(SECCOMP_MOVE) ? fcntl(fd, F_DUPFD_CLOEXEC, HIGH_NUMBER) : -1;

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

int connection_dial(const char *folder, int64_t deadline)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct timeval tv = left(deadline);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	fd = move_up(fd);
	open_fds[0] = fd + 1;
	strcpy(to.sun_path, folder);
	strcat(to.sun_path, "/sock");
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv);        /* bounds connect() too */
	while (connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
		if (errno != EINTR || clock_ns(CLOCK_MONOTONIC) > deadline)
			return -1;      /* EAGAIN: the backlog was full until the deadline */
	return fd;
}

int connection_hello(int fd, const struct wire_hello *h)
{
	ssize_t n;

	do
		n = send(fd, h, sizeof *h, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof *h ? 0 : -1;
}

/* Takes the descriptors of a packet; fewer than two if the program's descriptor limit, or a security module, allows no more. */
static void take_fds(struct msghdr *m, int fds[2])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	size_t n = 0;

	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len > CMSG_LEN(0))
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	if (n > 2)
		n = 2;
	if (n)
		memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	for (size_t i = 0; i < n; i++)
		open_fds[1 + i] = fds[i] + 1;
}

/* guest->config is received in place: a hook may run on a small stack. */
int connection_welcome(int fd, int64_t deadline, struct wire_welcome *w, int fds[2])
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec iov[2] = { { w, sizeof *w }, { &guest->config, sizeof guest->config } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes };
	ssize_t n;

	do {
		struct timeval tv = left(deadline);

		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
		n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR && clock_ns(CLOCK_MONOTONIC) < deadline);

	fds[0] = fds[1] = -1;
	if (n < 0)
		return -1;
	if (n > 0)
		take_fds(&m, fds);
	errno = EPROTO;
	if (n < (ssize_t)sizeof *w || w->version != WIRE_VERSION || w->size != sizeof *w)
		return -1;
	errno = EACCES;
	if (w->refused)
		return -1;
	errno = EPROTO;
	return n == (ssize_t)(sizeof *w + sizeof guest->config) && w->config_size == sizeof guest->config ? 0 : -1;
}

void connection_note(int memory)
{
	open_fds[1] = memory + 1;
}

static void forget(unsigned i)
{
	int fd = open_fds[i] - 1;

	open_fds[i] = 0;
	if (fd >= 0)
		close(fd);
}

void connection_drop_memory(void)
{
	int saved = errno;

	forget(1);
	errno = saved;
}

/* forget() clears the entry before close(): afterwards the program may get the same number. */
void connection_close(void)
{
	int saved = errno;

	for (unsigned i = 0; i < 3; i++)
		forget(i);
	errno = saved;
}

bool connection_is_memory(int fd, uint64_t size)
{
	struct stat st;

	if (!seccomp_allows(SECCOMP_MOVE))
		return true;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == size)
		return true;
	errno = EBADF;
	return false;
}
