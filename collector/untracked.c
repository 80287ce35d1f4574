/* Finds out by /proc whether a process belongs to the session: the session's folder is in the environment that it inherited. */
#include "collector/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collector/clocks.h"
#include "collector/describe.h"
#include "collector/environ.h"
#include "collector/proc.h"
#include "trace/health.h"

#define MAX_ENVIRON (1u << 20)

enum answer { NO, YES, NOT_NOW };

static enum answer ask_environment(uint32_t pid, const char *folder)
{
	struct buf env = { 0 };
	enum answer answer = NO;
	char exe[64] = "";

	if (proc_read_all(pid, "environ", &env, MAX_ENVIRON) == 0 && !env.oom) {
		/*
		 * A program that is being started has an executable, but neither arguments nor environment yet; a kernel thread has no
		 * executable.
		 */
		if (!env.len && proc_read(pid, "cmdline", exe, 1) == 0)
			proc_link(pid, "exe", exe, sizeof exe);
		if (exe[0])
			answer = NOT_NOW;
		else if (environ_has((const char *)env.data, env.len, WIRE_ENV, folder))
			answer = YES;
	}
	buf_free(&env);
	return answer;
}

static bool carries_session(uint32_t pid, const char *folder)
{
	const struct timespec nap = { .tv_nsec = 200000 };
	enum answer answer = ask_environment(pid, folder);

	for (int i = 0; answer == NOT_NOW && i < 10; i++) {
		nanosleep(&nap, NULL);
		answer = ask_environment(pid, folder);
	}
	return answer == YES;
}

/*
 * True if the process at this pid wrote the roster line.  The line has the writer's pid in its own pid namespace, which may be another
 * process's here.
 */
static bool is_the_writer(const struct tree *t, const struct tree_process *p)
{
	char name[32] = "";
	ssize_t n;

	if (carries_session(p->host_pid, t->folder))
		return true;
	/* setproctitle() overwrites the environment; the name remains. */
	n = proc_read(p->host_pid, "comm", name, sizeof name - 1);
	name[n > 0 ? n - 1 : 0] = '\0';
	return n > 1 && strncmp(name, p->name, 15) == 0;
}

/* Reads the name: when the process was found, or named by gprof-run, it may have run another program. */
static void read_name(struct tree_process *p)
{
	char name[32];
	ssize_t n = proc_read(p->host_pid, "comm", name, sizeof name - 1);

	if (n <= 1)
		return;
	name[n - 1] = '\0';    /* a line end */
	strcpy(p->name, name);
}

/*
 * True if the process did an exec: its pid has the same parent, but its name is the one that the kernel takes from the executable.  (A
 * process of another pid namespace has another parent; one that changed its title has another name.)
 */
static bool is_fresh_image(const struct tree_process *p)
{
	char stat[512] = "", exe[4096] = "", *open, *close, *base;
	ssize_t n = proc_read(p->host_pid, "stat", stat, sizeof stat - 1);
	unsigned ppid;

	stat[n > 0 ? n : 0] = '\0';
	open = strchr(stat, '(');
	close = strrchr(stat, ')');
	proc_link(p->host_pid, "exe", exe, sizeof exe);
	base = strrchr(exe, '/');
	if (!open || !close || !base || sscanf(close + 1, " %*c %u", &ppid) != 1 || ppid != p->ppid)
		return false;
	*close = '\0';
	return strncmp(open + 1, base + 1, 15) == 0;
}

/* Its image no longer carries libgprof_inject.so: ends the process, and adds what runs on as one that is not injected. */
static void became_stray(struct tree *t, struct tree_process *p)
{
	uint32_t pid = p->host_pid;

	tree_end(t, p, PROCESS_EXECED);
	p = tree_add_stray(t, pid, "");
	if (p)
		read_name(p);
}

void tree_describe(struct tree *t)
{
	for (size_t i = 0; i < t->n_live; i++) {
		struct tree_process *p = t->live[i];

		if (p->end || p->described)
			continue;
		if (p->injected && !p->guest && p->host_pid && p->alive.pid && !is_the_writer(t, p)) {
			if (is_fresh_image(p)) {
				became_stray(t, p);
				continue;
			}
			if (!alive_is(&p->alive))
				continue;       /* it is gone; its end is reported next */
			tree_disown(t, p);
		}
		if (!p->injected)
			read_name(p);
		describe_process(t->rows, p, t->config);
		tree_put_row(t, p);
	}
}

/* Returns its pid in its innermost pid namespace, which it writes into roster lines. */
static uint32_t inner_pid(uint32_t pid)
{
	char text[4096], *line, *last;
	ssize_t n = proc_read(pid, "status", text, sizeof text - 1);

	text[n > 0 ? n : 0] = '\0';
	line = strstr(text, "\nNSpid:");
	if (!line)
		return pid;
	line++;
	line[strcspn(line, "\n")] = '\0';
	last = strrchr(line, '\t');
	return last ? (uint32_t)strtoul(last + 1, NULL, 10) : pid;
}

/* True if it is a process of another pid namespace that was disowned, because its pid is another process's here. */
static bool is_found_again(struct tree *t, uint32_t host_pid)
{
	uint32_t pid = inner_pid(host_pid);
	struct tree_process *p = pid != host_pid ? tree_find(t, pid) : NULL;

	if (!p || p->host_pid)
		return false;
	p->described = false;
	return tree_own(t, p, host_pid) == 0;
}

static bool is_known(const struct tree *t, uint32_t host_pid)
{
	for (size_t i = 0; i < t->n_live; i++)
		if (!t->live[i]->end && t->live[i]->host_pid == host_pid)
			return true;
	return false;
}

/* True for the collector of a session inside this one: it inherits this session's folder, and lives as long as its own processes. */
static bool is_collector(uint32_t pid)
{
	char self[4096], its[4096];

	proc_link((uint32_t)getpid(), "exe", self, sizeof self);
	proc_link(pid, "exe", its, sizeof its);
	return its[0] && strcmp(self, its) == 0;
}

/* Environments of other users cannot be read anyway; checking the owner first costs a third of opening the file. */
static bool may_be_ours(int dir, const char *name)
{
	struct stat st;

	return geteuid() == 0 || (fstatat(dir, name, &st, 0) == 0 && st.st_uid == geteuid());
}

size_t tree_find_untracked(struct tree *t)
{
	DIR *dir = opendir("/proc");
	struct tree_process *p;
	size_t found = 0;

	for (struct dirent *d; dir && (d = readdir(dir));) {
		uint32_t pid = isdigit((unsigned char)d->d_name[0]) ? (uint32_t)strtoul(d->d_name, NULL, 10) : 0;

		if (!pid || pid == (uint32_t)getpid() || pid == t->run_pid || !may_be_ours(dirfd(dir), d->d_name))
			continue;
		if (!carries_session(pid, t->folder) || is_known(t, pid) || is_collector(pid))
			continue;
		if (is_found_again(t, pid)) {
			found++;
		} else if ((p = tree_add_stray(t, pid, ""))) {
			read_name(p);
			found++;
		}
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Identifies the file that a process runs; 0: unknown. */
static uint64_t image_of(uint32_t host_pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%u/exe", host_pid);
	return stat(path, &st) == 0 ? (uint64_t)st.st_dev << 40 ^ (uint64_t)st.st_ino : 0;
}

void tree_notice_exec(struct tree *t, struct tree_process *p)
{
	uint64_t image = p->injected && !p->end && p->host_pid ? image_of(p->host_pid) : 0;

	if (!image || !p->image || image == p->image) {
		p->image = image ? image : p->image;
		p->other_image = false;
	} else if (!p->other_image) {
		p->other_image = true;  /* its constructor may be about to run */
	} else {
		became_stray(t, p);
	}
}

void tree_name_untracked(struct tree *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct tree_process *p = t->all[i];

		if (!p->injected)
			health_counts_add(t->health_counts, HEALTH_not_injected, 1, clocks_now(CLOCK_MONO), "%s (pid %u)",
					  p->name, p->pid);
	}
}
