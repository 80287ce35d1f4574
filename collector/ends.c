#include "collector/ends.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/proc.h"
#include "trace/wire.h"

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

/* The kernel's struct pidfd_info as of Linux 6.15; later versions append members. */
struct exit_info {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, ids[8];
	int32_t code;
};

#define INFO_EXIT 8u                    /* bit of mask: code is known */
#define GET_INFO  _IOWR(0xff, 11, struct exit_info)

_Static_assert(sizeof(struct exit_info) == 64, "as long as the kernel's first version");

/* Fields of /proc/PID/stat, numbered as in proc(5). */
enum { STAT_STATE = 3, STAT_BORN = 22, STAT_CODE = 52 };

static void take_code(struct ending *e, int code)
{
	e->how = WIFSIGNALED(code) ? ENDED_SIGNAL : ENDED_EXIT;
	e->status = (uint32_t)(WIFSIGNALED(code) ? WTERMSIG(code) : WEXITSTATUS(code));
}

int64_t cpu_of(uint32_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (!pid || clock_getcpuclockid((pid_t)pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
		return 0;
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* True if the collector may see the exit status: otherwise the kernel shows 0. */
static bool may_read_code(uint32_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%u", pid);
	return stat(path, &st) == 0 && st.st_uid == geteuid() && st.st_gid == getegid();
}

/* Returns the exit code as of waitpid(); -1: it is not a zombie, or its code cannot be read. */
static int zombie_code(uint32_t pid, uint64_t *born)
{
	char text[1024], *p;
	ssize_t n = proc_read(pid, "stat", text, sizeof text - 1);
	long code;

	if (n <= 0)
		return -1;
	text[n] = '\0';
	p = strrchr(text, ')');         /* the name before it may contain anything */
	if (!p || p[1] != ' ' || p[2] != 'Z')
		return -1;
	p += 2;
	for (int i = STAT_STATE; i < STAT_CODE; i++) {
		if (i == STAT_BORN)
			*born = strtoull(p, NULL, 10);
		p = strchr(p, ' ');
		if (!p)
			return -1;
		p++;
	}
	code = strtol(p, NULL, 10);
	return code || may_read_code(pid) ? (int)code : -1;
}

/* True if nobody has waited for it: what was read under its pid was its own. */
static bool still_there(const struct alive *a, uint64_t born)
{
	if (a->pidfd >= 0)
		return syscall(SYS_pidfd_send_signal, a->pidfd, 0, NULL, 0) == 0 || errno != ESRCH;
	return born == a->born;
}

void ending_look(struct ending *e, const struct alive *a)
{
	struct exit_info info = { .mask = INFO_EXIT };
	uint64_t born = 0;
	int64_t cpu;
	int code;

	if (!a->pid || e->how)
		return;
	code = zombie_code(a->pid, &born);
	cpu = code >= 0 ? cpu_of(a->pid) : 0;
	if (code >= 0 && still_there(a, born)) {
		take_code(e, code);
		e->cpu = cpu;
	} else if (a->pidfd >= 0 && ioctl(a->pidfd, GET_INFO, &info) == 0 && info.mask & INFO_EXIT) {
		take_code(e, info.code);
	}
}
