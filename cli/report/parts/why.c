#include "cli/report/parts/why.h"

#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/model/torch/torch.h"
#include "cli/ui/table.h"
#include "trace/health.h"

#include <inttypes.h>
#include <stdlib.h>

/* Health reasons (trace/health.def) that explain missing GPU rows, the most specific first. */
static const char *const telling[] = {
	"range_never", "step_never", "cupti_busy", "cupti_yielded", "cupti_missing", "cupti_symbol", "cupti_fatal", "cupti_error", "cupti_kind",
	"buffers_full", "flush_timeout", "forked_used_cuda", "file_limit", "disk_full", "write_failed",
};

struct seen_processes {
	unsigned processes, cuda, cupti;
};

static struct seen_processes look_at_processes(struct model *m, const struct process *p, uint32_t n)
{
	struct seen_processes s = { .processes = model_n_processes(m) };

	for (uint32_t i = 1; i < n; i++) {
		uint32_t flags = p[i].before ? 0 : process_all_flags(m, i);

		s.cuda += !!(flags & PROCESS_CUDA);
		s.cupti += !!(flags & PROCESS_CUPTI);
	}
	return s;
}

static void put_reason(struct why *w, const char *text, const char *detail, const char *next)
{
	snprintf(w->text, sizeof w->text, "%s%s%s%s", text, *detail ? " (" : "", detail, *detail ? ")" : "");
	snprintf(w->next, sizeof w->next, "%s", next);
}

/* The health entry of the first process with this reason; NULL: none. */
static const struct health *find(const struct process *p, uint32_t n, const char *reason)
{
	for (uint32_t i = 0; i < n; i++)
		for (size_t h = 0; h < p[i].n_health; h++) {
			const char *name = health_name(p[i].health[h].reason);

			if (name && strcmp(name, reason) == 0)
				return &p[i].health[h];
		}
	return NULL;
}

static double seconds_of(struct model *m, const char *setting)
{
	const char *ms = model_attribute(m, setting);

	return ms ? strtod(ms, NULL) / 1000 : 0;
}

const char *why_lacks(struct model *m, const char *ours, const char *theirs)
{
	return !model_imported(m) ? ours : theirs ? theirs : "the imported file has none";
}

bool why_window(struct model *m, char *text, size_t size)
{
	double delay = seconds_of(m, "setting.delay_ms"), duration = seconds_of(m, "setting.duration_ms");

	if (delay > 0 && duration > 0)
		snprintf(text, size, "only %g s were recorded, from %g s after the start on (--delay, --duration)",
			 duration, delay);
	else if (delay > 0)
		snprintf(text, size, "only the time from %g s after the start was recorded (--delay)", delay);
	else if (duration > 0)
		snprintf(text, size, "only the first %g s were recorded (--duration)", duration);
	return delay > 0 || duration > 0;
}

bool why_pipe(struct model *m, char *text, size_t size)
{
	const char *detail = "";
	uint32_t processes = 0, n;
	const struct process *p = model_processes(m, &n);

	for (uint32_t i = 0; i < n; i++) {
		for (size_t h = 0; h < p[i].n_health; h++)
			if (p[i].health[h].reason == HEALTH_pipe_used && !processes++)
				detail = p[i].health[h].detail;
	}
	if (processes)
		snprintf(text, size,
			 "rows of %u %s came through a pipe (%s); a killed process loses the rows of its last "
			 "100 ms",
			 processes, processes == 1 ? "process" : "processes", detail);
	return processes;
}

bool why_refused(struct model *m, char *text, size_t size)
{
	const char *detail = "";
	uint64_t processes = 0;
	uint32_t n;
	const struct process *p = model_processes(m, &n);

	for (uint32_t i = 0; i < n; i++) {
		for (size_t h = 0; h < p[i].n_health; h++) {
			const struct health *one = &p[i].health[h];

			if ((one->reason != HEALTH_refused && one->reason != HEALTH_processes_full) || !one->count)
				continue;
			detail = processes ? detail : one->detail;
			processes += one->count;
		}
	}
	if (processes)
		snprintf(text, size, "%" PRIu64 " %s could not connect to the collector and %s not recorded: %s%s; next: gprof-trace report -r health",
			 processes, processes == 1 ? "process" : "processes", processes == 1 ? "is" : "are", detail,
			 processes == 1 ? "" : ", and others");
	return processes;
}

/* True when no window was recorded, with --start-later or --schedule as the reason, into *w. */
static bool never_began(struct model *m, struct why *w)
{
	if (model_rows(m, ROW_window))
		return false;
	if (seconds_of(m, "setting.start_later") > 0)
		put_reason(w, "CUDA was used, but recording was never started (--start-later)", "",
			   "start it while the program runs: gprof-ctl start, or the signal of --capture-signal");
	else if (model_attribute(m, "setting.schedule"))
		put_reason(w, "CUDA was used, but --schedule had not reached a step to record", "",
			   "gprof-trace report -r steps --all-steps lists the steps that ran");
	else
		return false;
	return true;
}

static void last_reason(struct model *m, struct why *w, const struct seen_processes *s)
{
	static const char no_driver[] = "; this machine shows no NVIDIA driver";
	const char *driver = model_attribute(m, "driver");
	char text[200];

	if (!s->processes) {
		put_reason(w, "no process was seen: the program was not injected", "",
			   "static, set-uid and 32-bit programs, and those with a cleaned environment, cannot be recorded");
	} else if (model_imported(m) && model_has_gpu_rows(m)) {
		put_reason(w, "the imported file has none", "", "");
	} else if (model_imported(m)) {
		put_reason(w, s->cuda ? "the imported file has CUDA calls, but no kernels, copies or memory sets"
			       : "the imported file has no GPU rows and no CUDA calls", "", model_has_torch(m) ?
		    "torch.profiler records them with ProfilerActivity.CUDA, where CUPTI works" :
		    "GPU rows of a Chrome trace are understood only if torch.profiler (Kineto) wrote it");
	} else if (!s->cuda) {
		snprintf(text, sizeof text, "no process used CUDA; %u %s seen, and none called it%s", s->processes,
			 s->processes == 1 ? "was" : "were", driver && strcmp(driver, "none") == 0 ? no_driver : "");
		put_reason(w, text, "", "");
	} else if (!s->cupti) {
		put_reason(w, "CUDA was used, but CUPTI could not be started", "", "see gprof-trace report -r health");
	} else if (never_began(m, w)) {
		return;
	} else if (why_window(m, text, sizeof text)) {
		put_reason(w, "CUDA was used, but not in the time that was recorded", "", text);
	} else {
		put_reason(w, "CUDA was used, but no such row was recorded: the program launched none, or CUPTI delivered none", "",
			   "");
	}
}

size_t why_no_cuda(struct model *m, struct why out[WHY_MOST])
{
	uint32_t n;
	const struct process *p = model_processes(m, &n);
	const struct seen_processes seen = look_at_processes(m, p, n);
	const char *recorded = model_attribute(m, "setting.trace_cuda");
	const struct health *h;
	size_t found = 0;

	if (model_selected(m)) {
		put_reason(&out[0], "none in the selected part of the trace", "", "");
		return 1;
	}
	if (recorded && strcmp(recorded, "0") == 0) {
		put_reason(&out[0], "CUDA was not recorded: -t left it out", "", "record with -t cuda,nvtx");
		return 1;
	}
	if (model_damage(m, 0))
		put_reason(&out[found++], "a part of the file cannot be read, and such rows may have been there",
			   model_damage(m, 0), "gprof-trace check lists all such parts");
	for (size_t i = 0; i < sizeof telling / sizeof *telling && found < WHY_MOST - 1; i++)
		/* Without --schedule rows are recorded with and without steps. */
		if ((h = find(p, n, telling[i])) &&
		    (h->reason != HEALTH_step_never || model_attribute(m, "setting.schedule")))
			put_reason(&out[found++], health_what(h->reason), h->detail, health_next(h->reason));
	if (!found || !seen.cuda)
		last_reason(m, &out[found++], &seen);
	if (found < WHY_MOST && !seen.cuda && (h = find(p, n, "not_injected")))
		put_reason(&out[found++], health_what(h->reason), h->detail, health_next(h->reason));
	return found;
}

void why_no_gpu(struct model *m, struct table *t, const char *what)
{
	struct why why[WHY_MOST];
	size_t n = why_no_cuda(m, why);

	for (size_t i = 0; i < n; i++) {
		if (i)
			table_note(t, "also: %s", why[i].text);
		else
			table_note(t, "no %s: %s", what, why[i].text);
		if (*why[i].next)
			table_note(t, "  %s", why[i].next);
	}
}

#define MOST_GAPS 4

void why_gaps(struct model *m, struct table *t)
{
	unsigned shown = 0;
	uint32_t n;
	const struct process *p = model_processes(m, &n);

	for (uint32_t i = 1; i < n; i++) {
		const struct health *h = find(&p[i], 1, "cupti_yielded");

		if (h && ++shown <= MOST_GAPS)
			table_note(t, "process %u: GPU rows are missing from the time in which the program's own profiler used CUPTI (%s)",
				   p[i].number, h->detail);
	}
	if (shown > MOST_GAPS)
		table_note(t, "%u more processes have such a gap: gprof-trace report -r health", shown - MOST_GAPS);
	if (shown)
		table_note(t, "  the times are seconds since the process started; without --cupti=yield only what cannot be shared is "
			      "missing");
}
