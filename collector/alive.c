#include "collector/alive.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/descriptors.h"
#include "collector/proc.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* Fields of /proc/PID/stat, numbered as in proc(5). */
enum { STAT_STATE = 3, STAT_THREADS = 20, STAT_BORN = 22 };

/* Reads the process's start time.  False: there is no such process, or all its threads have ended. */
static bool ask_proc(uint32_t pid, uint64_t *born)
{
	char text[1024], *p;
	ssize_t n = proc_read(pid, "stat", text, sizeof text - 1);
	unsigned long long threads = 0;
	char state;

	if (n <= 0)
		return false;
	text[n] = '\0';
	p = strrchr(text, ')');         /* the name before it may contain anything */
	if (!p || !p[1])
		return false;
	p += 2;
	state = *p;
	for (int i = STAT_STATE; i < STAT_BORN; i++) {
		if (i == STAT_THREADS)
			threads = strtoull(p, NULL, 10);
		p = strchr(p, ' ');
		if (!p)
			return false;
		p++;
	}
	*born = strtoull(p, NULL, 10);
	/* The first thread may be a zombie while others run. */
	return state != 'X' && (state != 'Z' || threads > 1);
}

int alive_watch(struct alive *a, uint32_t pid, int epoll, uint64_t tag)
{
	struct epoll_event want = { .events = EPOLLIN, .data.u64 = tag };

	*a = (struct alive)ALIVE_INIT;
	a->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (a->pidfd < 0 && errno == ESRCH)
		return -1;
	/* With thousands of processes under a low limit of descriptors, the others are polled. */
	if (a->pidfd >= 0 && !descriptors_may_watch(a->pidfd)) {
		close(a->pidfd);
		a->pidfd = -1;
	}
	if (a->pidfd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, a->pidfd, &want) < 0) {
		close(a->pidfd);
		a->pidfd = -1;
	}
	if (a->pidfd < 0 && !ask_proc(pid, &a->born))
		return -1;
	a->pid = pid;
	return 0;
}

bool alive_is(const struct alive *a)
{
	struct pollfd p = { .fd = a->pidfd, .events = POLLIN };
	uint64_t born;

	if (!a->pid)
		return false;
	if (a->pidfd >= 0)
		return poll(&p, 1, 0) == 0;
	return ask_proc(a->pid, &born) && born == a->born;
}

bool alive_needs_polling(const struct alive *a)
{
	return a->pid && a->pidfd < 0;
}

void alive_release(struct alive *a)
{
	if (a->pidfd >= 0)
		close(a->pidfd);        /* leaves the epoll set, too: the descriptor has no duplicate */
	*a = (struct alive)ALIVE_INIT;
}
