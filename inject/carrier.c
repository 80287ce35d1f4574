#include "inject/carrier.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inject/calm.h"
#include "inject/carrier_frames.h"
#include "inject/health.h"
#include "inject/roster.h"
#include "inject/session.h"

#define MS     1000000ll
#define TICK   (100 * MS)       /* what a kill can lose, and how late the collector's orders are heard */
#define SOON   (10 * MS)        /* between looks at the order, when the recorded time is due to end */
#define RETRY  (2 * MS)         /* between tries at a full pipe that is not kept open */
#define AT_END (2000 * MS)      /* what the ends of the process may wait, all together */
#define GRACE  (100 * MS)       /* ... and for our thread to say that it has given up */

#ifndef SYS_close_range
#define SYS_close_range 436     /* the same number on every architecture */
#endif
#define UNSHARE 2u              /* CLOSE_RANGE_UNSHARE */

/* Of the pipe, while it is open under a number of the program's.  0: none. */
static int open_fd;

static void futex_wait(uint32_t *word, uint32_t value, int64_t ns)
{
	struct timespec t = { .tv_sec = ns / (1000 * MS), .tv_nsec = ns % (1000 * MS) };

	if (ns > 0)
		syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0);
}

/* ---- the pipe ---- */

static int open_in_folder(const struct carrier *c, const char *name, int flags)
{
	char path[160];

	if (c->dir >= 0)
		return openat(c->dir, name, flags | O_CLOEXEC);
	strcpy(path, c->folder);
	strcat(path, "/");
	strcat(path, name);
	return open(path, flags | O_CLOEXEC);
}

/*
 * Descriptors of our own: nothing that the program closes, counts or opens anew meets ours, and no child gets them.
 * Refused by kernels before 5.9 and some containers; then the pipe is opened for each round.
 */
static void take_own_table(struct carrier *c)
{
	int dir;

	if (syscall(SYS_close_range, 0, ~0u, UNSHARE) != 0)
		return;
	c->own_table = true;
	dir = open(c->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0)
		c->dir = dir;
}

/* Out of the way of a program that expects the lowest free number. */
static int move_up(int fd)
{
	struct rlimit most;
	int high = -1;

	if (getrlimit(RLIMIT_NOFILE, &most) == 0 && most.rlim_cur > 64)
		high = fcntl(fd, F_DUPFD_CLOEXEC, most.rlim_cur < 1 << 20 ? (int)most.rlim_cur - 16 : (1 << 20) - 16);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

static void let_go(struct carrier *c)
{
	if (c->fd >= 0 && !c->own_table) {
		open_fd = 0;
		close(c->fd);
	}
	c->fd = -1;
}

static bool reach(struct carrier *c)
{
	struct stat st;

	if (c->fd >= 0 && c->own_table)
		return true;
	if (c->fd >= 0) {
		if (fstat(c->fd, &st) == 0 && st.st_dev == c->dev && st.st_ino == c->ino)
			return true;
		open_fd = 0;            /* the program closed it, and the number is its own */
		c->fd = -1;
	}
	c->fd = open_in_folder(c, "rows", O_WRONLY | O_NONBLOCK);
	if (c->fd < 0) {
		c->gone = errno == ENXIO || errno == ENOENT;
		return false;
	}
	if (!c->own_table) {
		c->fd = move_up(c->fd);
		open_fd = c->fd + 1;
	}
	if (fstat(c->fd, &st) < 0 || !S_ISFIFO(st.st_mode)) {
		let_go(c);
		return false;
	}
	c->dev = st.st_dev;
	c->ino = st.st_ino;
	return true;
}

bool carrier_put(struct carrier *c, enum frame_kind kind, unsigned flags, uint32_t n)
{
	struct frame *f = &c->out.head;
	ssize_t written;

	if (!reach(c))
		return false;
	f->magic = FRAME_MAGIC;
	f->length = (uint16_t)(sizeof *f + n);
	f->kind = (uint8_t)kind;
	f->flags = (uint8_t)flags;
	f->process = c->process;
	f->sequence = c->sequence + 1;
	f->check = frame_check(f);
	do
		written = write(c->fd, f, f->length);
	while (written < 0 && errno == EINTR);
	if (written == f->length) {
		c->sequence++;
		return true;
	}
	c->full = written < 0 && errno == EAGAIN;
	c->gone = written < 0 && errno == EPIPE;
	return false;
}

static bool go_round(struct carrier *c, bool all)
{
	int64_t begin = clock_now();
	bool sent;

	c->full = c->moved = false;
	sent = carrier_round(c, all);
	if (!c->own_table)
		let_go(c);
	if (c->moved)           /* a cost that says that costs were sent would never come to rest */
		health_cost(COST_carry, begin);
	return sent;
}

/* ---- what the collector says ---- */

static void file_of_order(const struct carrier *c, char name[32])
{
	char digits[12], *p = digits + sizeof digits;
	uint32_t v = c->process;

	*--p = '\0';
	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	strcpy(name, "order.");
	strcat(name, p);
}

static bool hear_order(struct carrier *c)
{
	uint64_t line[ARENA_TOLD_BYTES / 8], *to = (uint64_t *)((char *)c->arena + ARENA_TOLD);
	char name[32];
	int fd;

	file_of_order(c, name);
	fd = open_in_folder(c, name, O_RDONLY);
	if (fd < 0)
		return false;
	if (!c->own_table)
		open_fd = fd + 1;

	ssize_t n = read(fd, line, sizeof line);

	if (!c->own_table)
		open_fd = 0;
	close(fd);
	if (n != sizeof line)
		return false;
	/* Backwards: what says that there is news stands before it. */
	for (size_t i = sizeof line / sizeof *line; i-- > 0;)
		__atomic_store_n(&to[i], line[i], __ATOMIC_RELEASE);
	return true;
}

/* Of the next whole round: a turn of the order is heard soon, since the program may be killed after it. */
static int64_t next_round(const struct carrier *c, int64_t now)
{
	const struct order *last = &c->arena->orders[(c->arena->n_orders - 1) % ORDERS];
	int64_t left = TICK;

	if (guest->config.duration_ms && last->mask)
		left = last->real + (int64_t)guest->config.duration_ms * MS - clock_ns(CLOCK_REALTIME);
	if (left < -1000 * MS || left > TICK)
		left = TICK;
	return now + (left < SOON ? SOON : left);
}

/* ---- the thread ---- */

/*
 * Where every thread of the program has ended, main() too, the process would go on for ours: then ours ends, and libc
 * ends the process, as it would without us.  Most programs of that kind come by carrier_end_thread().
 */
static bool is_last(const struct carrier *c)
{
	char path[40] = "/proc/self/task/", text[128], *state;
	struct stat st;
	ssize_t n;
	int fd;

	if (stat(path, &st) < 0 || st.st_nlink > 2 + 2)
		return false;

	char digits[12], *p = digits + sizeof digits;
	int v = c->pid;

	*--p = '\0';
	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	strcat(path, p);
	strcat(path, "/stat");
	fd = c->own_table ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	state = strrchr(text, ')');
	return state && strncmp(state, ") Z", 3) == 0;
}

/* The collector is told how many rows are left: another pipe, which has room. */
static void answer(struct carrier *c, uint32_t asked, bool sent)
{
	uint64_t left = sent ? 0 : carrier_rows_left(c);

	if (left != c->left_told)
		roster_left(c->folder, guest->start, left);
	c->left_told = left;
	__atomic_store_n(&c->done, asked, __ATOMIC_RELEASE);
	syscall(SYS_futex, &c->done, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Until a block is handed over, a round is due, or a full pipe has room. */
static void rest(struct carrier *c, uint32_t heard, int64_t until)
{
	int64_t ns = until - clock_ns(CLOCK_MONOTONIC);

	if (ns <= 0)
		return;
	if (c->full) {
		struct pollfd room = { .fd = c->fd, .events = POLLOUT };
		struct timespec t = { .tv_sec = ns / (1000 * MS), .tv_nsec = ns % (1000 * MS) };

		if (c->fd < 0 && ns > RETRY)
			t = (struct timespec){ .tv_nsec = RETRY };
		ppoll(&room, c->fd >= 0, &t, NULL);
		return;
	}
	__atomic_store_n(&c->bell.sleeping, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&c->bell.rings, __ATOMIC_SEQ_CST) == heard)
		futex_wait(&c->bell.rings, heard, ns);
	__atomic_store_n(&c->bell.sleeping, 0, __ATOMIC_SEQ_CST);
}

/* One turn of the thread.  False: there is nothing left to do here. */
static bool turn(struct carrier *c)
{
	uint32_t heard = __atomic_load_n(&c->bell.rings, __ATOMIC_SEQ_CST);
	uint32_t asked = __atomic_load_n(&c->asked, __ATOMIC_ACQUIRE);
	int64_t now = clock_ns(CLOCK_MONOTONIC), deadline = __atomic_load_n(&c->deadline, __ATOMIC_RELAXED);
	bool due = now >= c->next, ends = asked != c->done, sent;

	if (due) {
		hear_order(c);
		if (is_last(c))
			return false;
	}
	sent = go_round(c, due || ends);
	if (due)
		c->next = next_round(c, now);
	if (ends && (sent || c->gone || now >= deadline)) {
		answer(c, asked, sent);
		ends = false;
	}
	if (c->gone || __atomic_load_n(&c->stop, __ATOMIC_ACQUIRE))
		return false;
	if (sent || c->full)
		rest(c, heard, ends && deadline < c->next ? deadline : c->next);
	else                    /* no way to write just now: descriptors or memory are short */
		futex_wait(&c->bell.rings, heard, RETRY);
	return true;
}

static void *carry(void *arg)
{
	struct carrier *c = arg;

	prctl(PR_SET_NAME, "gprof-carry");
	take_own_table(c);
	while (turn(c))
		;
	c->own_table = false;   /* it goes with this thread */
	c->fd = c->dir = -1;
	__atomic_store_n(&c->running, 0, __ATOMIC_RELEASE);
	/* Whoever asked meanwhile. */
	__atomic_store_n(&c->done, __atomic_load_n(&c->asked, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
	syscall(SYS_futex, &c->done, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	return NULL;
}

/* ---- without a thread: whoever hands a block over sends ---- */

/* SIGPIPE is for us, not for the program: blocked, and taken off again. */
static bool send_here(struct carrier *c, bool all)
{
	const struct timespec none = { 0 };
	sigset_t pipe, pending;
	struct calm calm;
	bool sent;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	calm_begin(&calm);
	sigpending(&pending);
	sent = go_round(c, all);
	if (c->gone && !sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe, NULL, &none);
	calm_end(&calm);
	return sent;
}

void carrier_rang(void)
{
	struct carrier *c = guest->carrier;
	int64_t now = clock_ns(CLOCK_MONOTONIC);
	int saved = errno;

	if (__atomic_load_n(&c->running, __ATOMIC_ACQUIRE) || c->gone)
		return;
	if (__atomic_exchange_n(&c->lock, 1, __ATOMIC_ACQUIRE))
		return;
	if (now >= c->next)
		hear_order(c);
	send_here(c, now >= c->next);
	if (now >= c->next)
		c->next = now + TICK;
	__atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);
	errno = saved;
}

static void finish_here(struct carrier *c, int64_t deadline)
{
	const struct timespec nap = { .tv_nsec = RETRY };
	bool sent = false;

	while (__atomic_exchange_n(&c->lock, 1, __ATOMIC_ACQUIRE)) {
		if (clock_ns(CLOCK_MONOTONIC) >= deadline)
			return;
		nanosleep(&nap, NULL);
	}
	while (!(sent = send_here(c, true)) && !c->gone && clock_ns(CLOCK_MONOTONIC) < deadline)
		nanosleep(&nap, NULL);
	answer(c, c->asked, sent);
	__atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);
}

/* ---- for the rest of the object ---- */

static void wait_for_thread(struct carrier *c, int64_t deadline)
{
	uint32_t ticket, done;
	int64_t now;

	__atomic_store_n(&c->deadline, deadline, __ATOMIC_RELAXED);
	ticket = __atomic_add_fetch(&c->asked, 1, __ATOMIC_ACQ_REL);
	session_ring();
	while ((int32_t)((done = __atomic_load_n(&c->done, __ATOMIC_ACQUIRE)) - ticket) < 0 &&
	       __atomic_load_n(&c->running, __ATOMIC_ACQUIRE) && (now = clock_ns(CLOCK_MONOTONIC)) < deadline + GRACE)
		futex_wait(&c->done, done, deadline + GRACE - now);
}

void carrier_finish(void)
{
	struct carrier *c = guest->carrier;
	int64_t begin = clock_ns(CLOCK_MONOTONIC), left;
	int saved = errno;

	if (!c || c->gone)
		return;
	left = __atomic_load_n(&c->budget, __ATOMIC_RELAXED);
	if (left < 0)
		left = 0;
	if (__atomic_load_n(&c->running, __ATOMIC_ACQUIRE))
		wait_for_thread(c, begin + left);
	if (!__atomic_load_n(&c->running, __ATOMIC_ACQUIRE) && !c->gone)
		finish_here(c, begin + left);
	__atomic_fetch_sub(&c->budget, clock_ns(CLOCK_MONOTONIC) - begin, __ATOMIC_RELAXED);
	errno = saved;
}

void carrier_end_thread(void)
{
	struct carrier *c = guest->carrier;

	if (!c || !__atomic_load_n(&c->running, __ATOMIC_ACQUIRE))
		return;
	__atomic_store_n(&c->stop, 1, __ATOMIC_RELEASE);
	session_ring();
	pthread_join(c->thread, NULL);
}

void carrier_forked(void)
{
	int fd = open_fd - 1;

	open_fd = 0;
	if (fd >= 0)
		close(fd);
}

/* exit() has our other handlers; this end has none of them. */
static void at_quick(void)
{
	struct carrier *c = guest->carrier;

	if (!c || session_real_pid() != c->pid)
		return;
	__atomic_store_n(&c->arena->life, LIFE_ENDED, __ATOMIC_RELEASE);
	carrier_finish();
}

static void *private_memory(size_t size, bool wiped)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, size, MADV_DONTDUMP);
	if (wiped)
		madvise(p, size, MADV_DONTFORK);
	return p;
}

int carrier_open(const char *folder, const struct wire_welcome *w, bool wiped)
{
	uint64_t end = w->blocks + (uint64_t)w->n_small * SMALL_BLOCK + (uint64_t)w->n_large * LARGE_BLOCK;
	struct carrier *c;
	struct arena *a, *told;

	errno = EPROTO;
	if (w->blocks < sizeof *a || w->arena_size != end || w->n_small + w->n_large > MAX_BLOCKS)
		return -1;
	c = private_memory(sizeof *c, wiped);
	told = private_memory(sizeof *told, wiped);
	a = private_memory(w->arena_size, wiped);
	if (!c || !told || !a)
		goto no;
	a->magic = ARENA_MAGIC;
	a->size = w->arena_size;
	a->blocks = w->blocks;
	a->version = WIRE_VERSION;
	a->n_small = w->n_small;
	a->n_large = w->n_large;
	a->process = w->process;
	a->clock = w->clock;
	c->folder = folder;
	c->arena = a;
	c->told = told;
	c->process = w->process;
	c->n_blocks = w->n_small + w->n_large;
	c->pid = session_real_pid();
	c->fd = c->dir = -1;
	c->budget = AT_END;
	if (!hear_order(c))
		goto no;
	guest->arena = a;
	guest->bell = &c->bell;
	guest->carrier = c;
	return 0;
no:
	end = (uint64_t)errno;
	if (a)
		munmap(a, w->arena_size);
	if (told)
		munmap(told, sizeof *told);
	if (c)
		munmap(c, sizeof *c);
	errno = (int)end;
	return -1;
}

void carrier_start(void)
{
	static bool listens;
	struct carrier *c = guest->carrier;
	pthread_attr_t attr;

	if (!__atomic_exchange_n(&listens, true, __ATOMIC_RELAXED))
		at_quick_exit(at_quick);
	pthread_attr_init(&attr);
	/* The program's thread-local data comes off it; touched only as far as it is used. */
	pthread_attr_setstacksize(&attr, 1 << 20);
	__atomic_store_n(&c->running, 1, __ATOMIC_RELEASE);
	/* All signals are blocked in whoever connects, and so in the thread. */
	if (pthread_create(&c->thread, &attr, carry, c) != 0)
		__atomic_store_n(&c->running, 0, __ATOMIC_RELEASE);
	pthread_attr_destroy(&attr);
}
