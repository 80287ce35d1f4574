#include "cli/page_gpu.h"

#include "cli/analyze/span_words.h"
#include "cli/analyze/stats.h"
#include "cli/json_out.h"
#include "cli/model/model.h"
#include "cli/model/process.h"

#include <stdio.h>

#define WHO 160

/* "pid 77"; of an imported file that names no pid "process 1" */
static void one_user(const struct process *p, char *text, size_t size)
{
	if (p->pid)
		snprintf(text, size, "pid %u", p->pid);
	else
		snprintf(text, size, "process %u", p->number);
}

/* "pid 77", "rank 3, pid 77"; "pids 77, 78"; "64 processes" */
static const char *users_of(struct model *m, const struct gpu *g, char text[WHO])
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
		at = (size_t)snprintf(text, WHO, "rank %.9s, ", rank);
		one_user(&p[g->process], text + at, WHO - at);
	} else {
		one_user(&p[g->process], text, WHO);
	}
	return text;
}

const char *page_gpu(struct model *m, const struct gpu *g, char text[PAGE_GPU])
{
	const struct device_row *d = model_device(m, g->process, g->device);
	const char *name = d ? model_string(m, d->name) : "";
	uint32_t of = g->processes == 1 ? g->process : 0;
	char who[WHO], span[SPAN_WORDS];
	int64_t tenths = share((unsigned __int128)g->busy, (unsigned __int128)g->span);

	if (!*name)
		name = "unknown device";
	users_of(m, g, who);
	if (g->span)
		snprintf(text, PAGE_GPU, "%.200s: busy %d.%d %% of %s (%s)", name, (int)(tenths / 10), (int)(tenths % 10),
			 span_words(m, g->span, g->windows, of, span), who);
	else if (g->first)
		snprintf(text, PAGE_GPU, "%.200s: no GPU row in the selected part (%s)", name, who);
	else
		snprintf(text, PAGE_GPU, "%.200s: busy unknown, no GPU row has a time (%s)", name, who);
	return text;
}
