#include "cli/page/page.h"

#include "cli/report/steps/comm_line.h"
#include "cli/report/session/ends.h"
#include "cli/report/torch/op_top.h"
#include "cli/report/steps/phase_sentence.h"
#include "cli/report/job/ranks.h"
#include "cli/report/steps/step_line.h"
#include "cli/report/steps/step_view.h"
#include "cli/report/parts/origin.h"
#include "cli/report/parts/sums.h"
#include "cli/report/cuda/unified.h"
#include "cli/report/parts/whole_graphs.h"
#include "cli/report/parts/why.h"
#include "cli/report/session/wrappers.h"
#include "cli/ui/fail.h"
#include "cli/input/input.h"
#include "cli/page/page_gpu.h"
#include "cli/page/page_lines.h"
#include "cli/page/page_missing.h"
#include "cli/page/page_next.h"
#include "cli/page/page_overhead.h"
#include "cli/input/selection_options.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/model/torch/torch.h"
#include "cli/page/page_top.h"
#include "trace/reader.h"

#include <limits.h>
#include <unistd.h>

#define NARROWEST 60
#define FEWEST    3u            /* rows of the table when the page is full */
#define MOST      5u            /* rows of the table */
#define MOST_SCOPES 2u
#define MANY_RANGES 2000000u    /* summing more takes about a second */

struct page {
	struct model *m;
	const char *path;               /* of the trace, relative to the current folder if it is in it */
	struct page_lines lines;
	const struct process *processes;
	uint32_t n_processes;
	const char *part;               /* description of the selected part (selection_options_words()); "": the whole trace */
	struct step_view view;
	struct page_found found;
};

/* Adds a label and a text of at most `most` lines. */
static void put_line(struct page *p, enum keep keep, const char *label, const char *text, size_t most)
{
	page_text(&p->lines, keep, label, text, most);
}

/* ---- what the trace holds ---- */

static uint32_t count_flag(const struct page *p, uint32_t flag)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < p->n_processes; i++)
		n += model_process_selected(p->m, i) && !p->processes[i].before && process_all_flags(p->m, i) & flag;
	return n;
}

/* Processes that recorded something. */
static uint32_t count_recorded(const struct page *p)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < p->n_processes; i++)
		n += model_process_selected(p->m, i) && !p->processes[i].before && process_all_flags(p->m, i) & PROCESS_CONNECTED &&
		     !process_recorded_nothing(p->m, i);
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

/* Whether the trace was imported from another profiler's file. */
static bool imported(const struct page *p)
{
	return model_imported(p->m);
}

/*
 * The path, or its end if it is too long for a line.  After gprof-run the whole path is printed: it may be new to the user.
 * Uses text.
 */
static const char *short_path(const struct page *p, unsigned flags, char *text, size_t size)
{
	size_t width = text_width(p->path);
	const char *end = p->path;

	if (!(flags & PAGE_ASKED) || width <= p->lines.width)
		return p->path;
	while (text_width(end) + 1 > p->lines.width && strchr(end + 1, '/'))
		end = strchr(end + 1, '/');
	snprintf(text, size, "\xe2\x80\xa6%s", end);
	return text;
}

static void put_title(struct page *p, unsigned flags)
{
	const struct trace *t = model_trace(p->m);
	char lasted[32], size[32], path[PATH_MAX + 8], facts[160], begin[64] = "";
	const char *name = short_path(p, flags, path, sizeof path);
	size_t at, block = page_block(&p->lines, KEEP_ALWAYS);

	if (!(flags & PAGE_ASKED))
		snprintf(begin, sizeof begin, "%s: the trace is ", program_name());
	at = (size_t)snprintf(facts, sizeof facts, "(%s", text_bytes(size, t->size));
	if (model_end(p->m) > model_start(p->m))
		at += (size_t)snprintf(facts + at, sizeof facts - at, ", %s recorded",
				       text_time(lasted, time_sub(model_end(p->m), model_start(p->m))));
	snprintf(facts + at, sizeof facts - at, "%s)%s", t->finished ? "" : ", not finished", simulated(p) ? "  simulated GPU" : "");
	if (text_width(begin) + text_width(name) + 2 + text_width(facts) <= p->lines.width) {
		page_line(&p->lines, block, "%s%s  %s", begin, name, facts);
		page_style(&p->lines, block, strlen(begin), strlen(name), STYLE_BOLD);
		return;
	}
	page_line(&p->lines, block, "%s%s", begin, name);
	page_style(&p->lines, block, strlen(begin), strlen(name), STYLE_BOLD);
	page_line(&p->lines, block, "  %s", facts);
}

/* Explains "not finished" in the title. */
static void put_unfinished(struct page *p, unsigned flags)
{
	const struct trace *t = model_trace(p->m);

	if (t->finished)
		return;
	if (!input_being_written(t))
		put_line(p, KEEP_ALWAYS, "cut off", "rows before the cut are shown; 'gprof-trace recover' writes the missing index", 2);
	else if (flags & PAGE_ASKED)
		put_line(p, KEEP_ALWAYS, "running", "the trace is still being written", 1);
	else
		put_line(p, KEEP_ALWAYS, "running",
			 "processes of the program still run and are recorded into this trace; --wait=all waits for them", 2);
}

/* The command, in one line; `gprof-trace info` prints a long command completely. */
static void put_command(struct page *p)
{
	const char *command = model_attribute(p->m, "command");
	char text[4 * PAGE_WIDTH];

	if (command && *command)
		put_line(p, KEEP_MORE, "command", page_command(text, sizeof text, command, p->lines.width - PAGE_LABEL), 1);
}

/* Warns of CUDA_LAUNCH_BLOCKING, which changes all times. */
static void put_setting(struct page *p)
{
	for (uint32_t i = 1; i < p->n_processes; i++) {
		const char *value = process_attribute(&p->processes[i], "env.CUDA_LAUNCH_BLOCKING");
		char text[200];

		if (!value || !*value || strcmp(value, "0") == 0 || !model_process_selected(p->m, i) ||
		    !(process_all_flags(p->m, i) & PROCESS_CUDA))
			continue;
		snprintf(text, sizeof text, "CUDA_LAUNCH_BLOCKING=%.9s: each launch waits for its kernel. Nothing overlaps, and all times "
			 "are longer.", value);
		put_line(p, KEEP_LOSS, "changed", text, 2);
		return;
	}
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
	uint32_t cuda = count_flag(p, PROCESS_CUDA), recorded = count_recorded(p), seen = count_processes(p);
	size_t torch = model_torch_count(m), n;
	char text[512];

	if (torch == SIZE_MAX)
		return -1;
	n = count_text(text, sizeof text, 0, seen, "process", "processes");

	if (n && cuda < seen && !imported(p))
		n += (size_t)snprintf(text + n, sizeof text - n, " (%u recorded, %u used CUDA)", recorded, cuda);
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
	put_line(p, KEEP_ALWAYS, "holds", n ? text : model_trace(m)->finished ? "nothing: no process was seen" : "nothing yet", 3);
	if (wrappers_text(m, text, sizeof text) < 0)
		return -1;
	if (*text)
		put_line(p, KEEP_DETAIL, "wrappers", text, 1);
	return 0;
}

static int put_ends(struct page *p)
{
	char text[512];
	int rc = ends_text(p->m, text, sizeof text);

	if (rc == 0 && *text)
		put_line(p, KEEP_ALWAYS, "ended", text, 3);
	return rc;
}

/* How the CPU was sampled, as the first process with samples says. */
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
	if (hz)
		snprintf(text, sizeof text, "%.20s a second, by %.80s", hz, how);
	else
		snprintf(text, sizeof text, "recorded by %.80s (rate unknown)", how);
	put_line(p, KEEP_ASIDE, "sampled", text, 1);
}

/* ---- where the time went ---- */

static int put_unified(struct page *p)
{
	char text[256];
	int rc = unified_text(p->m, text, sizeof text);

	if (rc == 0 && *text)
		put_line(p, KEEP_DETAIL, "unified", text, 2);
	return rc;
}

static int put_whole_graphs(struct page *p)
{
	char text[256];
	int rc = whole_graphs_text(p->m, text, sizeof text);

	if (rc == 0 && *text)
		put_line(p, KEEP_WHAT, "graphs", text, 2);
	return rc;
}

static bool is_slow(const struct median_step *of)
{
	return of->n > 2 && (time_sub(of->slowest->end, of->slowest->start)) / 3 >= time_sub(of->median->end, of->median->start) / 2;
}

static int put_steps(struct page *p)
{
	struct phase_words words;
	char text[320], window[320];

	if (step_line(&p->view, text, sizeof text) < 0 || first_window_line(&p->view, window, sizeof window) < 0 ||
	    phase_line(&p->view, &words) < 0)
		return -1;
	if (*text)
		put_line(p, KEEP_STEP, "steps", text, 2);
	if (*window)
		put_line(p, KEEP_WHAT, "window", window, 3);
	p->found.slow_step = p->view.of.n && is_slow(&p->view.of);
	p->found.phases = *words.phases;
	p->found.idle = *words.idle;
	if (*words.phases)
		put_line(p, KEEP_STEP, "phases", words.phases, 2);
	else if (comm_line(&p->view, words.comm, sizeof words.comm) < 0)
		return -1;
	if (*words.comm)
		put_line(p, KEEP_STEP, "comm", words.comm, 2);
	if (*words.idle)
		put_line(p, KEEP_STEP, "GPU idle", words.idle, 1);
	return 0;
}

static void put_scope(struct page *p, const char *label, struct series *g)
{
	const char *name = model_string(p->m, (uint32_t)g->key);
	char text[200], middle[32], slowest[32], number[32];
	const char *cut = strlen(name) > 32 ? "\xe2\x80\xa6" : "";
	int64_t twice = g->n ? series_median2(g) : 0;

	if (g->n == 1)
		snprintf(text, sizeof text, "%.32s%s: once, %s", name, cut, text_time(middle, twice / 2));
	else if (g->n)
		snprintf(text, sizeof text, "%.32s%s: %s times, median %s, slowest %s", name, cut, page_number(number, g->rows),
			 text_time(middle, (twice + 1) / 2), text_time(slowest, g->max));
	if (g->n)
		put_line(p, KEEP_WHAT, label, text, 1);
}

/* For programs without steps, such as servers: the two scopes or ranges with most time. */
static int put_scopes(struct page *p)
{
	struct sums s = { .m = p->m };
	struct op_top top = { 0 };
	bool known = p->view.of.n && p->view.s->source != STEPS_LAUNCHES;
	const char *label = "scopes";
	int rc = 0;

	if (known || p->found.top == TOP_RANGES || p->found.top == TOP_STARTEND || model_rows(p->m, ROW_range) > MANY_RANGES)
		return 0;
	if (model_has_torch(p->m))
		rc = op_top(p->m, &top);
	if (rc == 0 && !imported(p) && model_rows(p->m, ROW_range)) {
		rc = ranges_sum(&s, false);
		groups_sort(&s.groups);
	}
	for (size_t i = 0; rc == 0 && i < top.scopes.n && i < MOST_SCOPES; i++, label = "")
		put_scope(p, label, &top.scopes.list[i]);
	for (size_t i = 0; rc == 0 && !top.scopes.n && i < s.groups.n && i < MOST_SCOPES; i++, label = "")
		put_scope(p, label, &s.groups.list[i]);
	op_top_release(&top);
	sums_release(&s);
	return rc;
}

static int put_ranks(struct page *p)
{
	char text[RANKS_SENTENCE];
	int rc = ranks_line(p->m, text);

	p->found.late_rank = rc == 0 && *text;
	if (rc == 0 && *text)
		put_line(p, KEEP_LOSS, "ranks", text, 3);
	return rc;
}

/* ---- overhead, missing rows, next command ---- */

static int put_overhead(struct page *p)
{
	char text[PAGE_OVERHEAD];
	int rc = page_overhead(p->m, text);

	if (rc == 0 && *text)
		put_line(p, KEEP_ASIDE, "overhead", text, 1);
	return rc;
}

/* Says that source text is in the trace, and so leaves the machine with it. */
static void put_sources(struct page *p)
{
	size_t n = model_rows(p->m, ROW_source);
	char text[120];

	if (!n)
		return;
	snprintf(text, sizeof text, "the text of %zu Python file%s is in the trace (gprof-trace info)", n, n == 1 ? "" : "s");
	put_line(p, KEEP_ASIDE, "sources", text, 1);
}

static void put_imported(struct page *p)
{
	char text[160];

	snprintf(text, sizeof text, "from %s", imported_from(p->m));
	put_line(p, KEEP_DETAIL, "imported", text, 1);
	put_line(p, KEEP_ASIDE, "", "What it did not record cannot be shown.", 1);
}

static void put_how(struct page *p)
{
	char window[120], pipe[300], refused[400];

	if (why_window(p->m, window, sizeof window))
		put_line(p, KEEP_WHAT, "window", window, 2);
	if (why_pipe(p->m, pipe, sizeof pipe))
		put_line(p, KEEP_DETAIL, "transport", pipe, 4);
	if (why_refused(p->m, refused, sizeof refused))
		put_line(p, KEEP_WHAT, "refused", refused, 4);
	put_sampling(p);
	page_drops(&p->lines, p->m);
}

static int make_page(struct page *p, unsigned flags)
{
	const char *left_out = model_attribute(p->m, "not_recorded");
	struct page_table table;

	put_title(p, flags);
	put_unfinished(p, flags);
	put_command(p);
	if (imported(p))
		put_imported(p);
	if (*p->part)
		put_line(p, KEEP_ALWAYS, "only", p->part, 2);
	if (put_holds(p) < 0 || put_ends(p) < 0)
		return -1;
	put_setting(p);
	put_how(p);
	if (page_gpus(&p->lines, p->m) < 0)
		return -1;
	if (page_top(&p->lines, p->m, MOST, imported(p) ? "range" : "NVTX range", &table) < 0)
		return -1;
	p->found.top = table.top;
	if (put_whole_graphs(p) < 0 || put_unified(p) < 0 || put_steps(p) < 0 || put_scopes(p) < 0 || put_ranks(p) < 0)
		return -1;
	page_missing(&p->lines, p->m);
	if (!imported(p) && put_overhead(p) < 0)
		return -1;
	if (left_out && *left_out)
		put_line(p, KEEP_DETAIL, "left out", left_out, 2);
	put_sources(p);
	if (page_next(&p->lines, &p->view, &p->found, p->path) < 0)
		return -1;
	page_top_end(&p->lines, &table, FEWEST);
	return 0;
}

/* The path without the current folder. */
static const char *from_here(const char *path)
{
	char here[PATH_MAX];
	size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;

	return n > 1 && strncmp(path, here, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

/* Width of the page in columns: that of the terminal, from NARROWEST to PAGE_WIDTH; PAGE_WIDTH without a terminal. */
static size_t page_width(FILE *screen)
{
	unsigned columns = screen_columns(screen);

	if (!columns || columns > PAGE_WIDTH)
		return PAGE_WIDTH;
	return columns < NARROWEST ? NARROWEST : columns;
}

static int print(struct page *p, FILE *file, unsigned flags)
{
	struct out out;
	int rc = step_view_begin(&p->view, p->m);

	if (rc == 0)
		rc = make_page(p, flags);
	if (rc == 0)
		rc = out_init(&out, file);
	if (rc == 0) {
		out.styled = screen_styled(flags & PAGE_ASKED ? stdout : stderr);
		rc = page_lines_print(&p->lines, &out);
		out_finish(&out);
	}
	step_view_end(&p->view);
	page_lines_release(&p->lines);
	return rc;
}

int page_print(struct input *in, FILE *file, unsigned flags, const struct selection_options *selection)
{
	char part[SELECTION_OPTIONS_WORDS] = "";
	struct page p = { .m = input_open(in), .part = part };
	int rc;

	if (!p.m)
		return EXIT_FAILED;
	rc = selection ? selection_options_apply(selection, p.m) : 0;
	if (rc) {
		model_close(p.m);
		return rc;
	}
	if (selection)
		selection_options_words(selection, part, sizeof part);
	p.processes = model_processes(p.m, &p.n_processes);
	p.path = from_here(in->path);
	p.lines.width = page_width(flags & PAGE_ASKED ? stdout : stderr);
	rc = print(&p, file, flags);
	input_say_damage(p.m);
	model_close(p.m);
	if (rc < 0)
		fail("out of memory");
	return rc < 0 ? EXIT_FAILED : 0;
}
