#include "inject/session.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "inject/calm.h"
#include "inject/carrier.h"
#include "inject/health.h"
#include "inject/module.h"
#include "inject/roster.h"

/* Before the page exists, and where it cannot be had: then only the fork handler resets it. */
static struct guest boot;
struct guest *guest = &boot;

static char folder[sizeof ((struct sockaddr_un *)0)->sun_path];
static uint32_t kept_flags;             /* PROCESS_ bits that a forked child has, too */
static bool wiped;                      /* the kernel clears the page in a child */

/* Of the handshake; a child that another thread forks meanwhile closes its copies.  0: none. */
static int open_fds[3];

bool session_wanted(void)
{
	return folder[0] != '\0';
}

bool session_file(const char *name)
{
	char path[sizeof folder + 1 + WIRE_FILE_MAX];
	int saved = errno;
	bool there;

	if (!session_wanted())
		return false;
	strcat(strcat(strcpy(path, folder), "/"), name);
	there = access(path, F_OK) == 0;
	errno = saved;
	return there;
}

int session_real_pid(void)
{
	return (int)syscall(SYS_getpid);
}

/* A moment on both clocks: which of them is ours is known when we are connected. */
struct moment {
	int64_t tsc, mono;
};

static struct moment starting;          /* how long it took to load the object, or to begin in a forked child */

static struct moment moment_now(void)
{
	return (struct moment){ .tsc = (int64_t)tsc_now(), .mono = clock_ns(CLOCK_MONOTONIC) };
}

static struct moment moment_since(struct moment m)
{
	return (struct moment){ .tsc = (int64_t)tsc_now() - m.tsc, .mono = clock_ns(CLOCK_MONOTONIC) - m.mono };
}

static void init(void)
{
	struct moment begin = moment_now();
	const char *dir = getauxval(AT_SECURE) ? NULL : getenv(WIRE_ENV);
	const char *list = getenv("LD_PRELOAD");
	void *page;

	if (!dir || dir[0] != '/' || strlen(dir) + sizeof "/roster" > sizeof folder)
		return;
	strcpy(folder, dir);
	page = mmap(NULL, sizeof *guest, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page != MAP_FAILED) {
		wiped = madvise(page, sizeof *guest, MADV_WIPEONFORK) == 0;
		guest = page;
	}
	guest->start = clock_ns(CLOCK_REALTIME);
	bool preloaded = list && strstr(list, "libgprof_inject.so");
	if (preloaded)
		guest->flags |= PROCESS_PRELOADED;
	roster_line(folder, preloaded ? 'c' : 'd', guest->start, program_invocation_short_name);
	starting = moment_since(begin);
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
	open_fds[0] = fd + 1;
	strcpy(to.sun_path, folder);
	strcat(to.sun_path, "/sock");
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv);        /* bounds connect() too */
	while (connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
		if (errno != EINTR || clock_ns(CLOCK_MONOTONIC) > deadline)
			return -1;
	return fd;
}

/* Where the program's address space is limited, most of it stays the program's. */
static uint32_t most_mib(void)
{
	struct rlimit space;

	if (getrlimit(RLIMIT_AS, &space) < 0 || space.rlim_cur == RLIM_INFINITY || space.rlim_cur >> 24 > UINT32_MAX)
		return 0;
	return (uint32_t)(space.rlim_cur >> 24) + 1;    /* a sixteenth */
}

static struct wire_hello hello(void)
{
	struct wire_hello h = {
		.version = WIRE_VERSION,
		.size = sizeof h,
		.pid = (uint32_t)session_real_pid(),
		.ppid = (uint32_t)getppid(),
		.start = guest->start,
		.flags = guest->flags | kept_flags,
		.most_mib = most_mib(),
	};

	strncpy(h.name, program_invocation_short_name, sizeof h.name - 1);
	return h;
}

static int say_hello(int fd, const struct wire_hello *h)
{
	ssize_t n;

	do
		n = send(fd, h, sizeof *h, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof *h ? 0 : -1;
}

/* What came with a packet; fewer than were sent where the program has no descriptors left, or may not get any. */
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

/*
 * The welcome and its two descriptors, -1 where there are none.  The configuration goes straight into place: a hook may
 * run on a small stack.
 */
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

static int map_arena(const struct wire_welcome *w, const int fds[2])
{
	struct arena *a = mmap(NULL, w->arena_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fds[0], 0);
	void *bell = a == MAP_FAILED ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);

	if (bell == MAP_FAILED) {
		int why = errno;

		if (a != MAP_FAILED)
			munmap(a, w->arena_size);
		errno = why;
		return -1;
	}
	if (a->magic != ARENA_MAGIC || a->version != WIRE_VERSION || a->size != w->arena_size) {
		munmap(a, w->arena_size);
		munmap(bell, 4096);
		errno = EPROTO;
		return -1;
	}
	/* A core file of the program would have all of it, and writing one would touch every page. */
	madvise(a, w->arena_size, MADV_DONTDUMP);
	madvise(bell, 4096, MADV_DONTDUMP);
	guest->arena = a;
	guest->bell = bell;
	return 0;
}

/* Also in a child that was forked meanwhile.  Forgotten first: the number may be the program's the next moment. */
static void close_fds(void)
{
	int saved = errno;

	for (int i = 0; i < 3; i++) {
		int fd = open_fds[i] - 1;

		open_fds[i] = 0;
		if (fd >= 0)
			close(fd);
	}
	errno = saved;
}

/* One hello, and its answer used.  *usable: there was one; what failed is then the memory that it is about. */
static int ask(const struct wire_hello *h, int64_t deadline, bool *usable)
{
	struct wire_welcome w = { 0 };
	int fds[2];
	int fd = dial(deadline);
	int rc = -1;

	*usable = false;
	if (fd >= 0 && say_hello(fd, h) == 0 && hear_welcome(fd, deadline, &w, fds) == 0) {
		*usable = true;
		if (w.carrier == CARRIER_PIPE) {
			close_fds();    /* it may have been the last free number */
			rc = carrier_open(folder, &w, wiped);
		} else {
			rc = map_arena(&w, fds);
		}
	}
	close_fds();
	if (rc < 0)
		return -1;
	guest->process = w.process;
	guest->clock = w.clock;
	return 0;
}

/* Where memory cannot be shared it asks for the pipe, and at last for the least memory that will do. */
static int handshake(int64_t deadline)
{
	struct wire_hello h = hello();
	bool usable;

	if (ask(&h, deadline, &usable) == 0)
		return 0;
	if (!usable)
		return -1;
	h.carrier = CARRIER_PIPE;
	h.error = errno;
	if (ask(&h, deadline, &usable) == 0)
		return 0;
	if (!usable || errno != ENOMEM)
		return -1;
	h.most_mib = 1;
	return ask(&h, deadline, &usable);
}

/*
 * Another thread is connecting.  Past its deadline this row is not recorded, and later ones do not wait again: that thread may never get
 * on.
 */
static bool wait_for_other(void)
{
	const struct timespec nap = { .tv_nsec = 100000 };
	int64_t end = clock_ns(CLOCK_MONOTONIC) + WIRE_HANDSHAKE_MS * 1000000ll;
	int64_t its_end = __atomic_load_n(&guest->deadline, __ATOMIC_RELAXED);
	uint32_t state;

	if (its_end && its_end < end)
		end = its_end;
	while ((state = __atomic_load_n(&guest->state, __ATOMIC_ACQUIRE)) == SESSION_CONNECTING && clock_ns(CLOCK_MONOTONIC) < end)
		nanosleep(&nap, NULL);
	return state == SESSION_UP;
}

/* Where there never is an arena, the process as a whole is said to be missing. */
static void tell_missed(void)
{
	uint64_t n = __atomic_exchange_n(&guest->missed, 0, __ATOMIC_SEQ_CST);

	if (n)
		health_add(HEALTH_connect_slow, n);
}

/* A row that its thread cannot record: another one is still connecting, or has come to the end of it this very moment. */
static void miss(void)
{
	__atomic_fetch_add(&guest->missed, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&guest->state, __ATOMIC_SEQ_CST) == SESSION_UP)
		tell_missed();
}

static void count_costs(const struct moment *begin)
{
	bool tsc = guest->clock == CLOCK_TSC;

	health_cost(COST_connect, tsc ? begin->tsc : begin->mono);
	health_cost(COST_start, clock_now() - (tsc ? starting.tsc : starting.mono));
}

static bool connect_first(void)
{
	struct moment begin = moment_now();

	__atomic_store_n(&guest->deadline, begin.mono + WIRE_HANDSHAKE_MS * 1000000ll, __ATOMIC_RELAXED);
	if (!guest->start)      /* a child that no fork handler saw */
		guest->start = clock_ns(CLOCK_REALTIME);
	if (handshake(guest->deadline) < 0) {
		roster_failed(folder, guest->start, errno);
		__atomic_store_n(&guest->state, SESSION_OFF, __ATOMIC_RELEASE);
		return false;
	}

	struct arena *a = guest->arena;

	__atomic_fetch_or(&a->flags, guest->flags | kept_flags | PROCESS_CONNECTED, __ATOMIC_RELAXED);
	count_costs(&begin);
	__atomic_store_n(&a->life, LIFE_RUNNING, __ATOMIC_RELEASE);
	if (guest->carrier)
		carrier_start();
	__atomic_store_n(&guest->epoch, guest->process, __ATOMIC_RELEASE);
	__atomic_store_n(&guest->state, SESSION_UP, __ATOMIC_SEQ_CST);
	/* Once more: a flag set by another thread meanwhile went to guest->flags alone. */
	__atomic_fetch_or(&a->flags, guest->flags, __ATOMIC_RELAXED);
	tell_missed();
	return true;
}

bool session_connect(void)
{
	uint32_t state = __atomic_load_n(&guest->state, __ATOMIC_ACQUIRE);
	int saved = errno;
	struct calm calm;
	bool up;

	if (state == SESSION_UP)
		return true;
	if (state == SESSION_OFF || !session_wanted())
		return false;
	calm_begin(&calm);
	state = SESSION_NEW;
	if (__atomic_compare_exchange_n(&guest->state, &state, SESSION_CONNECTING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		up = connect_first();
	else
		up = wait_for_other();
	if (!up)
		miss();
	calm_end(&calm);
	errno = saved;
	return up;
}

void session_flag(uint32_t bits)
{
	__atomic_fetch_or(&guest->flags, bits, __ATOMIC_RELAXED);
	/* A child finds NVTX's tables filled: nobody will ask it again. */
	__atomic_fetch_or(&kept_flags, bits & PROCESS_NVTX, __ATOMIC_RELAXED);
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
	if (guest->carrier)
		carrier_rang();
	errno = saved;
}

/* The page is zeroes already where the kernel could do it; the parent's mapping is of no use here. */
static void forked(void)
{
	struct moment begin = moment_now();

	if (!wiped)     /* whatever its state: another thread may have been connecting */
		memset(guest, 0, sizeof *guest);
	close_fds();
	carrier_forked();
	guest->start = clock_ns(CLOCK_REALTIME);
	kept_flags |= PROCESS_FORKED;
	if (session_wanted())
		roster_line(folder, kept_flags & PROCESS_FORKED_CUDA ? 'F' : 'f', guest->start, program_invocation_short_name);
	starting = moment_since(begin);
}

void session_forked_after_cuda(void)
{
	kept_flags |= PROCESS_FORKED_CUDA;
}

const struct module session_module = { .init = init, .forked = forked };
