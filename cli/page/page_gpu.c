#include "cli/page/page_gpu.h"

#include "cli/model/gpu/gpu.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/page/page_lines.h"
#include "cli/report/parts/span_words.h"
#include "cli/report/parts/stats.h"
#include "cli/ui/json_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHO       160
#define PAGE_GPU  320
#define MOST_GPUS 3            /* GPUs that have a line each */

/* "pid 77", or "process 1" if an imported file has no pid */
static void one_user(const struct process *p, char *text, size_t size)
{
	if (p->pid)
		snprintf(text, size, "pid %u", p->pid);
	else
		snprintf(text, size, "process %u", p->number);
}

/* The processes of a GPU: "rank 3, pid 77"; without `pid` "rank 3"; without a rank "pid 77"; "pids 77, 78"; "64 processes". */
static const char *users_of(struct model *m, const struct gpu *g, bool pid, char text[WHO])
{
	uint32_t n;
	const struct process *p = model_processes(m, &n);
	const char *rank = process_attribute(&p[g->process], "rank");
	size_t at;

	if (g->processes > GPU_USERS) {
		snprintf(text, WHO, "%u processes", g->processes);
	} else if (g->processes > 1) {
		at = (size_t)snprintf(text, WHO, "pids ");
		for (uint32_t i = 0; i < g->processes; i++)
			at += (size_t)snprintf(text + at, WHO - at, "%s%u", i ? ", " : "", p[g->users[i]].pid);
	} else if (rank && *rank) {
		at = (size_t)snprintf(text, WHO, "rank %.9s%s", rank, pid ? ", " : "");
		if (pid)
			one_user(&p[g->process], text + at, WHO - at);
	} else {
		one_user(&p[g->process], text, WHO);
	}
	return text;
}

/* "busy 76.9 % of the 112 ms from the first to the last GPU row" */
static void busy_words(struct model *m, const struct gpu *g, bool brief, char text[PAGE_GPU])
{
	uint32_t of = g->processes == 1 ? g->process : 0;
	char span[SPAN_WORDS], time[32];
	int64_t tenths = share((unsigned __int128)g->busy, (unsigned __int128)g->span);

	if (g->span && brief && !g->windows && !model_steps_selected(m))
		snprintf(text, PAGE_GPU, "busy %d.%d %% of %s from first to last GPU row", (int)(tenths / 10), (int)(tenths % 10),
			 text_time(time, g->span));
	else if (g->span)
		snprintf(text, PAGE_GPU, "busy %d.%d %% of %s", (int)(tenths / 10), (int)(tenths % 10),
			 span_words(m, g->span, g->windows, of, span));
	else if (g->first)
		snprintf(text, PAGE_GPU, "no GPU row in the selected part");
	else
		snprintf(text, PAGE_GPU, "busy unknown, no GPU row has a time");
}

static const char *name_of(struct model *m, const struct gpu *g)
{
	const struct device_row *d = model_device(m, g->process, g->device);
	const char *name = d ? model_string(m, d->name) : "";

	return *name ? name : "unknown device";
}

static void put_one(struct page_lines *p, struct model *m, const struct gpu *g)
{
	char label[32], busy[PAGE_GPU], text[PAGE_GPU + WHO], who[WHO];

	snprintf(label, sizeof label, "GPU %u", g->device);
	snprintf(text, sizeof text, "%.200s (%s)", name_of(m, g), users_of(m, g, true, who));
	page_text(p, KEEP_ALWAYS, label, text, 1);
	busy_words(m, g, false, busy);
	page_text(p, KEEP_ALWAYS, "", busy, 2);
}

/* "2 x Tesla V100"; for different models "2 x Tesla V100, and other models" */
static void put_names(struct page_lines *p, struct model *m, const struct gpu *g, int n)
{
	char text[PAGE_GPU];
	bool same = true;

	for (int i = 1; i < n; i++)
		same &= strcmp(name_of(m, &g[i]), name_of(m, &g[0])) == 0;
	snprintf(text, sizeof text, "%d x %.200s%s", n, name_of(m, &g[0]), same ? "" : ", and other models");
	page_text(p, KEEP_ALWAYS, "GPUs", text, 1);
}

static void put_each(struct page_lines *p, struct model *m, const struct gpu *g)
{
	char label[32], busy[PAGE_GPU], text[PAGE_GPU + WHO], who[WHO];

	snprintf(label, sizeof label, "GPU %u", g->device);
	busy_words(m, g, true, busy);
	snprintf(text, sizeof text, "%s (%s)", busy, users_of(m, g, false, who));
	page_text(p, KEEP_ALWAYS, label, text, 2);
}

/* ---- many GPUs ---- */

static int64_t busy_tenths(const struct gpu *g)
{
	return share((unsigned __int128)g->busy, (unsigned __int128)g->span);
}

/* Least busy first; GPUs without a span last. */
static int by_busy(const void *a, const void *b)
{
	const struct gpu *x = a, *y = b;
	int64_t bx = busy_tenths(x), by = busy_tenths(y);

	if (!x->span != !y->span)
		return x->span ? -1 : 1;
	if (bx != by)
		return bx < by ? -1 : 1;
	return x->device != y->device ? x->device < y->device ? -1 : 1 : (x->process > y->process) - (x->process < y->process);
}

/* The base of the shares of several GPUs; each has its own span. */
static const char *base_of_each(struct model *m, const struct gpu *g, int n)
{
	int windows = 0;

	for (int i = 0; i < n; i++)
		windows += g[i].windows > 0;
	if (model_steps_selected(m))
		return "its selected steps";
	if (windows)
		return windows == n ? "its recorded windows" : "its recorded time";
	return "the time from its first to its last row";
}

/* GPUs whose rows have no time, or are all outside the selected part. */
static void put_unknown(struct page_lines *p, const struct gpu *g, int n)
{
	char text[100];
	int outside = 0;

	for (int i = 0; i < n; i++)
		outside += g[i].first != 0;
	if (outside) {
		snprintf(text, sizeof text, "no row of %d GPU%s in the selected part", outside, outside == 1 ? "" : "s");
		page_text(p, KEEP_ALWAYS, "", text, 1);
	}
	if (n > outside) {
		snprintf(text, sizeof text, "busy unknown for %d GPU%s: no row has a time", n - outside, n - outside == 1 ? "" : "s");
		page_text(p, KEEP_ALWAYS, "", text, 1);
	}
}

static void put_spread(struct page_lines *p, struct model *m, struct gpu *g, int n)
{
	char text[2 * WHO + 200], least[WHO], most[WHO];
	int known = 0;
	int64_t low, high, middle;

	qsort(g, (size_t)n, sizeof *g, by_busy);
	while (known < n && g[known].span)
		known++;
	put_unknown(p, g + known, n - known);
	if (!known)
		return;
	low = busy_tenths(&g[0]);
	high = busy_tenths(&g[known - 1]);
	middle = busy_tenths(&g[(known - 1) / 2]);
	snprintf(text, sizeof text, "busy %d.%d %% (GPU %u, %s) to %d.%d %% (GPU %u, %s)", (int)(low / 10), (int)(low % 10), g[0].device,
		 users_of(m, &g[0], false, least), (int)(high / 10), (int)(high % 10), g[known - 1].device,
		 users_of(m, &g[known - 1], false, most));
	page_text(p, KEEP_ALWAYS, "", text, 2);
	snprintf(text, sizeof text, "median %d.%d %%, each of %s", (int)(middle / 10), (int)(middle % 10), base_of_each(m, g, known));
	page_text(p, KEEP_ALWAYS, "", text, 2);
}

int page_gpus(struct page_lines *p, struct model *m)
{
	struct gpu *gpus = NULL;
	int n = model_gpus(m, &gpus);

	if (n == 1)
		put_one(p, m, gpus);
	if (n > 1)
		put_names(p, m, gpus, n);
	for (int i = 0; n > 1 && n <= MOST_GPUS && i < n; i++)
		put_each(p, m, &gpus[i]);
	if (n > MOST_GPUS)
		put_spread(p, m, gpus, n);
	free(gpus);
	return n < 0 ? -1 : 0;
}
