#include "collector/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/log.h"
#include "trace/clock.h"
#include "trace/path.h"

#define PAGE 4096u

/* Largest file, in bytes.  Its blocks are allocated at once: with a sparse file, a full disk would kill the program with SIGBUS. */
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
	/* If the program shrank the memory, the collector would get SIGBUS. */
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	return fd;
}

static int file_in(const char *folder, size_t size)
{
	char path[PATH_MAX];
	int fd, e;

	if (path_join(path, sizeof path, folder, "arena-XXXXXX") < 0 || (fd = mkostemp(path, O_CLOEXEC)) < 0)
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

/* Only mappings of files cause this signal, and all of the collector's are shared with guests. */
static void on_bus_error(int sig, siginfo_t *info, void *context)
{
	void *page = (void *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;

	(void)context;
	if (info->si_code <= 0)         /* sent by a process: ignored, like other signals */
		return;
	if (mmap(page, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
		signal(sig, SIG_DFL);
}

void shared_memory_guard(void)
{
	struct sigaction act = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };

	sigaction(SIGBUS, &act, NULL);
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

static bool is_sparse(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals > 0 && seals & F_SEAL_GROW;
}

int arena_new(struct arena_view *v, const char *folder, uint64_t size, uint32_t process, unsigned clock,
	      const struct orders_given *capture, int *fd)
{
	v->layout = arena_lay_out(size);
	v->a = memory_for(folder, v->layout.size, fd);
	if (!v->a && v->layout.size > MAX_FILE) {
		v->layout = arena_lay_out(MAX_FILE - LARGE_BLOCK);
		v->a = memory_for(folder, v->layout.size, fd);
	}
	if (!v->a)
		return -1;
	v->sparse = fd && is_sparse(*fd);
	v->a->magic = ARENA_MAGIC;
	v->a->size = v->layout.size;
	v->a->blocks = v->layout.blocks;
	v->a->version = WIRE_VERSION;
	v->a->n_small = v->layout.n_small;
	v->a->n_large = v->layout.n_large;
	v->a->process = process;
	v->a->clock = clock;
	arena_tell(v, capture);
	return 0;
}

/* True if the header is as agreed.  The guest may overwrite it later, at its own loss. */
static bool is_laid_out(const struct arena_view *v, unsigned clock)
{
	const struct arena_layout *l = &v->layout;
	const struct arena *a = v->a;

	return a->magic == ARENA_MAGIC && a->version == WIRE_VERSION && a->size == l->size && a->blocks == l->blocks &&
	       a->n_small == l->n_small && a->n_large == l->n_large && a->clock == clock;
}

int arena_adopt(struct arena_view *v, int fd, uint64_t size, uint32_t process, unsigned clock, const struct orders_given *capture)
{
	struct stat st;

	v->layout = arena_lay_out(size);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || v->layout.size != size || (uint64_t)st.st_size != size)
		return fail("the size of its shared memory is not the size that it reported");
	v->a = mmap(NULL, v->layout.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (v->a == MAP_FAILED) {
		v->a = NULL;
		return fail("cannot map %" PRIu64 " KiB of its shared memory: %s", v->layout.size >> 10, strerror(errno));
	}
	if (!is_laid_out(v, clock)) {
		arena_release(v);
		return fail("its shared memory has no valid header");
	}
	v->sparse = is_sparse(fd);
	v->a->process = process;
	arena_tell(v, capture);
	return 0;
}

void arena_tell(struct arena_view *v, const struct orders_given *capture)
{
	for (uint32_t i = 0; i < ORDERS; i++) {
		struct order o = capture->orders[i].order;

		o.time = v->a->clock == CLOCK_TSC ? capture->orders[i].tsc : capture->orders[i].mono;
		v->a->orders[i] = o;
	}
	__atomic_store_n(&v->a->n_orders, capture->n_orders, __ATOMIC_RELEASE);
}

uint32_t capture_mask(const struct orders_given *c)
{
	return c->n_orders ? c->orders[(c->n_orders - 1) % ORDERS].order.mask : 0;
}

void capture_order(struct orders_given *c, uint32_t mask, bool over, uint32_t window)
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
		munmap(v->a, v->layout.size);
	*v = (struct arena_view){ 0 };
}
