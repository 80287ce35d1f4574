/* Telling by /proc whether a process is ours: it, or the one that started it, got our session's name in its environment. */
#include "collector/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/clocks.h"
#include "collector/describe.h"
#include "collector/environ.h"
#include "collector/proc.h"
#include "trace/health.h"

#define MAX_ENVIRON (1u << 20)

static bool carries_session(uint32_t pid, const char *folder)
{
	struct buf env = { 0 };
	bool ours = proc_read_all(pid, "environ", &env, MAX_ENVIRON) == 0 && !env.oom &&
		    environ_has((const char *)env.data, env.len, WIRE_ENV, folder);

	buf_free(&env);
	return ours;
}

/* A roster line has the pid as its writer sees it; in another pid namespace that is some stranger's here. */
static bool is_the_writer(const struct tree *t, const struct process *p)
{
	char name[32] = "";
	ssize_t n;

	if (carries_session(p->host_pid, t->folder))
		return true;
	/* setproctitle() writes over the environment; the name is what is left. */
	n = proc_read(p->host_pid, "comm", name, sizeof name - 1);
	name[n > 0 ? n - 1 : 0] = '\0';
	return n > 1 && strncmp(name, p->name, 15) == 0;
}

void tree_describe(struct tree *t)
{
	for (size_t i = t->first_live; i < t->n; i++) {
		struct process *p = t->all[i];

		if (p->end || p->described)
			continue;
		if (p->injected && !p->guest && p->host_pid && p->alive.pid && !is_the_writer(t, p))
			tree_disown(t, p);
		describe_process(t->rows, p, t->config);
		tree_put_row(t, p);
	}
}

static bool is_known(const struct tree *t, uint32_t host_pid)
{
	for (size_t i = t->first_live; i < t->n; i++)
		if (!t->all[i]->end && t->all[i]->host_pid == host_pid)
			return true;
	return false;
}

/* Environments of other users cannot be read anyway; asking for the owner first costs a third of the open. */
static bool may_be_ours(int dir, const char *name)
{
	struct stat st;

	return geteuid() == 0 || (fstatat(dir, name, &st, 0) == 0 && st.st_uid == geteuid());
}

size_t tree_find_strays(struct tree *t)
{
	DIR *dir = opendir("/proc");
	size_t found = 0;

	for (struct dirent *d; dir && (d = readdir(dir));) {
		uint32_t pid = isdigit((unsigned char)d->d_name[0]) ? (uint32_t)strtoul(d->d_name, NULL, 10) : 0;

		if (!pid || pid == (uint32_t)getpid() || pid == t->run_pid || !may_be_ours(dirfd(dir), d->d_name))
			continue;
		if (!carries_session(pid, t->folder) || is_known(t, pid) || !tree_add_stray(t, pid))
			continue;
		found++;
	}
	if (dir)
		closedir(dir);
	return found;
}

void tree_name_strays(struct tree *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct process *p = t->all[i];

		if (!p->injected)
			troubles_add(t->troubles, HEALTH_not_injected, 1, clocks_now(CLOCK_MONO), "%s (pid %u)", p->name, p->pid);
	}
}
