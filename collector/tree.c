#include "collector/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/account.h"
#include "collector/clocks.h"
#include "collector/mirror.h"
#include "collector/pipe.h"
#include "collector/proc.h"
#include "collector/salvage.h"
#include "trace/clock.h"
#include "trace/health.h"

/* 200 bytes each are kept to the end, for parents and reused pids. */
#define MAX_PROCESSES (1u << 20)

static struct process **bucket(struct tree *t, uint32_t pid)
{
	return &t->buckets[pid % TREE_BUCKETS];
}

struct process *tree_find(const struct tree *t, uint32_t pid)
{
	struct process *p = t->buckets[pid % TREE_BUCKETS];

	while (p && (p->pid != pid || p->end))
		p = p->next;
	return p;
}

/* The newest with that pid, dead or alive. */
static struct process *newest(const struct tree *t, uint32_t pid)
{
	struct process *p = t->buckets[pid % TREE_BUCKETS];

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

/* A parent may be gone before its child is heard of. */
static uint32_t number_of(const struct tree *t, uint32_t pid)
{
	const struct process *p = newest(t, pid);

	return p ? p->number : 0;
}

void tree_put_row(struct tree *t, struct process *p)
{
	struct process_row row = {
		.start = p->start, .end = p->end, .number = p->number, .pid = p->pid, .host_pid = p->host_pid,
		.ppid = p->ppid, .parent = p->parent, .flags = process_flags(p),
	};
	const struct ending_row ending = { p->ending.cpu, p->number, p->ending.how, p->ending.status, 0 };

	p->flags_told = row.flags;
	staging_put(t->rows, record_by_kind(ROW_process), &row, NULL, 0);
	if (ending.how || ending.cpu)
		staging_put(t->rows, record_by_kind(ROW_ending), &ending, NULL, 0);
}

static void watch(struct tree *t, struct process *p, uint32_t host_pid)
{
	if (p->alive.pid)
		t->n_watched--;
	alive_release(&p->alive);
	p->host_pid = host_pid;
	if (host_pid && alive_watch(&p->alive, host_pid, t->epoll, tree_tag(p->number)) == 0)
		t->n_watched++;
}

static void unwatch(struct tree *t, struct process *p)
{
	if (p->alive.pid)
		t->n_watched--;
	alive_release(&p->alive);
}

/* Room for one more in a list; max: places that it may have.  False: there is none. */
static bool make_room(struct process ***list, size_t n, size_t *cap, size_t max)
{
	size_t larger = *cap ? *cap * 2 : 64;
	struct process **fresh;

	if (n < *cap)
		return true;
	fresh = larger <= max ? realloc(*list, larger * sizeof *fresh) : NULL;
	if (!fresh)
		return false;
	*list = fresh;
	*cap = larger;
	return true;
}

static struct process *add(struct tree *t, uint32_t pid, uint32_t ppid, int64_t start, const char *name)
{
	struct process *p;

	if (!make_room(&t->all, t->n, &t->cap, MAX_PROCESSES) ||
	    !make_room(&t->live, t->n_live, &t->live_cap, MAX_PROCESSES)) {
		troubles_add(t->troubles, HEALTH_processes_full, 1, clocks_now(CLOCK_MONO), "%s", name);
		return NULL;
	}
	p = process_new(t->clock);
	if (!p)
		return NULL;
	t->all[t->n++] = p;
	t->live[t->n_live++] = p;
	p->number = (uint32_t)t->n;
	p->pid = pid;
	p->ppid = ppid;
	p->start = start;
	p->parent = number_of(t, ppid);
	snprintf(p->name, sizeof p->name, "%s", name);
	p->next = *bucket(t, pid);
	*bucket(t, pid) = p;
	return p;
}

static void name_it(struct process *p, const char *name)
{
	snprintf(p->name, sizeof p->name, "%s", name);
}

/* gprof-run named the pid, or we found it in /proc, before we heard its own image; by then it may be gone. */
static struct process *find_awaited(const struct tree *t, const struct roster_line *l)
{
	struct process *p = newest(t, l->pid);

	return p && !p->injected && (!p->end || p->end >= l->start) ? p : NULL;
}

static unsigned how_flags(char how)
{
	if (how == 'c')
		return PROCESS_PRELOADED;
	return how == 'd' ? 0 : PROCESS_FORKED | (how == 'F' ? PROCESS_FORKED_CUDA : 0);
}

/*
 * A new image, or a child: whoever had the pid is over.  One that ended is known to have within milliseconds, and pids
 * go around in thousands of processes, so a new image of one that we hold for alive is an exec, even if it is gone
 * itself by now.
 */
static void take_over(struct tree *t, struct process *before, uint32_t ppid, char how)
{
	bool execed = (how == 'c' || how == 'd') && (ppid == before->ppid || alive_is(&before->alive));

	tree_end(t, before, execed ? PROCESS_EXECED : 0);
}

/*
 * We come late: the image before was gone when we looked, and so its process was over for us.  It was not, if the new image began before
 * that, of the same pid and parent.
 */
static void find_late_exec(struct tree *t, const struct roster_line *l)
{
	struct process *p = newest(t, l->pid);

	if (!p || !p->injected || !p->end || p->host_pid != p->pid || p->flags & PROCESS_EXECED || (l->how != 'c' && l->how != 'd') ||
	    p->ppid != l->ppid || p->end < l->start || p->start >= l->start)
		return;
	p->flags |= PROCESS_EXECED;
	tree_put_row(t, p);
}

/* What is known of a process only when it has ended. */
static void tell_end(struct tree *t, struct process *p)
{
	if (!p->described)
		staging_attribute(t->rows, p->number, "name", "%s", p->name);
	account_process(p, t->out);
	troubles_release(&p->troubles);
}

void tree_refused(struct tree *t, struct process *p, const char *why)
{
	if (troubles_find(&p->troubles, HEALTH_refused))
		return;
	troubles_add(&p->troubles, HEALTH_refused, 1, clocks_now(t->clock), "%s (pid %u): %s", p->name, p->pid, why);
	if (p->end)     /* what it said, or asked for, was heard only now */
		tell_end(t, p);
}

static bool use_frame(void *arg, const struct frame *f, const void *body)
{
	struct tree *t = arg;
	struct process *p = f->process && f->process <= t->n ? t->all[f->process - 1] : NULL;

	return p && p->guest && p->guest->mirror && mirror_apply(p, f, body);
}

void tree_hear_pipe(struct tree *t)
{
	const struct frame_user mirrors = { use_frame, t };
	uint64_t bad;

	if (!t->pipe)
		return;
	bad = t->pipe->bad;
	pipe_read(t->pipe, &mirrors);
	if (t->pipe->bad > bad)
		troubles_add(t->troubles, HEALTH_pipe_frames, t->pipe->bad - bad, clocks_now(CLOCK_MONO), NULL);
}

/* At its end some of its rows had no room in the pipe. */
static void left_rows(struct process *p, const char *rows)
{
	if (p && p->guest && p->guest->mirror)
		p->guest->mirror->left = strtoull(rows, NULL, 10);
}

/* It did not wait for our answer, or could not use it. */
static void gave_up(struct tree *t, struct process *p, const char *why)
{
	if (p)
		tree_refused(t, p, why);
	if (!p || !p->guest || p->guest->view.a->life != LIFE_NEW)
		return;
	guest_free(p);
	p->flags &= ~PROCESS_CONNECTED;
	tree_put_row(t, p);
}

/* Everything that is in it is taken. */
static void leave_arena(struct tree *t, struct process *p)
{
	salvage(p, false);
	asked_note(&t->asked, p->guest);
	t->ready_of_gone += __atomic_load_n(&p->guest->view.a->n_ready, __ATOMIC_RELAXED);
}

/* Who wrote it: the end of a process may be seen before its last line is read. */
static struct process *writer(const struct tree *t, const struct roster_line *l)
{
	struct process *p = newest(t, l->pid);

	while (p && (p->pid != l->pid || p->start != l->start))
		p = p->next;
	return p ? p : tree_find(t, l->pid);
}

void tree_roster(struct tree *t, const struct roster_line *l)
{
	struct process *p = tree_find(t, l->pid);
	bool twice = p && p->injected && p->start == l->start;

	if (l->how == 'x') {
		gave_up(t, writer(t, l), strerror(atoi(l->name)));
		return;
	}
	if (l->how == 'l') {
		left_rows(p, l->name);
		return;
	}
	if (p && p->injected && !twice && p->host_pid == p->pid) {
		take_over(t, p, l->ppid, l->how);
		p = NULL;
	}
	if (!p || !p->injected)
		p = find_awaited(t, l);
	if (p && !p->injected) {
		p->start = l->start;
		p->ppid = l->ppid;
		p->described = false;
		name_it(p, l->name);
	} else if (!twice) {
		find_late_exec(t, l);
		p = add(t, l->pid, l->ppid, l->start, l->name);
		if (!p)
			return;
		watch(t, p, l->pid);
	}
	p->injected = true;
	tree_notice_exec(t, p);         /* remembers what it runs */
	p->flags |= how_flags(l->how);
	if (l->how == 'F' && !twice)
		troubles_add(&p->troubles, HEALTH_forked_after_cuda, 1, clocks_now(t->clock), "%s (pid %u)", p->name,
			     p->pid);
	tree_put_row(t, p);
	if (p->end)
		tell_end(t, p);
	else if (!p->alive.pid)
		tree_end(t, p, 0);      /* gone before we could look: its end is not later than now */
}

struct process *tree_add_stray(struct tree *t, uint32_t pid, const char *name)
{
	struct process *p = add(t, pid, 0, clock_ns(CLOCK_REALTIME), name);

	if (!p)
		return NULL;
	watch(t, p, pid);
	tree_put_row(t, p);
	if (p->alive.pid)
		return p;
	tree_end(t, p, 0);
	return NULL;
}

/* gprof-run tells the pid before its exec is done: the process's own name would be gprof-run's. */
void tree_main(struct tree *t, uint32_t pid)
{
	const char *command = t->config->command;
	size_t n = strcspn(command, " ");
	const char *slash = memrchr(command, '/', n);
	char name[ROSTER_LINE_MAX];

	if (slash) {
		n -= (size_t)(slash + 1 - command);
		command = slash + 1;
	}
	snprintf(name, sizeof name, "%.*s", (int)n, command);
	if (!newest(t, pid))
		tree_add_stray(t, pid, name);
}

void tree_disown(struct tree *t, struct process *p)
{
	unwatch(t, p);
	p->host_pid = 0;
}

int tree_own(struct tree *t, struct process *p, uint32_t host_pid)
{
	watch(t, p, host_pid);
	tree_put_row(t, p);
	return p->alive.pid ? 0 : -1;
}

/* By the guest's own pid and start; a process of another pid namespace shows itself here for the first time. */
static struct process *find_image(struct tree *t, const struct wire_hello *h, uint32_t host_pid)
{
	struct process *p = *bucket(t, h->pid);

	for (; p; p = p->next) {
		if (p->pid != h->pid || p->end)
			continue;
		if (p->injected ? p->start == h->start : p->host_pid == host_pid)
			return p;
	}
	return NULL;
}

struct process *tree_hello(struct tree *t, const struct wire_hello *h, uint32_t host_pid)
{
	struct process *p = find_image(t, h, host_pid);
	char name[sizeof h->name + 1] = "";

	memcpy(name, h->name, sizeof h->name);
	if (!p) {
		struct process *before = newest(t, h->pid);

		if (before && before->end && before->injected && before->start == h->start)
			return before;
		if (before && !before->end && before->host_pid == host_pid)
			take_over(t, before, h->ppid, 'c');
		p = add(t, h->pid, h->ppid, h->start, name);
	}
	if (!p)
		return NULL;
	if (p->host_pid != host_pid || !p->alive.pid)
		watch(t, p, host_pid);
	if (!p->injected) {
		p->start = h->start;
		p->ppid = h->ppid;
		name_it(p, name);
	}
	p->injected = true;
	p->flags |= h->flags & (PROCESS_FORKED | PROCESS_FORKED_CUDA | PROCESS_PRELOADED);
	return p;
}

void tree_forget_arena(struct tree *t, struct process *p)
{
	if (!p->guest)
		return;
	tree_hear_pipe(t);
	if (p->guest->view.a->life != LIFE_NEW) /* else it could not use what it was given, and asks again */
		leave_arena(t, p);
	p->flags = process_flags(p);
	account_process(p, t->out);
	staging_write(&p->guest->staging);
	guest_free(p);
}

/* What it noted itself where the kernel says nothing: its parent was quicker than we, on a kernel before 6.15. */
static void take_own_word(struct process *p)
{
	const struct arena *a = p->guest->view.a;
	int64_t cpu = a->cpu;
	uint32_t status = a->exit_status;

	if (!p->ending.how && status >> 8 == 1)
		p->ending = (struct ending){ ENDED_EXIT, status & 255, p->ending.cpu };
	if (!p->ending.cpu && cpu > 0)
		p->ending.cpu = cpu;
}

void tree_look_at_end(struct tree *t, uint32_t number)
{
	struct process *p = number && number <= t->n ? t->all[number - 1] : NULL;

	/* An event of a pidfd that was closed since says nothing. */
	if (p && !p->end && p->alive.pid && !alive_is(&p->alive))
		ending_look(&p->ending, &p->alive);
}

void tree_told_end(struct tree *t, uint32_t pid, const struct ending *e)
{
	struct process *p = newest(t, pid);

	if (!p || p->host_pid != pid)
		return;
	if (!p->ending.how) {
		p->ending.how = e->how;
		p->ending.status = e->status;
	}
	p->ending.cpu = e->cpu ? e->cpu : p->ending.cpu;
	if (p->end)
		tree_put_row(t, p);
}

void tree_end(struct tree *t, struct process *p, unsigned flags)
{
	if (p->end)
		return;
	if (!(flags & PROCESS_EXECED))
		ending_look(&p->ending, &p->alive);
	if (p->guest && p->guest->mirror)
		tree_hear_pipe(t);
	if (p->guest) {
		if (p->guest->view.a->life == LIFE_NEW && !p->guest->mirror) {
			tree_refused(t, p, "it did not take its memory in time");
			p->flags &= ~PROCESS_CONNECTED;
		}
		leave_arena(t, p);
		take_own_word(p);
	}
	p->flags = process_flags(p) | PROCESS_ENDED | flags;
	p->end = clock_ns(CLOCK_REALTIME);
	tell_end(t, p);
	if (p->guest)
		staging_write(&p->guest->staging);
	guest_free(p);
	unwatch(t, p);
	tree_put_row(t, p);
}

void tree_tidy(struct tree *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_live; i++)
		if (!t->live[i]->end)
			t->live[n++] = t->live[i];
	t->n_live = n;
}

void tree_reap(struct tree *t, bool all)
{
	for (size_t i = 0; i < t->n_live; i++) {
		struct process *p = t->live[i];

		if (!p->end && p->alive.pid && (all || alive_needs_polling(&p->alive)) && !alive_is(&p->alive))
			tree_end(t, p, 0);
	}
}

void tree_release(struct tree *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct process *p = t->all[i];

		unwatch(t, p);
		guest_free(p);
		troubles_release(&p->troubles);
		free(p);
	}
	free(t->all);
	free(t->live);
	t->all = t->live = NULL;
	t->n = t->cap = t->n_live = t->live_cap = 0;
}
