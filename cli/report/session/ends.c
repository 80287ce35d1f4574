#include "cli/report/session/ends.h"

#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/model/sort.h"
#include "cli/ui/table.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SHOWN 4            /* groups of processes that ended in the same way */

static const char *const signals[] = {
	[SIGHUP] = "SIGHUP",   [SIGINT] = "SIGINT",   [SIGQUIT] = "SIGQUIT", [SIGILL] = "SIGILL",
	[SIGTRAP] = "SIGTRAP", [SIGABRT] = "SIGABRT", [SIGBUS] = "SIGBUS",   [SIGFPE] = "SIGFPE",
	[SIGKILL] = "SIGKILL", [SIGUSR1] = "SIGUSR1", [SIGSEGV] = "SIGSEGV", [SIGUSR2] = "SIGUSR2",
	[SIGPIPE] = "SIGPIPE", [SIGALRM] = "SIGALRM", [SIGTERM] = "SIGTERM", [SIGSTKFLT] = "SIGSTKFLT",
	[SIGXCPU] = "SIGXCPU", [SIGXFSZ] = "SIGXFSZ", [SIGVTALRM] = "SIGVTALRM", [SIGPROF] = "SIGPROF",
	[SIGIO] = "SIGIO",     [SIGPWR] = "SIGPWR",   [SIGSYS] = "SIGSYS",
};

static const char *how_words(const struct process *p, char buf[32])
{
	const char *name = p->status < sizeof signals / sizeof *signals ? signals[p->status] : NULL;

	if (p->how == ENDED_EXIT)
		snprintf(buf, 32, "exit %u", p->status);
	else if (name)
		return name;
	else
		snprintf(buf, 32, "signal %u", p->status);
	return buf;
}

const char *end_words(struct model *m, uint32_t position, char buf[32])
{
	const struct process *p = process_last(m, position);

	if (p->how)
		return how_words(p, buf);
	return process_runs(m, position) ? "running" : NULL;
}

/* ---- all processes ---- */

struct end {
	uint32_t position;              /* of the first image */
	const struct process *last;
};

struct endings {
	struct end *list;               /* n processes that failed, by time */
	size_t n, fine, unknown;        /* fine: number of exit 0; unknown: the end is not known */
};

static const char *rank_of(const struct process *all, uint32_t position)
{
	const char *rank = NULL, *found;

	for (; position; position = all[position].after)
		if ((found = process_attribute(&all[position], "rank")) && *found)
			rank = found;
	return rank;
}

static int by_time(const void *a, const void *b)
{
	const struct end *p = a, *q = b;

	if (p->last->end != q->last->end)
		return p->last->end < q->last->end ? -1 : 1;
	return p->position < q->position ? -1 : p->position > q->position;
}

static bool same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* Children of a rank inherit its environment, so they have its rank number too. */
static const char *rank_of_parent(const struct model *m, uint32_t position, const struct process *all)
{
	return rank_of(all, model_process_at(m, all[position].parent));
}

static bool has_rows(struct model *m, uint32_t position, const struct process *all)
{
	static const unsigned kinds[] = { ROW_range, ROW_mark, ROW_api, ROW_kernel };
	size_t n = 0;

	for (; position; position = all[position].after)
		for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
			n += model_process_rows(m, kinds[k], position);
	return n != 0;
}

/* Whether the end of a process is reported: the program itself, ranks, recorded processes.  Other programs that a script runs may fail. */
static bool counts(struct model *m, uint32_t position, const struct process *all)
{
	const char *rank = rank_of(all, position);

	return position == 1 || (rank && !same(rank, rank_of_parent(m, position, all))) || has_rows(m, position, all);
}

static int gather(struct model *m, struct endings *e)
{
	uint32_t n;
	const struct process *p = model_processes(m, &n);

	e->list = malloc((n + 1) * sizeof *e->list);
	if (!e->list)
		return -1;
	for (uint32_t i = 1; i < n; i++) {
		const struct process *last = process_last(m, i);

		if (p[i].before || !model_process_selected(m, i) || !counts(m, i, p))
			continue;
		if (!last->how)
			e->unknown++;
		else if (last->how == ENDED_EXIT && !last->status)
			e->fine++;
		else
			e->list[e->n++] = (struct end){ i, last };
	}
	qsort(e->list, e->n, sizeof *e->list, by_time);
	return 0;
}

struct ends_line {
	char *text;
	size_t size, at;
};

static void line_append(struct ends_line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void line_append(struct ends_line *l, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = l->at < l->size ? vsnprintf(l->text + l->at, l->size - l->at, fmt, args) : 0;
	va_end(args);
	l->at += n > 0 ? (size_t)n : 0;
}

static bool alike(const struct end *a, const struct end *b)
{
	return a->last->how == b->last->how && a->last->status == b->last->status;
}

/* "rank 3 (pid 812) killed by SIGKILL at 12.3 s", "7 processes killed by SIGTERM, the first at 12.9 s". */
static void say_group(struct model *m, struct ends_line *l, const struct end *first, size_t n)
{
	uint32_t n_processes;
	const struct process *all = model_processes(m, &n_processes);
	const char *rank = rank_of(all, first->position);
	char name[64], how[32], at[32];

	if (n > 1)
		line_append(l, "%zu processes ", n);
	else if (rank)
		line_append(l, "%srank %.9s (pid %u) ", same(rank, rank_of_parent(m, first->position, all)) ? "child of " : "", rank,
			    first->last->pid);
	else
		line_append(l, "%.60s (pid %u) ", process_name(first->last, name, 32), first->last->pid);
	line_append(l, "%s%s", first->last->how == ENDED_SIGNAL ? "killed by " : "", how_words(first->last, how));
	if (first->last->end)
		line_append(l, "%s at %s", n > 1 ? ", the first" : "", text_time(at, time_sub(first->last->end, model_start(m))));
}

static void say_failed(struct model *m, struct ends_line *l, const struct endings *e)
{
	size_t shown = 0, n;

	for (size_t i = 0; i < e->n; i += n, shown++) {
		n = 1;
		while (i + n < e->n && alike(&e->list[i], &e->list[i + n]))
			n++;
		if (shown == MOST_SHOWN) {
			line_append(l, "; then %zu more: gprof-trace report -r processes", e->n - i);
			break;
		}
		line_append(l, "%s", shown ? "; then " : "");
		say_group(m, l, &e->list[i], n);
	}
	if (e->fine)
		line_append(l, "; %zu other%s: exit 0", e->fine, e->fine == 1 ? "" : "s");
}

int ends_text(struct model *m, char *text, size_t size)
{
	struct endings e = { 0 };
	struct ends_line l = { text, size, 0 };
	char how[32];

	*text = '\0';
	if (gather(m, &e) < 0)
		return -1;
	if (e.n == 1 && !e.fine && !e.unknown)
		line_append(&l, "%s%s", e.list->last->how == ENDED_SIGNAL ? "killed by " : "", how_words(e.list->last, how));
	else if (e.n)
		say_failed(m, &l, &e);
	else if (e.fine)
		line_append(&l, "exit 0");
	if (!e.n && e.fine > 1)
		line_append(&l, " (%zu processes)", e.fine);
	if (*text && e.unknown)
		line_append(&l, "; %zu process%s: not known", e.unknown, e.unknown == 1 ? "" : "es");
	free(e.list);
	return 0;
}
