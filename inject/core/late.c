#include "inject/core/late.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inject/core/board.h"
#include "trace/clock.h"

/* Missing in the headers of older libcs. */
#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#endif
#define SEAL_SEAL   1
#define SEAL_SHRINK 2
#define SEAL_GROW   4
#define CLOEXEC     1u          /* flags of memfd_create() */
#define MAY_SEAL    2u

uint32_t late_number(const struct wire_hello *h)
{
	uint64_t x = ((uint64_t)h->start ^ (uint64_t)h->pid << 40) * 0x9e3779b97f4a7c15ull;

	return WIRE_LATE | (uint32_t)(x >> 33);
}

int late_welcome(struct wire_welcome *w, const struct wire_hello *h)
{
	const struct board *b = board_map();
	struct arena_layout l;
	uint64_t size;

	if (!b) {
		errno = ETIMEDOUT;
		return -1;
	}
	size = b->config.arena_size;
	if (h->most_mib && (uint64_t)h->most_mib << 20 < size)
		size = (uint64_t)h->most_mib << 20;
	l = arena_lay_out(size);
	*w = (struct wire_welcome){
		.version = WIRE_VERSION, .size = sizeof *w, .process = late_number(h), .clock = b->clock,
		.config_size = sizeof b->config, .arena_size = l.size,
		.carrier = h->carrier == CARRIER_PIPE || b->config.transport == TRANSPORT_PIPE ? CARRIER_PIPE : CARRIER_SHM,
		.n_small = l.n_small, .n_large = l.n_large, .blocks = l.blocks,
	};
	return 0;
}

#define LOOKS 100               /* writing an order takes under 1 us, but the collector may be preempted in it */
#define MOST_LOOKS 10000

static void copy_order(struct arena *a, const struct board *b, uint32_t i)
{
	struct given g;

	board_copy_words(&g, &b->capture.orders[i], sizeof g);
	a->orders[i] = g.order;
	a->orders[i].time = a->clock == CLOCK_TSC ? g.tsc : g.mono;
}

/* Copies the board's orders; without the oldest if the collector does not finish writing an order. */
static void copy_orders(struct arena *a, const struct board *b)
{
	struct board_look look;
	enum board_seen seen;
	int looks = 0;

	do {
		look = board_look(b);
		for (uint32_t i = 0; i < ORDERS; i++)
			copy_order(a, b, i);
		seen = board_seen(b, look);
		looks++;
	} while (seen != BOARD_WHOLE && looks < MOST_LOOKS && !(seen == BOARD_BUT_OLDEST && looks >= LOOKS));
	if (seen != BOARD_WHOLE)
		a->orders[look.n_orders % ORDERS] = (struct order){ 0 };
	__atomic_store_n(&a->n_orders, look.n_orders, __ATOMIC_RELEASE);
}

void late_begin(struct arena *a, const struct wire_welcome *w)
{
	a->magic = ARENA_MAGIC;
	a->size = w->arena_size;
	a->blocks = w->blocks;
	a->version = WIRE_VERSION;
	a->n_small = w->n_small;
	a->n_large = w->n_large;
	a->process = w->process;
	a->clock = w->clock;
	if (board_map())
		copy_orders(a, board_map());
}

int late_memory(uint64_t size)
{
	struct rlimit files;
	int fd;

	/* ftruncate() beyond this limit raises SIGXFSZ. */
	if (getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur < size) {
		errno = EFBIG;
		return -1;
	}
	fd = (int)syscall(SYS_memfd_create, "gprof", CLOEXEC | MAY_SEAL);
	if (fd < 0)
		return -1;
	if (ftruncate(fd, (off_t)size) < 0) {
		int why = errno;

		close(fd);
		errno = why;
		return -1;
	}
	fcntl(fd, F_ADD_SEALS, SEAL_SHRINK | SEAL_GROW | SEAL_SEAL);
	return fd;
}

/* Sleeps 1 ms; false: the deadline has passed.  Keeps errno. */
static bool nap_before(int64_t deadline)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	int saved = errno;

	if (clock_ns(CLOCK_MONOTONIC) >= deadline)
		return false;
	nanosleep(&nap, NULL);
	errno = saved;
	return true;
}

int late_send(int connection, int memory, uint64_t size, int64_t deadline)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct wire_late l = { .version = WIRE_VERSION, .size = sizeof l, .arena_size = size };
	struct iovec iov = { &l, sizeof l };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes };
	struct cmsghdr *head = CMSG_FIRSTHDR(&m);
	ssize_t n;

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof memory);
	memcpy(CMSG_DATA(head), &memory, sizeof memory);
	do
		n = sendmsg(connection, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && (errno == EINTR || (errno == ETOOMANYREFS && nap_before(deadline))));
	return n == (ssize_t)sizeof l ? 0 : -1;
}
