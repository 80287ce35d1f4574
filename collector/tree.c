#include "collector/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/account.h"
#include "collector/clocks.h"
#include "collector/arena_replica.h"
#include "collector/proc.h"
#include "collector/salvage.h"
#include "trace/clock.h"
#include "trace/grow.h"
#include "trace/health.h"

/* 200 bytes each, kept to the session's end for parents and reused pids. */
#define MAX_PROCESSES (1u << 20)

static struct tree_process **bucket(struct tree *t, uint32_t pid)
{
	return &t->buckets[pid % TREE_BUCKETS];
}

struct tree_process *tree_find(const struct tree *t, uint32_t pid)
{
	struct tree_process *p = t->buckets[pid % TREE_BUCKETS];

	while (p && (p->pid != pid || p->end))
		p = p->next;
	return p;
}

/* Returns the newest process with that pid, over or not; NULL: none. */
static struct tree_process *newest(const struct tree *t, uint32_t pid)
{
	struct tree_process *p = t->buckets[pid % TREE_BUCKETS];

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

/* The parent may have ended before its child is known. */
static uint32_t number_of(const struct tree *t, uint32_t pid)
{
	const struct tree_process *p = newest(t, pid);

	return p ? p->number : 0;
}

void tree_put_row(struct tree *t, struct tree_process *p)
{
	struct process_row row = {
		.start = p->start, .end = p->end, .number = p->number, .pid = p->pid, .host_pid = p->host_pid,
		.ppid = p->ppid, .parent = p->parent, .flags = process_flags(p),
	};
	const struct ending_row ending = { p->ending.cpu, p->number, p->ending.how, p->ending.status, 0 };

	p->flags_written = row.flags;
	staging_put(t->rows, record_by_kind(ROW_process), &row, NULL, 0);
	if (ending.how || ending.cpu)
		staging_put(t->rows, record_by_kind(ROW_ending), &ending, NULL, 0);
}

static void watch(struct tree *t, struct tree_process *p, uint32_t host_pid)
{
	if (p->alive.pid)
		t->n_watched--;
	alive_release(&p->alive);
	p->host_pid = host_pid;
	if (host_pid && alive_watch(&p->alive, host_pid, t->epoll, tree_tag(p->number)) == 0)
		t->n_watched++;
}

static void unwatch(struct tree *t, struct tree_process *p)
{
	if (p->alive.pid)
		t->n_watched--;
	alive_release(&p->alive);
}

/* Sets what a process says of itself in its line or hello. */
static void name_it(const struct tree *t, struct tree_process *p, uint32_t ppid, int64_t start, const char *name)
{
	p->ppid = ppid;
	p->parent = number_of(t, ppid);
	p->start = start;
	snprintf(p->name, sizeof p->name, "%s", name);
}

static struct tree_process *add_process(struct tree *t, uint32_t pid, uint32_t ppid, int64_t start, const char *name)
{
	struct tree_process *p;

	if (t->n >= MAX_PROCESSES || !GROW(t->all, t->n + 1, t->cap) || !GROW(t->live, t->n_live + 1, t->live_cap)) {
		health_counts_add(t->health_counts, HEALTH_processes_full, 1, clocks_now(CLOCK_MONO), "%s", name);
		return NULL;
	}
	p = process_new(t->clock);
	if (!p)
		return NULL;
	t->all[t->n++] = p;
	t->live[t->n_live++] = p;
	p->number = (uint32_t)t->n;
	p->pid = pid;
	name_it(t, p, ppid, start, name);
	p->next = *bucket(t, pid);
	*bucket(t, pid) = p;
	return p;
}

/* Returns the process that gprof-run named, or that was found in /proc, before its own line was read; by then it may be over. */
static struct tree_process *find_awaited(const struct tree *t, const struct roster_line *l)
{
	struct tree_process *p = newest(t, l->pid);

	return p && !p->injected && (!p->end || p->end >= l->start) ? p : NULL;
}

static unsigned how_flags(char how)
{
	if (how == 'c')
		return PROCESS_PRELOADED;
	return how == 'd' ? 0 : PROCESS_FORKED | (how == 'F' ? PROCESS_FORKED_CUDA : 0);
}

/*
 * A new image or child has the pid of `before`, which is therefore over.  An end is known within milliseconds, and pids are reused after
 * thousands of processes: a new image of a process that counts as alive is an exec, even if it has itself ended by now.
 */
static void take_over(struct tree *t, struct tree_process *before, uint32_t ppid, char how)
{
	bool execed = (how == 'c' || how == 'd') && (ppid == before->ppid || alive_is(&before->alive));

	tree_end(t, before, execed ? PROCESS_EXECED : 0);
}

/*
 * The lines are read late: the image before had ended when the collector looked, and its process counted as over.  If the new image of the
 * same pid and parent began before that, it was an exec.
 */
static void find_late_exec(struct tree *t, const struct roster_line *l)
{
	struct tree_process *p = newest(t, l->pid);

	if (!p || !p->injected || !p->end || p->host_pid != p->pid || p->flags & PROCESS_EXECED || (l->how != 'c' && l->how != 'd') ||
	    p->ppid != l->ppid || p->end < l->start || p->start >= l->start)
		return;
	p->flags |= PROCESS_EXECED;
	tree_put_row(t, p);
}

/* Returns the process, over or not, that began at that moment; NULL: none. */
static struct tree_process *find_started(const struct tree *t, uint32_t pid, int64_t start)
{
	struct tree_process *p = newest(t, pid);

	while (p && !(p->pid == pid && p->injected && p->start == start))
		p = p->next;
	return p;
}

/* Writes what is known of a process only when it has ended. */
static void tell_end(struct tree *t, struct tree_process *p)
{
	if (!p->described)
		staging_attribute(t->rows, p->number, "name", "%s", p->name);
	account_process(p, t->out);
	health_counts_release(&p->health_counts);
}

void tree_refused(struct tree *t, struct tree_process *p, const char *why)
{
	if (health_counts_find(&p->health_counts, HEALTH_refused))
		return;
	health_counts_add(&p->health_counts, HEALTH_refused, 1, clocks_now(t->clock), "%s (pid %u): %s", p->name, p->pid, why);
	if (p->end)     /* its message was read only now */
		tell_end(t, p);
}

/* At its end, some of its rows, or even its hello, had no room in the pipe. */
static void left_rows(struct tree *t, struct tree_process *p, const char *rows)
{
	uint64_t n = strtoull(rows, NULL, 10);
	char why[80];

	if (p && p->guest && p->guest->replica) {
		p->guest->replica->left = n;
	} else if (p && n && !(p->flags & PROCESS_CONNECTED)) {
		snprintf(why, sizeof why, "the pipe had no room for its %" PRIu64 " rows", n);
		tree_refused(t, p, why);
	}
}

/* It did not wait for the answer, or could not use it. */
static void gave_up(struct tree *t, struct tree_process *p, const char *why)
{
	if (p)
		tree_refused(t, p, why);
	if (!p || !p->guest || p->guest->view.a->life != LIFE_NEW)
		return;
	guest_free(p);
	p->flags &= ~PROCESS_CONNECTED;
	tree_put_row(t, p);
}

/* Takes everything in the arena. */
static void leave_arena(struct tree *t, struct tree_process *p)
{
	salvage(p, false);
	unmatched_note(&t->unmatched, p->guest);
	t->ready_of_gone += __atomic_load_n(&p->guest->view.a->n_ready, __ATOMIC_RELAXED);
}

static void note_forked_after_cuda(struct tree *t, struct tree_process *p)
{
	if (!health_counts_find(&p->health_counts, HEALTH_forked_after_cuda))
		health_counts_add(&p->health_counts, HEALTH_forked_after_cuda, 1, clocks_now(t->clock), "%s (pid %u)", p->name, p->pid);
}

/* Returns the writer of a line: its end may be seen before its last line is read. */
static struct tree_process *writer(const struct tree *t, const struct roster_line *l)
{
	struct tree_process *p = find_started(t, l->pid, l->start);

	return p ? p : tree_find(t, l->pid);
}

/*
 * Adds an image whose line is read when its successor, which says hello at once, is already known: the image is over, the successor is
 * not.  It is put behind the successor in the bucket, where the first process of a pid is the newest.
 */
static struct tree_process *add_past(struct tree *t, struct tree_process *successor, const struct roster_line *l)
{
	struct tree_process *p = add_process(t, l->pid, l->ppid, l->start, l->name);
	bool execed = !(successor->flags & PROCESS_FORKED) && successor->ppid == l->ppid;

	if (!p)
		return NULL;
	*bucket(t, l->pid) = p->next;
	p->next = successor->next;
	successor->next = p;
	p->injected = true;
	p->host_pid = successor->host_pid;
	p->end = successor->start;
	p->flags = how_flags(l->how) | PROCESS_ENDED | (execed ? PROCESS_EXECED : 0);
	return p;
}

/* Handles a line that is not of the newest image of its pid.  True: handled. */
static bool is_past(struct tree *t, struct tree_process *live, const struct roster_line *l)
{
	struct tree_process *p = find_started(t, l->pid, l->start);

	if (p ? !p->end : !live || !live->injected || live->host_pid != live->pid || l->start >= live->start)
		return false;
	if (!p && !(p = add_past(t, live, l)))
		return true;
	p->flags |= how_flags(l->how);
	if (l->how == 'F')
		note_forked_after_cuda(t, p);
	tell_end(t, p);
	tree_put_row(t, p);
	return true;
}

/* Without an arena the process cannot count it itself. */
static void filtered(struct tree *t, struct tree_process *p)
{
	if (!p || health_counts_find(&p->health_counts, HEALTH_filtered))
		return;
	health_counts_add(&p->health_counts, HEALTH_filtered, 1, clocks_now(t->clock), "%s (pid %u): nothing was recorded after the filter", p->name, p->pid);
	if (p->end)     /* its last line was read only now */
		tell_end(t, p);
}

/* Ends the older process of the same pid: a hello in the pipe did not replace it. */
static void end_older(struct tree *t, const struct tree_process *p, const struct roster_line *l)
{
	for (struct tree_process *q = p->next; q && p->late; q = q->next)
		if (q->pid == p->pid && q->injected && q->host_pid == p->host_pid && !q->end)
			take_over(t, q, l->ppid, l->how);
}

struct tree_process *tree_roster(struct tree *t, const struct roster_line *l)
{
	struct tree_process *p = tree_find(t, l->pid);
	bool twice = p && p->injected && p->start == l->start;

	if (l->how == 'x') {
		gave_up(t, writer(t, l), strerror(atoi(l->name)));
		return NULL;
	}
	if (l->how == 's') {
		filtered(t, writer(t, l));
		return NULL;
	}
	if (l->how == 'l') {
		left_rows(t, writer(t, l), l->name);
		return NULL;
	}
	if (is_past(t, p, l))
		return NULL;
	if (p && p->injected && !twice && p->host_pid == p->pid) {
		take_over(t, p, l->ppid, l->how);
		p = find_started(t, l->pid, l->start);  /* tree_end() may have read its hello in the pipe */
		twice = p != NULL;
	}
	if (!p || !p->injected)
		p = find_awaited(t, l);
	if (p && !p->injected) {
		p->described = false;
		name_it(t, p, l->ppid, l->start, l->name);
	} else if (!twice) {
		find_late_exec(t, l);
		p = add_process(t, l->pid, l->ppid, l->start, l->name);
		if (!p)
			return NULL;
		watch(t, p, l->pid);
	}
	p->injected = true;
	end_older(t, p, l);
	p->flags |= how_flags(l->how);
	if (l->how == 'F')
		note_forked_after_cuda(t, p);
	tree_put_row(t, p);
	if (p->end)
		tell_end(t, p);
	else if (!p->alive.pid)
		tree_end(t, p, 0);      /* ended before it could be watched: its end is not later than now */
	return p;
}

struct tree_process *tree_add_stray(struct tree *t, uint32_t pid, const char *name)
{
	struct tree_process *p = add_process(t, pid, 0, clock_ns(CLOCK_REALTIME), name);

	if (!p)
		return NULL;
	watch(t, p, pid);
	tree_put_row(t, p);
	if (p->alive.pid)
		return p;
	tree_end(t, p, 0);
	return NULL;
}

/* gprof-run tells the pid before exec() is done: the name comes from the command, as the process still has gprof-run's. */
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

void tree_disown(struct tree *t, struct tree_process *p)
{
	unwatch(t, p);
	p->host_pid = 0;
}

int tree_own(struct tree *t, struct tree_process *p, uint32_t host_pid)
{
	watch(t, p, host_pid);
	tree_put_row(t, p);
	return p->alive.pid ? 0 : -1;
}

/* Returns a process that was found or named before its hello; NULL: none. */
static struct tree_process *find_unheard(struct tree *t, const struct wire_hello *h, uint32_t host_pid)
{
	struct tree_process *p = *bucket(t, h->pid);

	while (p && (p->pid != h->pid || p->end || p->injected || p->host_pid != host_pid))
		p = p->next;
	return p;
}

/* Adds a process of which no roster line came. */
static struct tree_process *add_unheard(struct tree *t, const struct wire_hello *h, uint32_t host_pid, const char *name)
{
	struct roster_line line = { .how = h->flags & PROCESS_FORKED ? 'f' : 'c', .pid = h->pid, .ppid = h->ppid, .start = h->start };
	struct tree_process *before = newest(t, h->pid);

	if (before && !before->end && before->host_pid == host_pid) {
		snprintf(line.name, sizeof line.name, "%s", name);
		if (before->injected && h->start < before->start)
			return add_past(t, before, &line);
		take_over(t, before, h->ppid, line.how);
		before = find_started(t, h->pid, h->start);     /* tree_end() may have read its hello in the pipe */
		if (before)
			return before;
	}
	return add_process(t, h->pid, h->ppid, h->start, name);
}

/* Takes what the hello says.  Returns p. */
static struct tree_process *take_hello(struct tree *t, struct tree_process *p, const struct wire_hello *h, uint32_t host_pid, const char *name)
{
	if (p->host_pid != host_pid || !p->alive.pid)
		watch(t, p, host_pid);
	if (!p->injected)
		name_it(t, p, h->ppid, h->start, name);
	p->injected = true;
	p->flags |= h->flags & (PROCESS_FORKED | PROCESS_FORKED_CUDA | PROCESS_PRELOADED);
	return p;
}

/* Found by the guest's own pid and start time.  A process of another pid namespace appears here for the first time. */
struct tree_process *tree_hello(struct tree *t, const struct wire_hello *h, uint32_t host_pid)
{
	struct tree_process *p = find_started(t, h->pid, h->start);
	char name[sizeof h->name + 1] = "";

	memcpy(name, h->name, sizeof h->name);
	if (p && p->end)
		return p;
	if (!p)
		p = find_unheard(t, h, host_pid);
	if (!p)
		p = add_unheard(t, h, host_pid, name);
	return !p || p->end ? p : take_hello(t, p, h, host_pid, name);
}

struct tree_process *tree_late(struct tree *t, const struct wire_hello *h)
{
	struct tree_process *p = find_started(t, h->pid, h->start);
	char name[sizeof h->name + 1] = "";

	if (p)
		return p;
	memcpy(name, h->name, sizeof h->name);
	p = find_unheard(t, h, h->pid);
	if (!p)
		p = add_process(t, h->pid, h->ppid, h->start, name);
	return p ? take_hello(t, p, h, h->pid, name) : NULL;
}

void tree_forget_guest(struct tree *t, struct tree_process *p)
{
	if (!p->guest)
		return;
	if (p->guest->view.a->life != LIFE_NEW) /* LIFE_NEW: it could not use the arena, and asks again */
		leave_arena(t, p);
	p->flags = process_flags(p);
	account_process(p, t->out);
	staging_write(&p->guest->staging);
	guest_free(p);
}

void tree_forget_arena(struct tree *t, struct tree_process *p)
{
	if (p->guest)
		tree_hear_pipe(t);
	tree_forget_guest(t, p);
}

/* Takes what the process noted itself, where the kernel tells nothing: before 6.15, once its parent has waited for it. */
static void take_own_word(struct tree_process *p)
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
	struct tree_process *p = number && number <= t->n ? t->all[number - 1] : NULL;

	/* The event may be of a pidfd that was closed since. */
	if (p && !p->end && p->alive.pid && !alive_is(&p->alive))
		ending_look(&p->ending, &p->alive);
}

void tree_note_end(struct tree *t, uint32_t pid, const struct ending *e)
{
	struct tree_process *p = newest(t, pid);

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

void tree_bury(struct tree *t, struct tree_process *p)
{
	if (p->guest) {
		leave_arena(t, p);
		take_own_word(p);
	}
	p->flags = process_flags(p);
	tell_end(t, p);
	if (p->guest)
		staging_write(&p->guest->staging);
	guest_free(p);
	tree_put_row(t, p);
}

void tree_end(struct tree *t, struct tree_process *p, unsigned flags)
{
	if (p->end)
		return;
	if (!(flags & PROCESS_EXECED))
		ending_look(&p->ending, &p->alive);
	tree_hear_pipe(t);      /* its hello may be there */
	if (p->guest && p->guest->view.a->life == LIFE_NEW && !p->guest->replica) {
		tree_refused(t, p, "it ended before it used its shared memory");
		p->flags &= ~PROCESS_CONNECTED;
	}
	if (p->left && !(p->flags & PROCESS_CONNECTED))
		tree_refused(t, p, "it did not wait for the collector's answer");
	p->flags |= PROCESS_ENDED | flags;
	p->end = clock_ns(CLOCK_REALTIME);
	tree_bury(t, p);
	unwatch(t, p);
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
		struct tree_process *p = t->live[i];

		if (!p->end && p->alive.pid && (all || alive_needs_polling(&p->alive)) && !alive_is(&p->alive))
			tree_end(t, p, 0);
	}
}

void tree_release(struct tree *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct tree_process *p = t->all[i];

		unwatch(t, p);
		guest_free(p);
		health_counts_release(&p->health_counts);
		free(p);
	}
	free(t->all);
	free(t->live);
	t->all = t->live = NULL;
	t->n = t->cap = t->n_live = t->live_cap = 0;
}
