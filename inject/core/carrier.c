#include "inject/core/carrier.h"

#include <errno.h>
#include <fcntl.h>
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

#include "inject/core/signals_blocked.h"
#include "inject/core/carrier_frames.h"
#include "inject/core/futex.h"
#include "inject/core/health.h"
#include "inject/core/late.h"
#include "inject/core/libc.h"
#include "inject/core/memory.h"
#include "inject/core/roster.h"
#include "inject/core/seccomp.h"
#include "inject/core/session.h"
#include "inject/core/stream.h"

#define MS     1000000ll
#define TICK   (100 * MS)       /* period of whole rounds: the most that a kill loses, and the delay of orders */
#define SOON   (10 * MS)        /* shortest period, when the recorded time is due to end */
#define RETRY  (1 * MS)         /* first delay between tries at a full pipe; doubles up to 32 ms */
#define AT_END (2000 * MS)      /* longest wait at the ends of the process, in all */
#define GRACE  (100 * MS)       /* ... and for the carrier thread to report that it gave up */

#ifndef SYS_close_range
#define SYS_close_range 436     /* the same number on every architecture */
#endif
#define UNSHARE 2u              /* CLOSE_RANGE_UNSHARE */

/* Descriptor + 1 while one is open in the program's descriptor table; 0: none.  carrier_forked() closes a child's copy. */
static int open_fd;

/* Seccomp filters are checked for the program's threads only: the carrier thread started before any filter that seccomp.c saw. */
static bool may_call(void)
{
	return seccomp_allows(SECCOMP_CARRY | SECCOMP_TOOL | SECCOMP_BELL) || stream_self.tool;
}

/* ---- the pipe ---- */

/* After chroot() the folder may be another user's: follow no link, and do not block on a pipe. */
static int open_in_folder(const struct carrier *c, const char *name, int flags)
{
	char path[160];

	flags |= O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC;
	if (c->dir >= 0)
		return openat(c->dir, name, flags);
	strcpy(path, c->folder);
	strcat(path, "/");
	strcat(path, name);
	return open(path, flags);
}

/*
 * Gives the carrier thread a private descriptor table: the program cannot close, count or reuse its descriptors, and no child inherits
 * them.  Kernels before 5.9 and some containers refuse; then the pipe is opened for each round.
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

/* Moves fd to a high number: programs expect the lowest free one. */
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
		open_fd = 0;            /* the program closed it and reused the number */
		c->fd = -1;
	}
	c->fd = open_in_folder(c, "rows", O_WRONLY);
	if (c->fd < 0) {
		c->gone = errno == ENXIO || errno == ENOENT || errno == ELOOP;
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

static bool say_hello(struct carrier *c)
{
	struct frame_hello *h = (struct frame_hello *)c->out.body;

	h->hello = c->hello;
	h->arena_size = c->arena->size;
	c->out.head.place = c->out.head.at = c->out.head.thread = 0;
	c->unheard = !carrier_put(c, FRAME_HELLO, 0, sizeof *h);
	return !c->unheard;
}

static bool go_round(struct carrier *c, bool all)
{
	int64_t begin = clock_now();
	bool sent;

	c->full = c->moved = false;
	sent = (!c->unheard || say_hello(c)) && carrier_round(c, all);
	if (!c->own_table)
		let_go(c);
	if (c->moved)           /* only if rows were sent: otherwise each cost sent would cause another */
		health_cost(COST_carry, begin);
	return sent;
}

/* ---- orders from the collector ---- */

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
	/* Last word first: n_orders, which announces new orders, is the first word. */
	for (size_t i = sizeof line / sizeof *line; i-- > 0;)
		__atomic_store_n(&to[i], line[i], __ATOMIC_RELEASE);
	return true;
}

/* Time of the next whole round (MONOTONIC ns).  Earlier when duration_ms is about to end: the program may be killed right after. */
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
 * True if all other threads have ended, main() too; then this thread must end, and libc ends the process as it would without the profiler.
 * Most such programs are caught by carrier_end_thread().  *status: exit status of main()'s thread.
 */
static bool is_last(const struct carrier *c, int *status)
{
	char path[40] = "/proc/self/task/", text[1024], *state;
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
	if (!state || strncmp(state, ") Z", 3) != 0)
		return false;
	*status = atoi(strrchr(state, ' ') + 1) >> 8;   /* the last field is the exit code */
	return true;
}

/* Reports how many rows could not be sent, through the roster, which does not need this pipe; then releases the waiting threads. */
static void answer(struct carrier *c, uint32_t asked, bool sent)
{
	uint64_t left = sent ? 0 : carrier_rows_left(c);

	if (left != c->left_reported)
		roster_left(c->folder, guest->start, left);
	c->left_reported = left;
	__atomic_store_n(&c->done, asked, __ATOMIC_RELEASE);
	futex_wake(&c->done, INT32_MAX);
}

/*
 * Sleeps until a block is handed over or a round is due; after a full pipe, for RETRY and longer each time.  It does not poll() for room:
 * with a thousand processes, each read of the collector would wake all of them and take its CPU time.
 */
static void rest(struct carrier *c, uint32_t heard, int64_t until)
{
	int64_t ns = until - clock_ns(CLOCK_MONOTONIC);

	if (ns <= 0)
		return;
	if (c->full) {
		int64_t nap = RETRY << (c->refusals < 5 ? c->refusals : 5);

		c->refusals++;
		if (nap < ns)
			ns = nap;

		struct timespec t = { .tv_sec = ns / (1000 * MS), .tv_nsec = ns % (1000 * MS) };

		nanosleep(&t, NULL);
		return;
	}
	c->refusals = 0;
	__atomic_store_n(&c->bell.sleeping, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&c->bell.rings, __ATOMIC_SEQ_CST) == heard)
		futex_wait(&c->bell.rings, heard, ns);
	__atomic_store_n(&c->bell.sleeping, 0, __ATOMIC_SEQ_CST);
}

/*
 * A child of clone(2) whose first thread has ended by exit(2): sends the rest and ends this thread by exit(2) with the same status, which
 * since Linux 6.0 becomes the process's.  Returning is wrong here: libc, which knows only the parent's threads, would call exit(0).
 * Returns at once in any other process.
 */
static void end_unseen(struct carrier *c, int status)
{
	int64_t end = clock_ns(CLOCK_MONOTONIC) + AT_END;
	bool sent;

	if (!guest->unseen)
		return;
	while (!(sent = go_round(c, true)) && !c->gone && clock_ns(CLOCK_MONOTONIC) < end)
		futex_wait(&c->done, c->done, RETRY);
	answer(c, c->asked, sent);
	for (;;)
		syscall(SYS_exit, status);
}

/* One iteration of the thread.  False: the thread is to end. */
static bool take_turn(struct carrier *c)
{
	uint32_t heard = __atomic_load_n(&c->bell.rings, __ATOMIC_SEQ_CST);
	uint32_t asked = __atomic_load_n(&c->asked, __ATOMIC_ACQUIRE);
	int64_t now = clock_ns(CLOCK_MONOTONIC), deadline = __atomic_load_n(&c->deadline, __ATOMIC_RELAXED);
	bool due = now >= c->next, ends = asked != c->done, sent;
	int status;

	if (due) {
		hear_order(c);
		if (is_last(c, &status)) {
			end_unseen(c, status);
			return false;
		}
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
	else                    /* the pipe could not be opened: descriptors or memory are short */
		futex_wait(&c->bell.rings, heard, RETRY);
	return true;
}

static void *carry(void *arg)
{
	struct carrier *c = arg;

	stream_tool_thread();
	prctl(PR_SET_NAME, "gprof-carry");
	take_own_table(c);
	while (take_turn(c))
		;
	c->own_table = false;   /* the private descriptor table ends with this thread */
	c->fd = c->dir = -1;
	__atomic_store_n(&c->running, 0, __ATOMIC_RELEASE);
	/* Release threads that asked since the last round. */
	__atomic_store_n(&c->done, __atomic_load_n(&c->asked, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
	futex_wake(&c->done, INT32_MAX);
	return NULL;
}

/* ---- without a carrier thread: the thread that hands a block over sends ---- */

/* One round on a thread of the program.  A SIGPIPE that the write raises is blocked and removed: the program must not see it. */
static bool send_here(struct carrier *c, bool all)
{
	const struct timespec none = { 0 };
	sigset_t pipe, pending;
	struct signals_blocked blocked;
	bool sent;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	signals_block(&blocked);
	sigpending(&pending);
	sent = go_round(c, all);
	if (c->gone && !sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe, NULL, &none);
	signals_restore(&blocked);
	return sent;
}

void carrier_rang(void)
{
	struct carrier *c = guest->carrier;
	int64_t now = clock_ns(CLOCK_MONOTONIC);
	int saved = errno;

	if (__atomic_load_n(&c->running, __ATOMIC_ACQUIRE) || c->gone || !may_call())
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

/* ---- called by the rest of the object ---- */

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
	if (!__atomic_load_n(&c->running, __ATOMIC_ACQUIRE) && !c->gone && may_call())
		finish_here(c, begin + left);
	__atomic_fetch_sub(&c->budget, clock_ns(CLOCK_MONOTONIC) - begin, __ATOMIC_RELAXED);
	errno = saved;
}

void carrier_end_thread(void)
{
	struct carrier *c = guest->carrier;

	if (!c || !__atomic_load_n(&c->running, __ATOMIC_ACQUIRE) || !may_call())
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

/* quick_exit() runs none of the exit() handlers. */
static void at_quick(void *unused)
{
	(void)unused;
	struct carrier *c = guest->carrier;

	if (!c || !session_is_own())
		return;
	__atomic_store_n(&c->arena->life, LIFE_ENDED, __ATOMIC_RELEASE);
	carrier_finish();
}

static void *private_memory(size_t size, bool wiped)
{
	void *p = memory_map_file(size, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	if (!p)
		return NULL;
	madvise(p, size, MADV_DONTDUMP);
	if (wiped)
		madvise(p, size, MADV_DONTFORK);
	return p;
}

int carrier_open(const char *folder, const struct wire_welcome *w, const struct wire_hello *late, bool wiped)
{
	uint64_t end = w->blocks + (uint64_t)w->n_small * SMALL_BLOCK + (uint64_t)w->n_large * LARGE_BLOCK;
	struct carrier *c;
	struct arena *a, *sent_header;

	errno = EPROTO;
	if (w->blocks < sizeof *a || w->arena_size != end || w->n_small + w->n_large > MAX_BLOCKS)
		return -1;
	c = private_memory(sizeof *c, wiped);
	sent_header = private_memory(sizeof *sent_header, wiped);
	a = private_memory(w->arena_size, wiped);
	if (!c || !sent_header || !a)
		goto no;
	late_begin(a, w);
	c->folder = folder;
	c->arena = a;
	c->sent_header = sent_header;
	c->process = w->process;
	c->n_blocks = w->n_small + w->n_large;
	c->pid = session_real_pid();
	c->fd = c->dir = -1;
	c->budget = AT_END;
	if (late) {
		c->unheard = true;
		c->hello = *late;
	} else if (!hear_order(c)) {
		goto no;
	}
	guest->arena = a;
	guest->bell = &c->bell;
	guest->carrier = c;
	return 0;
no:
	end = (uint64_t)errno;
	if (a)
		munmap(a, w->arena_size);
	if (sent_header)
		munmap(sent_header, sizeof *sent_header);
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
		libc_at_quick_exit(at_quick);
	pthread_attr_init(&attr);
	/* Includes the program's thread-local data.  Only pages in use take memory. */
	pthread_attr_setstacksize(&attr, 1 << 20);
	__atomic_store_n(&c->running, 1, __ATOMIC_RELEASE);
	/* The connecting thread has all signals blocked; the new thread inherits that. */
	if (!may_call() || pthread_create(&c->thread, &attr, carry, c) != 0)
		__atomic_store_n(&c->running, 0, __ATOMIC_RELEASE);
	pthread_attr_destroy(&attr);
}
