#include "cli/page.h"

#include "cli/analyze/comm_line.h"
#include "cli/analyze/ends.h"
#include "cli/analyze/phase_sentence.h"
#include "cli/analyze/ranks.h"
#include "cli/analyze/step_line.h"
#include "cli/analyze/sums.h"
#include "cli/analyze/unified.h"
#include "cli/analyze/whole_graphs.h"
#include "cli/analyze/why.h"
#include "cli/fail.h"
#include "cli/input.h"
#include "cli/page_gpu.h"
#include "cli/page_overhead.h"
#include "cli/pick.h"
#include "cli/model/process.h"
#include "cli/model/steps.h"
#include "cli/model/torch.h"
#include "cli/page_top.h"
#include "cli/words.h"
#include "trace/health.h"
#include "trace/reader.h"

#include <limits.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH       100         /* of the whole page, where the terminal is not narrower */
#define NARROWEST   60
#define LABEL       12          /* of the words on the left */
#define MOST_GPUS   4
#define MOST_HEALTH 4

struct page {
	struct model *m;
	const char *path;               /* as a user here would type it */
	struct out *out;
	size_t width;
	const struct process *processes;
	uint32_t n_processes;
	const char *part;               /* what of the trace it is about, in words; "": all of it */
	bool startend;                  /* no range of the program lies in another: all are start/end */
};

/* ---- words and numbers for people ---- */

/* A label, then text in as many lines as it needs. */
static void put(struct page *p, const char *label, const char *text)
{
	size_t at = LABEL;

	out_format(p->out, "  %-*s", LABEL - 2, label);
	while (*text) {
		size_t n = strcspn(text, " "), width;

		/* A number and its unit stay together. */
		while (n && text[n] && text[n + 1] && text[n - 1] >= '0' && text[n - 1] <= '9')
			n += 1 + strcspn(text + n + 1, " ");
		char *word = strndup(text, n);

		width = word ? text_width(word) : 0;
		if (at > LABEL && at + 1 + width > p->width) {
			out_format(p->out, "\n%*s", LABEL, "");
			at = LABEL;
		} else if (at > LABEL) {
			out_char(p->out, ' ');
			at++;
		}
		out_visible(p->out, word ? word : "?", p->width - LABEL);
		free(word);
		at += width;
		text += n + (text[n] == ' ');
	}
	out_char(p->out, '\n');
}

/* ---- what the trace holds ---- */

static uint32_t count_flag(const struct page *p, uint32_t flag)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < p->n_processes; i++)
		n += model_process_selected(p->m, i) && !p->processes[i].before && process_all_flags(p->m, i) & flag;
	return n;
}

static uint32_t count_processes(const struct page *p)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < p->n_processes; i++)
		n += model_process_selected(p->m, i) && !p->processes[i].before;
	return n;
}

static bool simulated(const struct page *p)
{
	for (uint32_t i = 1; i < p->n_processes; i++)
		if (process_simulated(p->m, i))
			return true;
	return false;
}

/* Made from another profiler's file. */
static bool imported(const struct page *p)
{
	return model_imported_from(p->m) != NULL;
}

static void put_title(struct page *p, unsigned flags)
{
	const struct trace *t = model_trace(p->m);
	char lasted[32], size[32];

	if (!(flags & PAGE_ASKED))
		out_format(p->out, "%s: the trace is ", program_name());
	out_visible(p->out, p->path, SIZE_MAX);
	out_format(p->out, "  (%s", text_bytes(size, t->size));
	if (model_end(p->m) > model_start(p->m))
		out_format(p->out, " in %s", text_time(lasted, time_sub(model_end(p->m), model_start(p->m))));
	out_format(p->out, "%s)%s\n", t->finished ? "" : ", not finished", simulated(p) ? "  simulated GPU" : "");
}

/* What "not finished" in the title means. */
static void put_unfinished(struct page *p, unsigned flags)
{
	const struct trace *t = model_trace(p->m);

	if (t->finished)
		return;
	if (!input_being_written(t))
		put(p, "cut off", "what can be read is shown; 'gprof-trace recover' makes it a finished file");
	else if (flags & PAGE_ASKED)
		put(p, "running", "it is still being written");
	else
		put(p, "running", "processes that go on are recorded too, into this trace; --wait=all waits for them");
}

static size_t count_text(char *text, size_t size, size_t at, uint64_t n, const char *one, const char *many)
{
	char number[32];

	if (!n || at >= size)
		return at;
	return at + (size_t)snprintf(text + at, size - at, "%s%s %s", at ? ", " : "", page_number(number, n),
				     n == 1 ? one : many);
}

static int put_holds(struct page *p)
{
	struct model *m = p->m;
	uint32_t cuda = count_flag(p, PROCESS_CUDA), connected = count_flag(p, PROCESS_CONNECTED),
		 seen = count_processes(p);
	size_t torch = model_torch_count(m), n;
	char text[512];

	if (torch == SIZE_MAX)
		return -1;
	n = count_text(text, sizeof text, 0, seen, "process", "processes");

	if (n && cuda < seen && !imported(p))
		n += (size_t)snprintf(text + n, sizeof text - n, " (%u recorded, %u used CUDA)", connected, cuda);
	n = count_text(text, sizeof text, n, model_rows(m, ROW_api), "API call", "API calls");
	n = count_text(text, sizeof text, n, model_rows(m, ROW_kernel), "kernel", "kernels");
	n = count_text(text, sizeof text, n, model_rows(m, ROW_memcpy), "copy", "copies");
	n = count_text(text, sizeof text, n, model_rows(m, ROW_memset), "memory set", "memory sets");
	n = count_text(text, sizeof text, n, model_rows(m, ROW_graph), "graph launch", "graph launches");
	n = count_text(text, sizeof text, n, torch, "PyTorch range", "PyTorch ranges");
	n = count_text(text, sizeof text, n, model_rows(m, ROW_range) - torch, imported(p) ? "other range" : "NVTX range",
		       imported(p) ? "other ranges" : "NVTX ranges");
	n = count_text(text, sizeof text, n, model_rows(m, ROW_mark), "mark", "marks");
	n = count_text(text, sizeof text, n, model_rows(m, ROW_sample), "CPU sample", "CPU samples");
	put(p, "holds", n ? text : model_trace(m)->finished ? "nothing: no process was seen" : "nothing that is known yet");
	return 0;
}

static int put_ends(struct page *p)
{
	char text[512];
	int rc = ends_text(p->m, text, sizeof text);

	if (rc == 0 && *text)
		put(p, "ended", text);
	return rc;
}

static void put_drops(struct page *p)
{
	uint64_t dropped = 0;
	char text[160], number[32];

	for (uint32_t i = 0; i < p->n_processes; i++)
		for (size_t d = 0; d < p->processes[i].n_drops && model_process_selected(p->m, i); d++)
			dropped += p->processes[i].drops[d].count;
	if (!dropped)
		return;
	snprintf(text, sizeof text, "%s rows were dropped; 'gprof-trace report -r health' says where and what helps",
		 page_number(number, dropped));
	put(p, "dropped", text);
}

/* How the CPU was sampled; the same in all processes, as far as they could. */
static void put_sampling(struct page *p)
{
	const char *how = NULL, *hz = NULL;
	char text[200];

	for (uint32_t i = 1; i < p->n_processes && !how; i++) {
		how = process_attribute(&p->processes[i], "sampling");
		hz = process_attribute(&p->processes[i], "sampling.hz");
	}
	if (!how)
		return;
	snprintf(text, sizeof text, "%.20s a second, by %.80s", hz ? hz : "?", how);
	put(p, "sampled", text);
}

/* ---- where the time went ---- */

static int put_gpus(struct page *p)
{
	struct gpu *gpus = NULL;
	int n = model_gpus(p->m, &gpus);
	char text[PAGE_GPU], label[32];

	for (int i = 0; i < n && i < MOST_GPUS; i++) {
		snprintf(label, sizeof label, "GPU %u", gpus[i].device);
		put(p, label, page_gpu(p->m, &gpus[i], text));
	}
	if (n > MOST_GPUS) {
		snprintf(text, sizeof text, "and %d more GPUs", n - MOST_GPUS);
		put(p, "", text);
	}
	free(gpus);
	return n < 0 ? -1 : 0;
}

static int put_times(struct page *p)
{
	return page_top(p->m, p->out, p->width, imported(p) ? "range" : "NVTX range", &p->startend);
}

static int put_unified(struct page *p)
{
	char text[256];
	int rc = unified_text(p->m, text, sizeof text);

	if (rc == 0 && *text)
		put(p, "unified", text);
	return rc;
}

static int put_whole_graphs(struct page *p)
{
	char text[256];
	int rc = whole_graphs_text(p->m, text, sizeof text);

	if (rc == 0 && *text)
		put(p, "graphs", text);
	return rc;
}

static int put_steps(struct page *p)
{
	char text[256];
	char phases[PHASE_SENTENCE];
	int rc = step_line(p->m, text, sizeof text);

	if (rc == 0 && *text)
		put(p, "steps", text);
	if (rc == 0)
		rc = phase_line(p->m, phases, sizeof phases);
	if (rc == 0 && *phases)
		put(p, "phases", phases);
	else if (rc == 0)
		rc = comm_line(p->m, text, sizeof text);
	if (rc == 0 && !*phases && *text)
		put(p, "comm", text);
	return rc;
}

static int put_ranks(struct page *p)
{
	char text[RANKS_SENTENCE];
	int rc = ranks_line(p->m, text);

	if (rc == 0 && *text)
		put(p, "ranks", text);
	return rc;
}

/* ---- what it cost, what is missing, what next ---- */

static int put_overhead(struct page *p)
{
	char text[PAGE_OVERHEAD];
	int rc = page_overhead(p->m, text);

	if (rc == 0 && *text)
		put(p, "overhead", text);
	return rc;
}

/* Reasons that a newcomer can pass over: nothing that he looks for is missing. */
static bool harmless(uint32_t reason)
{
	return reason == HEALTH_ranges_open || reason == HEALTH_env_unreadable || reason == HEALTH_nested ||
	       reason == HEALTH_forked_after_cuda || reason == HEALTH_roster_lost || reason == HEALTH_window_late ||
	       reason == HEALTH_nvtx_taken || reason == HEALTH_cuda_taken ||
	       reason == HEALTH_device_graphs || reason == HEALTH_cupti_flawed || reason == HEALTH_pipe_used;
}

/* One reason, of all processes that have it. */
static void put_reason(struct page *p, uint32_t reason, uint32_t processes, const char *detail, bool first)
{
	const char *what = health_what(reason), *next = health_next(reason);
	char text[600], who[48] = "";

	if (processes > 1)
		snprintf(who, sizeof who, " (in %u processes)", processes);
	snprintf(text, sizeof text, "%s%s%s%s%s%s", what ? what : "a reason unknown to this program",
		 *detail ? ": " : "", detail, who, next && *next ? "; next: " : "", next ? next : "");
	put(p, first ? "missing" : "", text);
}

static void put_health(struct page *p)
{
	uint32_t shown = 0, left = 0;
	char text[120];

	for (uint32_t reason = 1; reason < HEALTH_REASONS; reason++) {
		const char *detail = "";
		uint32_t processes = 0;

		for (uint32_t i = 0; i < p->n_processes; i++)
			for (size_t h = 0; h < p->processes[i].n_health && model_process_selected(p->m, i); h++)
				if (p->processes[i].health[h].reason == reason && p->processes[i].health[h].count) {
					detail = processes ? detail : p->processes[i].health[h].detail;
					processes++;
				}
		if (!processes || harmless(reason))
			continue;
		if (shown < MOST_HEALTH)
			put_reason(p, reason, processes, detail, shown == 0);
		left += shown++ >= MOST_HEALTH;
	}
	if (left) {
		snprintf(text, sizeof text, "and %u more: gprof-trace report -r health", left);
		put(p, "", text);
	}
}

/* A trace without CUDA is no failure, but it wants a reason. */
static void put_why(struct page *p)
{
	struct why why[WHY_MOST];
	size_t n = why_no_cuda(p->m, why);
	char text[sizeof why->text + sizeof why->next + 4];

	/* The names of processes come with the first second: until then nothing is known of them. */
	if (p->n_processes == 1 && !model_trace(p->m)->finished)
		return;

	for (size_t i = 0; i < n; i++) {
		snprintf(text, sizeof text, "%.299s%s%.299s", why[i].text, *why[i].next ? "; " : "", why[i].next);
		put(p, i ? "" : model_rows(p->m, ROW_api) ? "no kernel" : "no CUDA", text);
	}
}

/* What an export would make is there already. */
static bool is_json(const struct page *p)
{
	const char *end = strrchr(p->path, '.');

	return imported(p) && !(end && strcmp(end, ".gtrace") == 0);
}

static void put_next(struct page *p)
{
	static const char json[] = "makes JSON for https://ui.perfetto.dev";
	char *words[] = { (char *)p->path }, path[512];
	bool kernels = model_rows(p->m, ROW_kernel), ranges = model_rows(p->m, ROW_range), samples = model_rows(p->m, ROW_sample);

	words_quote(path, sizeof path, words, 1);
	out_format(p->out, "  %-*sgprof-trace report -r %s %s\n", LABEL - 2, "next",
		kernels ? "cuda_gpu_kern_sum" : model_has_torch(p->m) ? "phases" : ranges ? p->startend ? "nvtx_startend_sum" : "nvtx_pushpop_sum" : samples ? "cpu_sum,lines" : "processes,health", path);
	if (model_rows(p->m, ROW_stack) && (kernels || ranges || !samples))
		out_format(p->out, "%*sgprof-trace report -r %s %s    %s\n", LABEL, "",
			samples ? "lines,cpu_sum" : model_rows(p->m, ROW_api) ? "launch_sites,stacks" : "range_sites,stacks", path, samples ? "by line and function" : "who called");
	out_format(p->out, "%*sgprof-trace report list    lists reports; report --help says more\n", LABEL, "");
	if ((!kernels && !ranges && !model_rows(p->m, ROW_api)) || is_json(p))
		return;
	out_format(p->out, "%*sgprof-trace export %s", LABEL, "", path);
	if (LABEL + text_width(path) + sizeof "gprof-trace export " + sizeof json <= p->width)
		out_format(p->out, "    %s\n", json);
	else
		out_format(p->out, "\n%*s%s\n", LABEL + 4, "", json);
}

static void put_imported(struct page *p)
{
	char text[160];

	snprintf(text, sizeof text, "from %s. What it did not record cannot be shown.", model_imported_from(p->m));
	put(p, "imported", text);
}

static int print(struct page *p, unsigned flags)
{
	const char *command = model_attribute(p->m, "command"), *left_out = model_attribute(p->m, "not_recorded");
	char window[120], pipe[300];
	int rc = 0;

	put_title(p, flags);
	put_unfinished(p, flags);
	if (command && *command)
		put(p, "command", command);
	if (imported(p))
		put_imported(p);
	if (*p->part)
		put(p, "only", p->part);
	if (put_holds(p) < 0 || put_ends(p) < 0)
		return -1;
	if (why_window(p->m, window, sizeof window))
		put(p, "window", window);
	if (why_pipe(p->m, pipe, sizeof pipe))
		put(p, "transport", pipe);
	put_sampling(p);
	put_drops(p);
	if (put_gpus(p) < 0 || put_times(p) < 0 || put_whole_graphs(p) < 0 || put_unified(p) < 0 || put_steps(p) < 0 || put_ranks(p) < 0)
		rc = -1;
	if (!model_rows(p->m, ROW_kernel) && !model_rows(p->m, ROW_memcpy) && !model_rows(p->m, ROW_memset) &&
	    !model_rows(p->m, ROW_graph))
		put_why(p);
	else
		put_health(p);
	if (rc == 0 && !imported(p))
		rc = put_overhead(p);
	if (left_out && *left_out)
		put(p, "left out", left_out);
	put_next(p);
	return rc;
}

/* Without the current folder in front. */
static const char *from_here(const char *path)
{
	char here[PATH_MAX];
	size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;

	return n > 1 && strncmp(path, here, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

/* Of the terminal that it is for, within reason. */
static size_t page_width(int fd)
{
	struct winsize size;

	if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) < 0 || !size.ws_col || size.ws_col > WIDTH)
		return WIDTH;
	return size.ws_col < NARROWEST ? NARROWEST : size.ws_col;
}

int page_print(const char *trace_path, FILE *file, unsigned flags, const struct pick *pick)
{
	struct out out;
	char part[PICK_WORDS] = "";
	struct page p = { .m = input_open(trace_path), .out = &out, .part = part };
	int rc;

	if (!p.m)
		return EXIT_FAILED;
	rc = pick ? pick_apply(pick, p.m) : 0;
	if (rc) {
		model_close(p.m);
		return rc;
	}
	if (pick)
		pick_words(pick, part, sizeof part);
	p.processes = model_processes(p.m, &p.n_processes);
	p.path = from_here(trace_path);
	p.width = page_width(flags & PAGE_ASKED ? STDOUT_FILENO : STDERR_FILENO);
	rc = out_init(&out, file);
	if (rc == 0) {
		rc = print(&p, flags);
		out_finish(&out);
	}
	input_say_damage(p.m);
	model_close(p.m);
	if (rc < 0)
		fail("out of memory");
	return rc < 0 ? EXIT_FAILED : 0;
}
