#include "collector/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/log.h"
#include "trace/clock.h"

#define PAGE 4096u

/* Below this a busy thread and CUPTI's own would have no block each. */
#define MIN_ROOM (4u << 20)

/* A file keeps its whole size on a disk from the start: sparse, a full disk would kill the program with SIGBUS. */
#define MAX_FILE (32u << 20)

static int sealed_memfd(size_t size)
{
	int fd = memfd_create("gprof", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		fd = memfd_create("gprof", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	if (ftruncate(fd, (off_t)size) < 0) {
		close(fd);
		return -1;
	}
	/* A program that shrank it would have the collector run into SIGBUS. */
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	return fd;
}

static int file_in(const char *folder, size_t size)
{
	char path[PATH_MAX];
	int fd, e;

	snprintf(path, sizeof path, "%s/arena-XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -1;
	unlink(path);
	e = posix_fallocate(fd, 0, (off_t)size);
	if (!e)
		return fd;
	close(fd);
	errno = e;
	return -1;
}

void *shared_memory(const char *folder, size_t size, int *fd)
{
	void *p;

	*fd = sealed_memfd(size);
	if (*fd < 0)
		*fd = size <= MAX_FILE ? file_in(folder, size) : -1;
	if (*fd < 0) {
		fail("cannot make %zu KiB of shared memory: %s", size >> 10, strerror(errno));
		return NULL;
	}
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, *fd, 0);
	if (p != MAP_FAILED)
		return p;
	fail("cannot map %zu KiB of shared memory: %s", size >> 10, strerror(errno));
	close(*fd);
	*fd = -1;
	return NULL;
}

/* Only mappings of files give this signal, and all of ours are shared with guests. */
static void on_bus_error(int sig, siginfo_t *info, void *context)
{
	void *page = (void *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;

	(void)context;
	if (mmap(page, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
		signal(sig, SIG_DFL);
}

void shared_memory_guard(void)
{
	struct sigaction act = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };

	sigaction(SIGBUS, &act, NULL);
}

/* A quarter in small blocks, one for each of many threads; the rest in large ones for the busy. */
static void lay_out(struct arena_view *v, uint64_t size)
{
	uint64_t head = (sizeof(struct arena) + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	uint64_t room = size > head + MIN_ROOM ? size - head : MIN_ROOM;
	uint64_t small = room / 4 / SMALL_BLOCK, large;

	if (small > MAX_SLOTS)
		small = MAX_SLOTS;
	large = (room - small * SMALL_BLOCK) / LARGE_BLOCK;
	if (large > MAX_BLOCKS - small)
		large = MAX_BLOCKS - small;
	v->n_small = (uint32_t)small;
	v->n_large = (uint32_t)large;
	v->blocks = head;
	v->size = head + small * SMALL_BLOCK + large * LARGE_BLOCK;
}

static void *private_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p != MAP_FAILED)
		return p;
	fail("cannot map %zu KiB of memory: %s", size >> 10, strerror(errno));
	return NULL;
}

static void *memory_for(const char *folder, size_t size, int *fd)
{
	return fd ? shared_memory(folder, size, fd) : private_memory(size);
}

int arena_new(struct arena_view *v, const char *folder, uint64_t size, uint32_t process, unsigned clock,
	      const struct capture *capture, int *fd)
{
	lay_out(v, size);
	v->a = memory_for(folder, v->size, fd);
	if (!v->a && v->size > MAX_FILE) {
		lay_out(v, MAX_FILE - LARGE_BLOCK);
		v->a = memory_for(folder, v->size, fd);
	}
	if (!v->a)
		return -1;
	v->a->magic = ARENA_MAGIC;
	v->a->size = v->size;
	v->a->blocks = v->blocks;
	v->a->version = WIRE_VERSION;
	v->a->n_small = v->n_small;
	v->a->n_large = v->n_large;
	v->a->process = process;
	v->a->clock = clock;
	arena_tell(v, capture);
	return 0;
}

void arena_tell(struct arena_view *v, const struct capture *capture)
{
	for (uint32_t i = 0; i < ORDERS; i++) {
		struct order o = capture->orders[i].order;

		o.time = v->a->clock == CLOCK_TSC ? capture->orders[i].tsc : capture->orders[i].mono;
		v->a->orders[i] = o;
	}
	__atomic_store_n(&v->a->n_orders, capture->n_orders, __ATOMIC_RELEASE);
}

uint32_t capture_mask(const struct capture *c)
{
	return c->n_orders ? c->orders[(c->n_orders - 1) % ORDERS].order.mask : 0;
}

void capture_order(struct capture *c, uint32_t mask, bool over, uint32_t window)
{
	c->orders[c->n_orders % ORDERS] = (struct given){
		.order = { .mask = mask, .over = over, .window = window, .real = clock_ns(CLOCK_REALTIME) },
		.tsc = (int64_t)tsc_now(),
		.mono = clock_ns(CLOCK_MONOTONIC),
	};
	c->n_orders++;
}

void arena_release(struct arena_view *v)
{
	if (v->a)
		munmap(v->a, v->size);
	*v = (struct arena_view){ 0 };
}
