#include "collector/threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/proc.h"
#include "trace/grow.h"

/* Most threads of a process whose names are read again; a name takes 10 us.  Others keep the name of their first row. */
#define MAX_THREADS 256

static struct thread_note *find(struct connected_guest *g, uint32_t id)
{
	for (size_t i = 0; i < g->n_threads; i++)
		if (g->threads[i].id == id)
			return &g->threads[i];
	return NULL;
}

static struct thread_note *add_thread(struct connected_guest *g)
{
	if (g->n_threads >= MAX_THREADS || !GROW(g->threads, g->n_threads + 1, g->cap_threads))
		return NULL;
	return &g->threads[g->n_threads++];
}

void threads_note(struct connected_guest *g, struct thread_row *row, const char *name)
{
	struct thread_note *t = find(g, row->id);
	size_t n = row->bytes < sizeof t->comm ? row->bytes : sizeof t->comm - 1;

	/* The first row has the kernel's name; a later one the name that the program gave, or that the guest saw later. */
	if (t) {
		row->start = t->start;
		t->own_name = row->bytes > 0;
		return;
	}
	t = add_thread(g);
	if (!t)
		return;
	*t = (struct thread_note){ .id = row->id, .tid = row->tid, .flags = row->flags, .start = row->start };
	memcpy(t->comm, name, n);
}

/* False: the thread has ended. */
static bool refresh(struct tree_process *p, struct thread_note *t)
{
	struct thread_row row = { .start = t->start, .id = t->id, .tid = t->tid, .flags = t->flags };
	char file[48], comm[32];
	ssize_t n;

	snprintf(file, sizeof file, "task/%u/comm", t->tid);
	n = proc_read(p->host_pid, file, comm, sizeof comm);
	if (n < 0)
		return errno != ENOENT && errno != ESRCH;
	if (n <= 1 || n > (ssize_t)sizeof t->comm)
		return true;
	comm[--n] = '\0';       /* a line end */
	if (strcmp(comm, t->comm) == 0)
		return true;
	strcpy(t->comm, comm);
	row.bytes = (uint32_t)n;
	staging_put(&p->guest->staging, record_by_kind(ROW_thread), &row, comm, (size_t)n);
	return true;
}

void threads_refresh(struct tree_process *p)
{
	struct connected_guest *g = p->guest;

	if (p->host_pid != p->pid)
		return;         /* another pid namespace: its thread ids are different here */
	for (size_t i = 0; i < g->n_threads;) {
		/* A thread that has ended is removed: another may get its kernel id. */
		if (!g->threads[i].own_name && !refresh(p, &g->threads[i]))
			g->threads[i] = g->threads[--g->n_threads];
		else
			i++;
	}
}
