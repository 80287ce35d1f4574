#include "cli/page/page_next.h"

#include "cli/model/gpu/gpu.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/model/stacks/stacks.h"
#include "cli/page/page_lines.h"
#include "cli/report/steps/step_view.h"
#include "cli/ui/json_out.h"
#include "cli/ui/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LEFT 8u                 /* columns by which a long command is moved to the left */

struct advice {
	const char *report;     /* NULL: none */
	const char *why;
};

/* Sums over the GPUs of all processes, in ns. */
struct losses {
	int64_t busy, idle, exposed;
	bool shared;                    /* several processes use one GPU: it may be idle between them alone */
};

static int add_exposed(const struct step_view *v, struct losses *l)
{
	struct spans *span = v->has_gpu ? model_gpu_spans(v->m, v->gpu.rows) : NULL;

	if (!v->has_gpu)
		return 0;
	if (!span)
		return -1;
	for (uint32_t p = 0; p < v->gpu.n; p++)
		for (size_t i = 0; i < span[p].n; i++) {
			const struct gpu_times t = gpu_times_within(&v->gpu, p, span[p].list[i].time, span[p].list[i].end);

			l->exposed = time_add(l->exposed, t.exposed);
		}
	gpu_spans_free(v->m, span);
	return 0;
}

static int find_losses(const struct step_view *v, struct losses *l)
{
	struct gpu *gpus = NULL;
	int n = model_gpus(v->m, &gpus);

	*l = (struct losses){ 0 };
	for (int i = 0; i < n; i++) {
		l->busy = time_add(l->busy, gpus[i].busy);
		l->idle = time_add(l->idle, time_sub(gpus[i].span, gpus[i].busy));
		l->shared |= gpus[i].processes > 1;
	}
	free(gpus);
	return n < 0 ? -1 : add_exposed(v, l);
}

/* GPU idle time is the largest loss: the report on what it waited for. */
static struct advice of_idle(struct model *m, const struct page_found *f, const struct losses *l)
{
	if (f->idle)
		return (struct advice){ "phases", "largest loss: GPU idle time. In which phase:" };
	if (model_has_samples(m))
		return (struct advice){ "idle_stacks", "largest loss: GPU idle time. What the CPU did then:" };
	if (l->shared)
		return (struct advice){ "temporal", "largest loss: GPU idle time. Busy and idle time of each process:" };
	return (struct advice){ "idle", "largest loss: GPU idle time. What each stream waited for:" };
}

/* For a trace with GPU rows: the report on the longest of idle time, exposed communication, and the other busy time. */
static struct advice of_gpu(struct model *m, const struct page_found *f, const struct losses *l)
{
	int64_t work = time_sub(l->busy, l->exposed);

	if (l->idle > work && l->idle > l->exposed)
		return of_idle(m, f, l);
	if (l->exposed > work && f->late_rank)
		return (struct advice){ "ranks", "largest loss: exposed communication. Wait of each rank:" };
	if (l->exposed > work)
		return (struct advice){ "overlap", "largest loss: exposed communication. Overlap of each rank:" };
	if (model_rows(m, ROW_kernel))
		return (struct advice){ "cuda_gpu_kern_sum", "compute is longer than GPU idle time. Time of each kernel:" };
	if (model_rows(m, ROW_memcpy) || model_rows(m, ROW_memset))
		return (struct advice){ "cuda_gpu_mem_time_sum", "copies are longer than GPU idle time. Time of each kind:" };
	return (struct advice){ "cuda_gpu_trace", "all that ran on the GPU, in order of time:" };
}

static struct advice of_host(struct model *m, const struct page_found *f)
{
	if (f->phases)
		return (struct advice){ "phases", "time of each step by phase:" };
	if (f->top == TOP_OPERATORS)
		return (struct advice){ "ops", "time of each operator:" };
	if (f->top == TOP_RANGES)
		return (struct advice){ "nvtx_pushpop_sum", "time of each range:" };
	if (f->top == TOP_STARTEND)
		return (struct advice){ "nvtx_startend_sum", "time of each range:" };
	if (f->top == TOP_FUNCTIONS)
		return (struct advice){ "cpu_sum", "CPU samples of each function:" };
	if (model_rows(m, ROW_api))
		return (struct advice){ "cuda_api_sum", "time in CUDA calls:" };
	if (model_n_processes(m))
		return (struct advice){ "processes", "processes, and how each one ended:" };
	return (struct advice){ NULL, NULL };
}

/* A second report: slow steps, launch sites, CPU samples or operators. */
static struct advice second(struct model *m, const struct page_found *f)
{
	if (f->slow_step)
		return (struct advice){ "steps", "slow steps" };
	if (model_rows(m, ROW_kernel) && model_has_call_stacks(m))
		return (struct advice){ "launch_sites", "GPU time by line" };
	if (model_rows(m, ROW_sample) && f->top != TOP_FUNCTIONS)
		return (struct advice){ "cpu_sum", "CPU samples by function" };
	if (f->phases && f->top == TOP_OPERATORS)
		return (struct advice){ "ops", "time by operator" };
	return (struct advice){ NULL, NULL };
}

/* Whether the trace was imported from several files that were not given as a folder; then `path` is only the first one. */
static bool several_files(struct model *m, const char *path)
{
	const char *first = NULL, *file;
	struct stat st;
	uint32_t n;
	const struct process *p = model_processes(m, &n);

	for (uint32_t i = 1; i < n; i++) {
		file = process_attribute(&p[i], "imported.file");
		if (file && first && strcmp(file, first) != 0)
			return stat(path, &st) < 0 || !S_ISDIR(st.st_mode);
		first = first ? first : file;
	}
	return false;
}

/* Adds "gprof-trace report -r steps train.gtrace    slow steps", without the description if it does not fit. */
static void put_command(struct page_lines *p, size_t block, const char *label, const char *command, const char *path, const char *what)
{
	size_t front = PAGE_LABEL + text_width(command) + 1;

	if (front + text_width(path) > p->width && front - LEFT + text_width(path) <= p->width && !*label) {
		page_line(p, block, "%*s%s %s", (int)(PAGE_LABEL - LEFT), "", command, path);
		return;
	}
	if (*what && front + text_width(path) + 4 + text_width(what) <= p->width)
		page_line(p, block, "  %-*s%s %s    %s", (int)PAGE_LABEL - 2, label, command, path, what);
	else
		page_line(p, block, "  %-*s%s %s", (int)PAGE_LABEL - 2, label, command, path);
	page_label(p, block, label);
}

/* "largest loss: GPU idle time. In which phase:": a loss is a warning, up to its full stop. */
static void put_why(struct page_lines *p, size_t block, const char *label, const char *why)
{
	page_line(p, block, "  %-*s%s", (int)PAGE_LABEL - 2, label, why);
	page_label(p, block, label);
	if (strncmp(why, "largest loss:", 13) == 0)
		page_style(p, block, PAGE_LABEL, strcspn(why, "."), STYLE_WARN);
}

/* Whether the trace is a JSON file itself, so that an export is of no use. */
static bool is_json(struct model *m, const char *path)
{
	const char *end = strrchr(path, '.');

	return model_imported(m) && !(end && strcmp(end, ".gtrace") == 0);
}

/* Whether only CPU samples, in a new recording, would show where the time went. */
static bool wants_samples(struct model *m, const struct page_found *f)
{
	uint32_t n;

	model_processes(m, &n);
	for (uint32_t i = 1; i < n; i++)
		if (process_all_flags(m, i) & PROCESS_CUDA)
			return false;
	return f->top == TOP_NONE && !f->phases && !model_imported(m) && !model_rows(m, ROW_sample) && !model_rows(m, ROW_api) &&
	       !model_has_gpu_rows(m);
}

int page_next(struct page_lines *p, const struct step_view *v, const struct page_found *f, const char *path)
{
	size_t block = page_block(p, KEEP_ALWAYS);
	char *words[] = { (char *)path }, quoted[512], command[80];
	const char *label = "next";
	bool gpu = model_has_gpu_rows(v->m);
	struct advice first, then;
	struct losses l;

	words_quote(quoted, sizeof quoted, words, 1);
	if (strlen(path) > sizeof quoted / 8 || several_files(v->m, path))
		snprintf(quoted, sizeof quoted, "TRACE");
	if (PAGE_LABEL - LEFT + sizeof "gprof-trace report -r cuda_gpu_mem_time_sum" + text_width(quoted) > p->width)
		snprintf(quoted, sizeof quoted, "TRACE");
	if (find_losses(v, &l) < 0)
		return -1;
	first = gpu ? of_gpu(v->m, f, &l) : of_host(v->m, f);
	then = second(v->m, f);
	if (wants_samples(v->m, f)) {
		page_line(p, block, "  %-*sgprof-run -s cpu -- PROGRAM    shows where CPU time goes", (int)PAGE_LABEL - 2, label);
		page_label(p, block, label);
		label = "";
	}
	if (first.report) {
		put_why(p, block, label, first.why);
		snprintf(command, sizeof command, "gprof-trace report -r %s", first.report);
		put_command(p, block, "", command, quoted, "");
		label = "";
	}
	if (then.report && (!first.report || strcmp(first.report, then.report) != 0)) {
		snprintf(command, sizeof command, "gprof-trace report -r %s", then.report);
		put_command(p, block, label, command, quoted, then.why);
		label = "";
	}
	if ((gpu || model_rows(v->m, ROW_range) || model_rows(v->m, ROW_api)) && !is_json(v->m, path)) {
		put_command(p, block, label, "gprof-trace export", quoted, "JSON for https://ui.perfetto.dev");
		label = "";
	}
	page_line(p, block, "  %-*sgprof-trace report list    lists all reports", (int)PAGE_LABEL - 2, label);
	page_label(p, block, label);
	return 0;
}
