#include "collector/bell.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/arena.h"
#include "collector/log.h"

#define BELL_BYTES 4096

/* Not FUTEX_PRIVATE_FLAG: other processes ring. */
static long futex(uint32_t *word, int op, uint32_t value)
{
	return syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

static void *listen_to(void *arg)
{
	struct bell_watch *w = arg;
	struct bell *bell = w->bell;
	uint32_t heard = __atomic_load_n(&bell->rings, __ATOMIC_SEQ_CST);
	const uint64_t one = 1;

	while (!__atomic_load_n(&w->stop, __ATOMIC_SEQ_CST)) {
		uint32_t rings;

		/* Set `sleeping` before the check: a process that rings in between then sees that it must wake this thread. */
		__atomic_store_n(&bell->sleeping, 1, __ATOMIC_SEQ_CST);
		rings = __atomic_load_n(&bell->rings, __ATOMIC_SEQ_CST);
		if (rings == heard)
			futex(&bell->rings, FUTEX_WAIT, rings);
		__atomic_store_n(&bell->sleeping, 0, __ATOMIC_SEQ_CST);
		rings = __atomic_load_n(&bell->rings, __ATOMIC_SEQ_CST);
		if (rings == heard)
			continue;
		heard = rings;
		if (write(w->event, &one, sizeof one) < 0) {
			/* The counter is at its maximum, so the descriptor is readable. */
		}
	}
	return NULL;
}

int bell_start(struct bell_watch *w, const char *folder)
{
	sigset_t all, before;
	int e;

	w->bell = shared_memory(folder, BELL_BYTES, &w->memory);
	if (!w->bell)
		return -1;
	w->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->event < 0)
		return fail("cannot make an eventfd: %s", strerror(errno));
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	e = pthread_create(&w->thread, NULL, listen_to, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (e)
		return fail("cannot start a thread: %s", strerror(e));
	w->running = true;
	return 0;
}

void bell_stop(struct bell_watch *w)
{
	if (w->running) {
		__atomic_store_n(&w->stop, true, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&w->bell->rings, 1, __ATOMIC_SEQ_CST);
		futex(&w->bell->rings, FUTEX_WAKE, 1);
		pthread_join(w->thread, NULL);
	}
	if (w->bell)
		munmap(w->bell, BELL_BYTES);
	if (w->memory >= 0)
		close(w->memory);
	if (w->event >= 0)
		close(w->event);
	*w = (struct bell_watch)BELL_INIT;
}

void bell_heard(struct bell_watch *w)
{
	uint64_t n;

	if (read(w->event, &n, sizeof n) < 0) {
		/* Nothing rang since the last read. */
	}
}
