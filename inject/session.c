#include "inject/session.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "inject/module.h"
#include "inject/roster.h"

/* Before the page exists, and where it cannot be had: then only the fork handler resets it. */
static struct guest boot;
struct guest *guest = &boot;

static char folder[sizeof ((struct sockaddr_un *)0)->sun_path];
static uint32_t flags_at_fork;          /* PROCESS_ bits of a forked child */

bool session_wanted(void)
{
	return folder[0] != '\0';
}

int session_real_pid(void)
{
	return (int)syscall(SYS_getpid);
}

static void init(void)
{
	const char *dir = getauxval(AT_SECURE) ? NULL : getenv(WIRE_ENV);
	const char *list = getenv("LD_PRELOAD");
	void *page;

	if (!dir || dir[0] != '/' || strlen(dir) + sizeof "/roster" > sizeof folder)
		return;
	strcpy(folder, dir);
	page = mmap(NULL, sizeof *guest, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page != MAP_FAILED) {
		madvise(page, sizeof *guest, MADV_WIPEONFORK);
		guest = page;
	}
	guest->start = clock_ns(CLOCK_REALTIME);
	bool preloaded = list && strstr(list, "libgprof_inject.so");
	if (preloaded)
		guest->flags |= PROCESS_PRELOADED;
	roster_line(folder, preloaded ? 'c' : 'd', guest->start, program_invocation_short_name);
}

/* ms from now until the deadline, at least 1. */
static struct timeval left(int64_t deadline)
{
	int64_t us = (deadline - clock_ns(CLOCK_MONOTONIC)) / 1000;

	if (us < 1000)
		us = 1000;
	return (struct timeval){ .tv_sec = us / 1000000, .tv_usec = us % 1000000 };
}

static int dial(int64_t deadline)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct timeval tv = left(deadline);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	strcpy(to.sun_path, folder);
	strcat(to.sun_path, "/sock");
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv);        /* bounds connect() too */
	while (connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
		if (errno != EINTR || clock_ns(CLOCK_MONOTONIC) > deadline) {
			int e = errno;

			close(fd);
			errno = e;
			return -1;
		}
	}
	return fd;
}

static int say_hello(int fd)
{
	struct wire_hello h = {
		.version = WIRE_VERSION,
		.size = sizeof h,
		.pid = (uint32_t)session_real_pid(),
		.ppid = (uint32_t)getppid(),
		.start = guest->start,
		.flags = guest->flags | flags_at_fork,
	};
	ssize_t n;

	strncpy(h.name, program_invocation_short_name, sizeof h.name - 1);
	do
		n = send(fd, &h, sizeof h, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof h ? 0 : -1;
}

/* The welcome and its two descriptors.  The configuration goes straight into place: a hook may run on a small stack. */
static int hear_welcome(int fd, int64_t deadline, struct wire_welcome *w, int fds[2])
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

	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;

	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(2 * sizeof(int)))
		memcpy(fds, CMSG_DATA(c), 2 * sizeof(int));
	if (n < 0)
		return -1;
	errno = EPROTO;
	if (n < (ssize_t)sizeof *w || w->version != WIRE_VERSION || w->size != sizeof *w)
		return -1;
	errno = EACCES;
	if (w->refused)
		return -1;
	errno = EPROTO;
	return n == (ssize_t)(sizeof *w + sizeof guest->config) && w->config_size == sizeof guest->config ? 0 : -1;
}

static int map_arena(const struct wire_welcome *w, const int fds[2])
{
	struct arena *a = mmap(NULL, w->arena_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fds[0], 0);
	void *bell = a == MAP_FAILED ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);

	if (bell == MAP_FAILED) {
		if (a != MAP_FAILED)
			munmap(a, w->arena_size);
		return -1;
	}
	if (a->magic != ARENA_MAGIC || a->version != WIRE_VERSION || a->size != w->arena_size) {
		munmap(a, w->arena_size);
		munmap(bell, 4096);
		errno = EPROTO;
		return -1;
	}
	guest->arena = a;
	guest->bell = bell;
	guest->process = w->process;
	guest->clock = w->clock;
	return 0;
}

static int handshake(int64_t deadline)
{
	struct wire_welcome w = { 0 };
	int fds[2] = { -1, -1 };
	int fd = dial(deadline);
	int rc = -1;

	if (fd >= 0 && say_hello(fd) == 0 && hear_welcome(fd, deadline, &w, fds) == 0)
		rc = map_arena(&w, fds);

	int e = errno;

	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (fd >= 0)
		close(fd);
	errno = e;
	return rc;
}

/* Another thread is connecting.  Bounded: past the deadline this row is not recorded, the next may be. */
static bool wait_for_other(void)
{
	const struct timespec nap = { .tv_nsec = 100000 };

	for (int i = 0; i < WIRE_HANDSHAKE_MS * 10; i++) {
		uint32_t state = __atomic_load_n(&guest->state, __ATOMIC_ACQUIRE);

		if (state != SESSION_CONNECTING)
			return state == SESSION_UP;
		nanosleep(&nap, NULL);
	}
	return false;
}

static bool connect_first(void)
{
	int64_t begin = clock_ns(CLOCK_MONOTONIC);

	if (!guest->start)      /* a child that no fork handler saw */
		guest->start = clock_ns(CLOCK_REALTIME);
	if (handshake(begin + WIRE_HANDSHAKE_MS * 1000000ll) < 0) {
		roster_line(folder, 'x', guest->start, strerror(errno));
		__atomic_store_n(&guest->state, SESSION_OFF, __ATOMIC_RELEASE);
		return false;
	}

	struct arena *a = guest->arena;

	__atomic_fetch_or(&a->flags, guest->flags | flags_at_fork | PROCESS_CONNECTED, __ATOMIC_RELAXED);
	__atomic_store_n(&a->life, LIFE_RUNNING, __ATOMIC_RELEASE);
	__atomic_store_n(&guest->epoch, (uint32_t)session_real_pid(), __ATOMIC_RELEASE);
	__atomic_store_n(&guest->state, SESSION_UP, __ATOMIC_RELEASE);
	/* Once more: a flag set by another thread meanwhile went to guest->flags alone. */
	__atomic_fetch_or(&a->flags, guest->flags, __ATOMIC_RELAXED);
	return true;
}

bool session_connect(void)
{
	uint32_t state = __atomic_load_n(&guest->state, __ATOMIC_ACQUIRE);
	int saved = errno;
	bool up;

	if (state == SESSION_UP)
		return true;
	if (state == SESSION_OFF || !session_wanted())
		return false;
	state = SESSION_NEW;
	if (__atomic_compare_exchange_n(&guest->state, &state, SESSION_CONNECTING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		up = connect_first();
	else
		up = wait_for_other();
	errno = saved;
	return up;
}

void session_flag(uint32_t bits)
{
	__atomic_fetch_or(&guest->flags, bits, __ATOMIC_RELAXED);
	if (__atomic_load_n(&guest->state, __ATOMIC_ACQUIRE) == SESSION_UP)
		__atomic_fetch_or(&guest->arena->flags, bits, __ATOMIC_RELAXED);
}

void session_ring(void)
{
	struct bell *bell = guest->bell;
	int saved = errno;

	__atomic_fetch_add(&bell->rings, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&bell->sleeping, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &bell->rings, FUTEX_WAKE, 1, NULL, NULL, 0);
	errno = saved;
}

/* The page is zeroes already where the kernel could do it; the parent's mapping is of no use here. */
static void forked(void)
{
	if (guest == &boot || guest->epoch)
		memset(guest, 0, sizeof *guest);
	guest->start = clock_ns(CLOCK_REALTIME);
	flags_at_fork |= PROCESS_FORKED;
	if (session_wanted())
		roster_line(folder, flags_at_fork & PROCESS_FORKED_CUDA ? 'F' : 'f', guest->start, program_invocation_short_name);
}

void session_forked_after_cuda(void)
{
	flags_at_fork |= PROCESS_FORKED_CUDA;
}

const struct module session_module = { .init = init, .forked = forked };
