/*
 * Unified memory.  Each piece of 2 MiB is on the host or on one device, where it was used last.  A kernel uses all managed memory, as on
 * GPUs without page faults; each piece that is elsewhere costs the kernel a fault and a transfer.  A piece on a device is protected from
 * the host: the SIGSEGV handler acts as the host's page fault and moves the piece back.
 */
#include "test/sim/engine.h"

#include <cuda.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cupti_activity.h>

#define PIECE ((size_t)2 << 20)
#define PAGE 4096u
#define AT_HOST CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID
#define FAULT_NS 4000
#define LATENCY_NS 1200
#define BYTES_PER_NS 20
#define THROTTLE_NS 5000
#define GROUP ((size_t)256 << 10)       /* bytes covered by one group of faults */

/* Number of a piece's moves at which the driver reports thrashing, throttles, and maps the piece. */
enum { THRASHES = 4, THROTTLED = 6, MAPPED = 8 };

struct piece {
	uint32_t home, moves;
};

struct managed {
	char *base;
	size_t size;
	struct managed *next;
	struct piece pieces[];
};

struct move {
	char *base;
	size_t size;
	uint32_t from, moves;
};

/* The moves of one kernel, kept until the kernel's start is known. */
struct managed_moves {
	uint32_t device;
	size_t n, room;
	struct move move[];
};

static struct managed *list;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* no access to managed memory while it is held */
static struct sigaction before;
static pid_t handler_pid;

static size_t n_pieces(const struct managed *m)
{
	return (m->size + PIECE - 1) / PIECE;
}

static size_t piece_size(const struct managed *m, size_t i)
{
	return i + 1 < n_pieces(m) ? PIECE : m->size - i * PIECE;
}

static bool on_device(const struct piece *p)
{
	return p->home != AT_HOST;
}

static uint64_t transfer_ns(size_t bytes)
{
	return LATENCY_NS + bytes / BYTES_PER_NS;
}

/* ---- reports ---- */

static const char *const names[] = { "?",	   "HtoD",	 "DtoH",       "CPU fault", "GPU fault",
				     "thrashing", "throttling", "remote map", "DtoD" };

static void tell(uint32_t kind, uint64_t start, uint64_t end, const void *address, uint64_t value, uint32_t from, uint32_t to,
		 uint32_t flags)
{
	struct op op = { .type = OP_UNIFIED, .value = kind, .name = names[kind], .start = start, .end = end,
			 .address = (uint64_t)(uintptr_t)address, .bytes = value, .device = from, .peer_device = to,
			 .copy_kind = (uint8_t)flags };

	op_tell(&op);
}

static void tell_transfer(const struct move *v, uint32_t to, uint64_t start, uint64_t end, uint32_t cause)
{
	uint32_t kind = to == AT_HOST ? CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH :
			v->from == AT_HOST ? CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD :
					     CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD;
	uint32_t device = to == AT_HOST ? v->from : to;

	tell(kind, start, end, v->base, v->size, v->from, to, cause);
	if (v->moves == THRASHES)       /* devices are a bit mask here */
		tell(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING, start, 0, v->base, v->size, 1u << device, 0,
		     CUPTI_ACTIVITY_FLAG_THRASHING_IN_CPU);
	if (v->moves == THROTTLED)
		tell(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING, start, start + THROTTLE_NS, v->base, 0, AT_HOST, 0,
		     CUPTI_ACTIVITY_FLAG_THROTTLING_IN_CPU);
	if (v->moves == MAPPED)
		tell(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP, start, 0, v->base, v->size, device, AT_HOST,
		     CUPTI_ACTIVITY_UNIFIED_MEMORY_REMOTE_MAP_CAUSE_THRASHING);
}

/* ---- access by the host ---- */

/* Moves the piece that contains p to the host.  False: not managed memory.  v->from is AT_HOST if another thread was faster. */
static bool take_back(char *p, struct move *v)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (struct managed *m = list; m && !found; m = m->next) {
		size_t i = (size_t)(p - m->base) / PIECE;

		if (p < m->base || p >= m->base + m->size)
			continue;
		found = true;
		*v = (struct move){ m->base + i * PIECE, piece_size(m, i), AT_HOST, 0 };
		if (on_device(&m->pieces[i])) {
			v->from = m->pieces[i].home;
			v->moves = ++m->pieces[i].moves;
			m->pieces[i].home = AT_HOST;
		}
	}
	pthread_mutex_unlock(&lock);
	return found;
}

static void fault(int sig, siginfo_t *info, void *context)
{
	char *p = info->si_addr;
	uint64_t pc = 0, start = sim_now(), end;
	uint32_t access = CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_READ;
	int saved = errno;
	struct move v;

	if (!take_back(p, &v)) {
		sigaction(sig, &before, NULL);  /* not managed memory: the access repeats under the program's handler */
		return;
	}
#ifdef __x86_64__
	pc = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	if (((ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2)
		access = CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_WRITE;
#else
	(void)context;
#endif
	if (v.from != AT_HOST && getpid() == handler_pid) {
		start += 500;
		end = start + FAULT_NS + transfer_ns(v.size);
		tell(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT, start, 0,
		     (void *)((uintptr_t)p & -(uintptr_t)PAGE), pc, 0, 0, access);
		tell_transfer(&v, AT_HOST, start + FAULT_NS, end, CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE);
		wait_until(end);
	}
	if (v.from != AT_HOST)
		mprotect(v.base, v.size, PROT_READ | PROT_WRITE);
	errno = saved;
}

/* ---- allocations ---- */

/* New pieces are on the host, because programs usually fill memory before a kernel uses it. */
void managed_add(void *base, size_t size)
{
	struct managed *m = calloc(1, sizeof(*m) + ((size + PIECE - 1) / PIECE) * sizeof(*m->pieces));
	const struct sigaction mine = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_NODEFER };

	m->base = base;
	m->size = size;
	for (size_t i = 0; i < n_pieces(m); i++)
		m->pieces[i].home = AT_HOST;
	pthread_mutex_lock(&lock);
	if (handler_pid != getpid()) {
		handler_pid = getpid();
		sigaction(SIGSEGV, &mine, &before);
	}
	m->next = list;
	list = m;
	pthread_mutex_unlock(&lock);
}

void managed_remove(void *base)
{
	pthread_mutex_lock(&lock);
	for (struct managed **at = &list, *m; (m = *at); at = &m->next)
		if (m->base == base) {
			*at = m->next;
			free(m);
			break;
		}
	pthread_mutex_unlock(&lock);
}

/* For copies and sets that the stand-in makes in place of the GPU: they do not count as access by the host. */
void managed_open(const void *p, size_t n, bool open)
{
	const char *from = p, *to = from + n;

	pthread_mutex_lock(&lock);
	for (struct managed *m = list; m; m = m->next)
		for (size_t i = 0; i < n_pieces(m); i++) {
			char *base = m->base + i * PIECE;

			if (base < to && base + piece_size(m, i) > from && on_device(&m->pieces[i]))
				mprotect(base, piece_size(m, i), open ? PROT_READ | PROT_WRITE : PROT_NONE);
		}
	pthread_mutex_unlock(&lock);
}

/* ---- access by devices ---- */

static struct managed_moves *add_move(struct managed_moves *all, struct managed *m, size_t i)
{
	if (!all || all->n == all->room) {
		size_t room = all ? all->room * 2 : 16;
		struct managed_moves *more = realloc(all, sizeof(*all) + room * sizeof(*all->move));

		if (!all)
			more->n = 0;
		all = more;
		all->room = room;
	}
	all->move[all->n++] = (struct move){ m->base + i * PIECE, piece_size(m, i), m->pieces[i].home, m->pieces[i].moves };
	return all;
}

/* Moves the pieces in [from, to) to `home`.  Returns the moves; NULL: none needed. */
static struct managed_moves *move_to(uint32_t home, const char *from, const char *to)
{
	struct managed_moves *all = NULL;

	pthread_mutex_lock(&lock);
	for (struct managed *m = list; m; m = m->next)
		for (size_t i = 0; i < n_pieces(m); i++) {
			char *base = m->base + i * PIECE;

			if (m->pieces[i].home == home || base >= to || base + piece_size(m, i) <= from)
				continue;
			m->pieces[i].moves++;
			all = add_move(all, m, i);
			m->pieces[i].home = home;
			mprotect(base, piece_size(m, i), home == AT_HOST ? PROT_READ | PROT_WRITE : PROT_NONE);
		}
	if (all)
		all->device = home;
	pthread_mutex_unlock(&lock);
	return all;
}

struct managed_moves *managed_use(struct device *dev, uint64_t *ns)
{
	struct managed_moves *all = list ? move_to((uint32_t)dev->ordinal, NULL, (const char *)UINTPTR_MAX) : NULL;

	for (size_t i = 0; all && i < all->n; i++)
		*ns += FAULT_NS + transfer_ns(all->move[i].size);
	return all;
}

void managed_used(struct managed_moves *all, uint64_t start)
{
	for (size_t i = 0; all && i < all->n; i++) {
		struct move *v = &all->move[i];
		uint64_t end = start + FAULT_NS + transfer_ns(v->size);

		tell(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, start, end, v->base, (v->size + GROUP - 1) / GROUP,
		     all->device, 0, i % 2 ? CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_WRITE : CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_READ);
		tell_transfer(v, all->device, start + FAULT_NS, end, CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE);
		start = end;
	}
	free(all);
}

void managed_prefetch(struct stream *s, const void *p, size_t n, int device)
{
	struct managed_moves *all = move_to(device < 0 ? AT_HOST : (uint32_t)device, p, (const char *)p + n);
	uint64_t start = op_ready(s), end = start;

	for (size_t i = 0; all && i < all->n; i++) {
		end = start + transfer_ns(all->move[i].size);
		tell_transfer(&all->move[i], all->device, start, end, CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_USER);
		start = end;
	}
	pthread_mutex_lock(&engine_lock);
	if (end > s->tail)
		s->tail = end;
	pthread_mutex_unlock(&engine_lock);
	free(all);
}
