#include "cli/page/page_missing.h"

#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/page/page_lines.h"
#include "cli/page/page_top.h"
#include "cli/report/parts/why.h"
#include "trace/health.h"
#include "trace/reader.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MOST_HEALTH 3

void page_drops(struct page_lines *p, struct model *m)
{
	uint32_t n;
	const struct process *processes = model_processes(m, &n);
	uint64_t dropped = 0;
	char text[160], number[32];

	for (uint32_t i = 0; i < n; i++)
		for (size_t d = 0; d < processes[i].n_drops && model_process_selected(m, i); d++)
			dropped += processes[i].drops[d].count;
	if (!dropped)
		return;
	snprintf(text, sizeof text, "%s rows (where, and what helps: report -r health)",
		 page_number(number, dropped));
	page_text(p, KEEP_LOSS, "dropped", text, 1);
}

/* Health reasons that the page leaves out: nothing is missing from the reports, or another line of the page has them. */
static bool harmless(uint32_t reason)
{
	return reason == HEALTH_ranges_open || reason == HEALTH_env_unreadable || reason == HEALTH_nested ||
	       reason == HEALTH_forked_after_cuda || reason == HEALTH_roster_lost || reason == HEALTH_window_late ||
	       reason == HEALTH_nvtx_taken || reason == HEALTH_cuda_taken ||
	       reason == HEALTH_device_graphs || reason == HEALTH_cupti_flawed || reason == HEALTH_pipe_used ||
	       reason == HEALTH_refused || reason == HEALTH_processes_full;
}

/* Adds one reason, for all processes that have it.  The advice "nothing; ..." is left out. */
static void put_reason(struct page_lines *p, uint32_t reason, uint32_t processes, const char *detail, bool first)
{
	const char *what = health_what(reason), *next = health_next(reason);
	char text[600], who[48] = "";

	if (next && strncmp(next, "nothing", 7) == 0)
		next = NULL;
	if (processes > 1)
		snprintf(who, sizeof who, " (in %u processes)", processes);
	snprintf(text, sizeof text, "%s%s%s%s%s%s", what ? what : "a reason that this version does not know",
		 *detail ? ": " : "", detail, who, next && *next ? "; next: " : "", next ? next : "");
	page_text(p, first ? KEEP_LOSS : KEEP_MORE, first ? "missing" : "", text, 3);
}

static void put_health(struct page_lines *p, struct model *m)
{
	uint32_t shown = 0, left = 0, n;
	const struct process *list = model_processes(m, &n);
	char text[120];

	for (uint32_t reason = 1; reason < HEALTH_REASONS; reason++) {
		const char *detail = "";
		uint32_t processes = 0;

		for (uint32_t i = 0; i < n; i++)
			for (size_t h = 0; h < list[i].n_health && model_process_selected(m, i); h++)
				if (list[i].health[h].reason == reason && list[i].health[h].count) {
					detail = processes ? detail : list[i].health[h].detail;
					processes++;
				}
		if (!processes || harmless(reason))
			continue;
		if (shown < MOST_HEALTH)
			put_reason(p, reason, processes, detail, shown == 0);
		left += shown++ >= MOST_HEALTH;
	}
	if (left) {
		snprintf(text, sizeof text, "%u more reasons: report -r health", left);
		page_text(p, KEEP_MORE, "", text, 1);
	}
}

/* Adds why the trace has no CUDA calls or no kernels. */
static void put_why(struct page_lines *p, struct model *m)
{
	struct why why[WHY_MOST];
	size_t n = why_no_cuda(m, why);
	char text[sizeof why->text + sizeof why->next + 4];

	/* Processes appear in a trace within its first second; before that there is nothing to explain. */
	if (!model_n_processes(m) && !model_trace(m)->finished)
		return;

	for (size_t i = 0; i < n; i++) {
		snprintf(text, sizeof text, "%.299s%s%.299s", why[i].text, *why[i].next ? "; " : "", why[i].next);
		page_text(p, i ? KEEP_MORE : KEEP_LOSS, i ? "" : model_rows(m, ROW_api) ? "no kernel" : "no CUDA", text, 4);
	}
}

void page_missing(struct page_lines *p, struct model *m)
{
	if (!model_has_gpu_rows(m))
		put_why(p, m);
	else
		put_health(p, m);
}
