#include "inject/core/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "inject/core/board.h"
#include "inject/core/signals_blocked.h"
#include "inject/core/carrier.h"
#include "inject/core/connection.h"
#include "inject/core/futex.h"
#include "inject/core/health.h"
#include "inject/core/late.h"
#include "inject/core/memory.h"
#include "inject/core/module.h"
#include "inject/core/roster.h"
#include "inject/core/seccomp.h"
#include "inject/core/self.h"

/* Used before the page exists, or if it cannot be mapped; then only the fork handler resets it. */
static struct guest boot;
struct guest *guest = &boot;

static char folder[sizeof ((struct sockaddr_un *)0)->sun_path];
static uint32_t kept_flags;             /* PROCESS_ bits that a forked child inherits */
#if defined(__x86_64__)
bool session_memory_shared;
#else
bool session_memory_shared = true;      /* vfork() is not interposed on this architecture */
#endif
static bool wiped;                      /* the kernel zeroes the page in a child */
static uint32_t last_pid;               /* of this process, or of the last ancestor whose fork handler ran */

/* The arena mapped last; in a forked child that is its parent's. */
static struct {
	void *at;
	uint64_t size;
} mapped;

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

bool session_in_own_memory(void)
{
	return !session_memory_shared || !seccomp_allows(SECCOMP_END) || (uint32_t)session_real_pid() == last_pid;
}

/* Without MADV_WIPEONFORK always compares pids: a child whose fork handler did not run has its parent's page. */
bool session_is_own(void)
{
	if (!guest->arena)
		return false;
	if (!wiped && seccomp_allows(SECCOMP_END))
		return (uint32_t)session_real_pid() == last_pid;
	return session_in_own_memory();
}

uint32_t session_pid(void)
{
	return last_pid;
}

int session_real_pid(void)
{
	int saved = errno;
	long pid = syscall(SYS_getpid);

	errno = saved;
	return pid > 0 ? (int)pid : (int)last_pid;
}

/* A moment on both clocks: the collector says when the process connects which one the rows use. */
struct start_moment {
	int64_t tsc, mono;
};

static struct start_moment starting;    /* time it took to load the object, or to start in a forked child */

static struct start_moment moment_now(void)
{
	return (struct start_moment){ .tsc = (int64_t)tsc_now(), .mono = clock_ns(CLOCK_MONOTONIC) };
}

static struct start_moment moment_since(struct start_moment m)
{
	return (struct start_moment){ .tsc = (int64_t)tsc_now() - m.tsc, .mono = clock_ns(CLOCK_MONOTONIC) - m.mono };
}

static void init(void)
{
	struct start_moment begin = moment_now();
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
	self_init();
	last_pid = (uint32_t)session_real_pid();
	board_open(folder);
	roster_line(folder, preloaded ? 'c' : 'd', last_pid, self_parent(), guest->start, program_invocation_short_name);
	starting = moment_since(begin);
}

/* Where the program's address space is limited, or all of it is locked, leaves most of it to the program. */
uint64_t session_room(void)
{
	struct rlimit space;
	bool limited = getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;

	if (limited && space.rlim_cur / 16 < SESSION_TIGHT)
		return space.rlim_cur / 16;
	return limited || memory_is_locking() ? SESSION_TIGHT : UINT64_MAX;
}

static uint32_t most_mib(void)
{
	uint64_t room = session_room();

	return room == UINT64_MAX ? 0 : (uint32_t)((room + 0xfffff) >> 20);
}

static struct wire_hello hello(void)
{
	struct wire_hello h = {
		.version = WIRE_VERSION,
		.size = sizeof h,
		.pid = (uint32_t)session_real_pid(),
		.ppid = self_parent(),
		.start = guest->start,
		.flags = guest->flags | kept_flags,
		.most_mib = most_mib(),
		.alone = seccomp_allows(SECCOMP_LATE) && board_map(),
	};

	strncpy(h.name, program_invocation_short_name, sizeof h.name - 1);
	return h;
}

static void keep_arena(struct arena *a, uint64_t size, struct bell *bell)
{
	/* A core file would contain the whole arena, and writing one would touch every page. */
	madvise(a, size, MADV_DONTDUMP);
	mapped.at = a;
	mapped.size = size;
	guest->arena = a;
	guest->bell = bell;
}

static int map_arena(const struct wire_welcome *w, const int fds[2])
{
	if (!connection_is_memory(fds[0], w->arena_size) || !connection_is_memory(fds[1], 4096))
		return -1;

	struct arena *a = memory_map_file(w->arena_size, MAP_SHARED | MAP_NORESERVE, fds[0]);
	void *bell = a ? memory_map_file(4096, MAP_SHARED, fds[1]) : NULL;

	if (!bell) {
		int why = errno;

		if (a)
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
	madvise(bell, 4096, MADV_DONTDUMP);
	keep_arena(a, w->arena_size, bell);
	return 0;
}

/* The collector did not answer in time: shares memory that this process makes.  Its bell has no listener; the collector polls the arena. */
static int share_own(int connection, const struct wire_welcome *w, int64_t deadline)
{
	static struct bell unheard;
	int memory = late_memory(w->arena_size);
	struct arena *a;

	if (memory < 0)
		return -1;
	connection_note(memory);
	a = memory_map_file(w->arena_size, MAP_SHARED | MAP_NORESERVE, memory);
	if (!a)
		return -1;
	late_begin(a, w);
	if (late_send(connection, memory, w->arena_size, deadline) < 0) {
		int why = errno;

		munmap(a, w->arena_size);
		connection_drop_memory();
		errno = why;
		return -1;
	}
	keep_arena(a, w->arena_size, &unheard);
	return 0;
}

bool session_has_mapped(void)
{
	return mapped.at || guest->arena;
}

void session_drop_parents(void)
{
	if (mapped.at && mapped.at != guest->arena) {
		munmap(mapped.at, mapped.size);
		mapped.at = NULL;
	}
}

static void settle(const struct wire_welcome *w)
{
	guest->process = w->process;
	guest->clock = w->clock;
}

static int use_answer(const struct wire_welcome *w, const int fds[2])
{
	if (w->carrier != CARRIER_PIPE)
		return map_arena(w, fds);
	connection_close();     /* first: it may have used the last free descriptor */
	return carrier_open(folder, w, NULL, wiped);
}

/* The collector did answer, then closed the connection to free it for others: its answer can still be read. */
static int take_answer(int connection, struct wire_welcome *w)
{
	struct wire_welcome answer = { 0 };
	int fds[2];

	if (connection_welcome(connection, 0, &answer, fds) < 0 || use_answer(&answer, fds) < 0)
		return -1;
	*w = answer;
	return 0;
}

/*
 * The collector did not answer, or (connection -1) did not accept the connection.  It keeps the hello and adopts the arena later.  If the
 * arena cannot be handed over through the connection, the rows go through the pipe.
 */
static int go_on_alone(int connection, const struct wire_hello *h, struct wire_welcome *w)
{
	int rc = -1;

	if (!seccomp_allows(SECCOMP_LATE) || late_welcome(w, h) < 0)
		return -1;
	memcpy(&guest->config, &board_map()->config, sizeof guest->config);
	if (w->carrier == CARRIER_SHM && connection >= 0) {
		/* If the pipe may be used, do not wait. */
		rc = share_own(connection, w, guest->config.transport == TRANSPORT_SHM ? guest->deadline : 0);
		if (rc < 0 && (errno == EPIPE || errno == ECONNRESET))
			rc = take_answer(connection, w);
	}
	connection_close();
	if (rc < 0 && guest->config.transport != TRANSPORT_SHM)
		rc = carrier_open(folder, w, h, wiped);
	return rc;
}

/* Returns a connection on which the hello was sent, or -1.  Dials again once if the collector closed the connection before the hello. */
static int greet(const struct wire_hello *h, int64_t deadline)
{
	for (int tries = 0; tries < 2; tries++) {
		int fd = connection_dial(folder, deadline);

		if (fd < 0 || connection_hello(fd, h) == 0)
			return fd;
		if (errno != EPIPE && errno != ECONNRESET)
			return -1;
		connection_close();
	}
	errno = EAGAIN;
	return -1;
}

/* Sends a hello and uses the answer.  *usable: the answer was valid; a failure is then one of the memory that it grants. */
static int ask(const struct wire_hello *h, int64_t deadline, bool *usable)
{
	struct wire_welcome w = { 0 };
	int fds[2];
	int fd = greet(h, deadline);
	int rc = -1;

	*usable = fd >= 0 && connection_welcome(fd, deadline, &w, fds) == 0;
	if (*usable)
		rc = use_answer(&w, fds);
	else if (errno == EAGAIN || errno == EINTR)
		rc = go_on_alone(fd, h, &w);
	connection_close();
	if (rc == 0)
		settle(&w);
	return rc;
}

/* If memory cannot be shared, asks for the pipe, and at last for the smallest memory. */
static int handshake(int64_t deadline)
{
	struct wire_hello h = hello();
	bool usable;

	if (ask(&h, deadline, &usable) == 0)
		return 0;
	if (errno == EBADF && ask(&h, deadline, &usable) == 0)  /* the program closed the descriptor */
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

/* Another thread is connecting.  After its deadline this row is lost, and later rows do not wait again: that thread may never finish. */
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

/* Counts the rows that were missed.  If there never is an arena, the whole process is reported as missing. */
static void tell_missed(void)
{
	uint64_t n = __atomic_exchange_n(&guest->missed, 0, __ATOMIC_SEQ_CST);

	if (n)
		health_add(HEALTH_connect_slow, n);
}

/* Counts a row that its thread cannot record: another thread is connecting, or has finished just now. */
static void miss(void)
{
	__atomic_fetch_add(&guest->missed, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&guest->state, __ATOMIC_SEQ_CST) == SESSION_UP)
		tell_missed();
}

static void count_costs(const struct start_moment *begin)
{
	bool tsc = guest->clock == CLOCK_TSC;

	health_cost(COST_connect, tsc ? begin->tsc : begin->mono);
	health_cost(COST_start, clock_now() - (tsc ? starting.tsc : starting.mono));
}

static bool connect_first(void)
{
	struct start_moment begin = moment_now();

	last_pid = (uint32_t)session_real_pid();
	__atomic_store_n(&guest->deadline, begin.mono + WIRE_HANDSHAKE_MS * 1000000ll, __ATOMIC_RELAXED);
	if (!guest->start) {    /* a child for which no fork handler ran */
		guest->start = clock_ns(CLOCK_REALTIME);
		guest->unseen = 1;
	}
	if (handshake(begin.mono + WIRE_ANSWER_MS * 1000000ll) < 0) {
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
	/* Again: flags that another thread has set since then are only in guest->flags. */
	__atomic_fetch_or(&a->flags, guest->flags, __ATOMIC_RELAXED);
	tell_missed();
	return true;
}

/* A seccomp filter forbids to connect: tells the collector, if no forbidden call is needed for that. */
static void tell_filtered(void)
{
	if (__atomic_load_n(&guest->state, __ATOMIC_ACQUIRE) == SESSION_NEW)
		roster_line(folder, 's', last_pid, 0, guest->start, program_invocation_short_name);
}

bool session_connect(void)
{
	uint32_t state = __atomic_load_n(&guest->state, __ATOMIC_ACQUIRE);
	int saved = errno;
	struct signals_blocked blocked;
	bool up;

	if (state == SESSION_UP)
		return true;
	if (state == SESSION_OFF || !session_wanted())
		return false;
	if (!seccomp_allows(SECCOMP_CONNECT)) {
		tell_filtered();
		__atomic_compare_exchange_n(&guest->state, &state, SESSION_OFF, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
		return false;
	}
	signals_block(&blocked);
	state = SESSION_NEW;
	if (__atomic_compare_exchange_n(&guest->state, &state, SESSION_CONNECTING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		up = connect_first();
	else
		up = wait_for_other();
	if (!up)
		miss();
	signals_restore(&blocked);
	errno = saved;
	return up;
}

void session_flag(uint32_t bits)
{
	__atomic_fetch_or(&guest->flags, bits, __ATOMIC_RELAXED);
	/* A child inherits NVTX's filled tables: NVTX does not initialize again there. */
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
		futex_wake(&bell->rings, 1);
	if (guest->carrier)
		carrier_rang();
	errno = saved;
}

/*
 * The kernel has zeroed the page where it can.  The parent's arena stays mapped, unused.  No system call: the child may be under a filter
 * that kills it for one that libc would not have made.
 */
static void forked(void)
{
	struct start_moment begin = moment_now();
	uint32_t parent = last_pid;

	if (!wiped)     /* whatever its state: another thread may have been connecting */
		memset(guest, 0, sizeof *guest);
	connection_close();
	carrier_forked();
	guest->start = clock_ns(CLOCK_REALTIME);
	kept_flags |= PROCESS_FORKED;
	last_pid = self_id();
	if (session_wanted())
		roster_line(folder, kept_flags & PROCESS_FORKED_CUDA ? 'F' : 'f', last_pid, parent, guest->start,
			    program_invocation_short_name);
	starting = moment_since(begin);
}

void session_tell_lost(char why, const char *program)
{
	const char *slash = strrchr(program, '/');
	char text[ROSTER_LINE_MAX] = { why };

	if (!session_wanted())
		return;
	strncpy(text + 1, slash ? slash + 1 : program, sizeof text - 2);
	roster_line(folder, 'n', last_pid, 0, guest->start, text);
}

void session_forked_after_cuda(void)
{
	kept_flags |= PROCESS_FORKED_CUDA;
}

const struct module session_module = { .init = init, .forked = forked };
