#include "cli/page/page_top.h"

#include "cli/model/process.h"
#include "cli/model/stacks/stacks.h"
#include "cli/model/torch/torch.h"
#include "cli/page/page_lines.h"
#include "cli/report/nvtx/range_self.h"
#include "cli/report/parts/sums.h"
#include "cli/report/stacks/cpu_sum.h"
#include "cli/report/torch/op_top.h"
#include "cli/ui/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY_SAMPLES 2000000u   /* counting more takes about a second */
#define NAME 39u                /* columns before the name */

const char *page_number(char text[32], uint64_t n)
{
	char digits[24];
	size_t len = (size_t)(digits_u64(digits, n) - digits), at = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	return text;
}

/* " (8 processes)" if several processes have rows of this kind, else "". */
static const char *whose(char text[48], struct model *m, unsigned kind)
{
	uint32_t processes = model_processes_with(m, (const unsigned char[]){ (unsigned char)kind, 0 });

	text[0] = '\0';
	if (processes > 1)
		snprintf(text, 48, " (%u processes)", processes);
	return text;
}

/* The base of the shares: total times or self times of all rows.  of NULL: the table has no shares. */
struct shares {
	const char *heading;
	const struct groups *of;
	unsigned __int128 all;
};

static struct shares shares_of(const char *heading, const struct groups *of)
{
	struct shares s = { heading, of, 0 };

	for (size_t i = 0; of && i < of->n; i++)
		s.all += of->list[i].sum;
	return s;
}

/* The share of a key in percent, "12.3", or "-". */
static const char *share_text(char text[24], const struct shares *s, uint64_t key)
{
	for (size_t i = 0; s->of && s->all && i < s->of->n; i++) {
		int64_t tenths = share(s->of->list[i].sum, s->all);

		if (s->of->list[i].key != key)
			continue;
		snprintf(text, 24, "%d.%d", (int)(tenths / 10), (int)(tenths % 10));
		return text;
	}
	return "-";
}

/* The table while it is written. */
struct top {
	struct model *m;
	struct out *o;
	size_t width, rows;             /* rows: maximum */
	struct page_table *table;
};

static void put_heading(struct top *t, const char *share, const char *times, const char *what, unsigned kind)
{
	char of[48];

	out_format(t->o, "  %8s %6s %10s %8s  %s%s\n", "time", share, times, "mean", what, whose(of, t->m, kind));
}

static void put_series(struct top *t, const struct series *g, const struct shares *shares)
{
	char total[32], mean[32], number[32], part[24];
	uint32_t domain = (uint32_t)(g->key >> 32);

	if (g->n)
		out_format(t->o, "  %8s %6s %10s %8s  ", text_time(total, (int64_t)g->sum), share_text(part, shares, g->key),
			   page_number(number, g->rows), text_time(mean, series_mean(g, 1, 1)));
	else
		out_format(t->o, "  %8s %6s %10s %8s  ", "-", "-", page_number(number, g->rows), "-");
	if (domain)
		out_visible(t->o, model_string(t->m, domain), 12), out_char(t->o, ':');
	out_middle(t->o, model_string(t->m, (uint32_t)g->key), t->width - NAME - (domain ? 13 : 0));
	out_char(t->o, '\n');
}

static void put_groups(struct top *t, const struct groups *g, const struct shares *shares)
{
	for (size_t i = 0; i < g->n && i < t->rows; i++)
		put_series(t, &g->list[i], shares);
	t->table->all = g->n;
}

static int put_kernels(struct top *t)
{
	struct sums s = { .m = t->m };
	struct shares shares;
	int rc = kernels_sum(&s, NAME_PLAIN);

	if (rc == 0) {
		groups_sort(&s.groups);
		shares = shares_of("%", &s.groups);
		put_heading(t, shares.heading, "runs", "kernel (% of kernels)", ROW_kernel);
		put_groups(t, &s.groups, &shares);
	}
	sums_release(&s);
	return rc;
}

/* Push/pop ranges nest, so their share is of self time; start/end ranges have no share.  Returns whether there are any, or -1. */
static int put_ranges(struct top *t, const char *what, bool startend)
{
	struct sums s = { .m = t->m };
	struct groups self = { 0 };
	struct shares shares;
	int rc = ranges_sum(&s, startend);

	if (rc == 0 && !startend)
		rc = ranges_self(t->m, &self);
	if (rc == 0 && s.groups.n) {
		groups_sort(&s.groups);
		shares = shares_of(startend ? "%" : "self %", startend ? NULL : &self);
		put_heading(t, shares.heading, "times", what, ROW_range);
		put_groups(t, &s.groups, &shares);
	}
	rc = rc < 0 ? -1 : s.groups.n > 0;
	groups_release(&self);
	sums_release(&s);
	return rc;
}

static int put_operators(struct top *t)
{
	struct op_top top;
	int rc = op_top(t->m, &top);

	if (rc == 0 && top.self.n) {
		const struct shares shares = shares_of("self %", &top.self);

		out_format(t->o, "  %8s %6s %10s %8s  %s\n", "self", "self %", "times", "mean", "PyTorch operator or scope, on the CPU");
		put_groups(t, &top.self, &shares);
	}
	op_top_release(&top);
	return rc;
}

/* Functions with self samples. */
static int put_functions(struct top *t)
{
	struct cpu_functions f;
	int rc = cpu_functions(t->m, &f);
	const struct stacks *s = rc == 0 ? model_stacks(t->m) : NULL;
	size_t n = 0;
	char number[32];

	if (s && f.samples)
		out_format(t->o, "  %8s %6s  function (%s CPU samples in all)\n", "samples", "self %", page_number(number, f.samples));
	for (size_t i = 0; s && i < f.n && f.list[i].self; i++, n++) {
		const struct function *of = &s->functions[f.list[i].function];
		const char *path = of->file != STRING_NONE ? file_short(t->m, of->file) :
				   of->image != STRING_NONE ? model_string(t->m, of->image) : "";
		const char *file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
		int64_t tenths = share(f.list[i].self, f.samples);
		size_t in = *file ? text_width(file) + 3 : 0;

		if (n >= t->rows)
			continue;
		if (in > 30)
			in = 0;
		out_format(t->o, "  %8s %4d.%d  ", page_number(number, f.list[i].self), (int)(tenths / 10), (int)(tenths % 10));
		out_middle(t->o, model_string(t->m, of->name), t->width - 19 - in);
		out_format(t->o, in ? " (%s)\n" : "\n", file);
	}
	t->table->all = n;
	t->table->indent = 19;
	free(f.list);
	return rc;
}

static int put_top(struct top *t, const char *ranges)
{
	const struct torch_ranges *torch = !model_rows(t->m, ROW_kernel) && model_has_torch(t->m) ? model_torch(t->m) : NULL;
	bool own = model_rows(t->m, ROW_range), samples = model_rows(t->m, ROW_sample);
	int rc = 0;

	if (model_rows(t->m, ROW_kernel)) {
		t->table->top = TOP_KERNELS;
		return put_kernels(t);
	}
	if (torch && torch->operators) {
		t->table->top = TOP_OPERATORS;
		return put_operators(t);
	}
	if (own && (rc = put_ranges(t, ranges, false)) > 0)
		t->table->top = TOP_RANGES;
	else if (own && rc == 0 && (rc = put_ranges(t, ranges, true)) > 0)
		t->table->top = TOP_STARTEND;
	else if (rc == 0 && samples && model_rows(t->m, ROW_sample) <= MANY_SAMPLES) {
		t->table->top = TOP_FUNCTIONS;
		rc = put_functions(t);
	}
	return rc < 0 ? -1 : 0;
}

int page_top(struct page_lines *p, struct model *m, size_t rows, const char *ranges, struct page_table *table)
{
	char *text = NULL;
	size_t size = 0;
	struct out out;
	FILE *file = open_memstream(&text, &size);
	struct top t = { m, &out, p->width, rows, table };
	int rc;

	*table = (struct page_table){ .block = page_block(p, KEEP_TABLE), .indent = NAME };
	rc = file && out_init(&out, file) == 0 ? put_top(&t, ranges) : -1;
	if (file && rc == 0)
		rc = out_finish(&out);
	if (file)
		fclose(file);
	table->shown = table->all < rows ? table->all : rows;
	if (rc == 0 && table->shown) {
		size_t heading = strcspn(text, "\n");

		page_line(p, table->block, "%s", "");
		page_line(p, table->block, "%.*s", (int)heading, text);
		page_style(p, table->block, 0, heading, STYLE_BOLD);
		page_split(p, table->block, text + heading + 1);
	}
	free(text);
	return rc;
}

void page_top_end(struct page_lines *p, struct page_table *t, size_t fewest)
{
	static const char *const words[] = {
		[TOP_KERNELS] = "kernels", [TOP_OPERATORS] = "operators", [TOP_RANGES] = "ranges", [TOP_STARTEND] = "ranges",
		[TOP_FUNCTIONS] = "functions",
	};

	if (!t->shown)
		return;
	while (t->shown > fewest && page_count(p) + 1 + (t->shown < t->all) > PAGE_LINES) {
		page_drop(p, t->block);
		t->shown--;
	}
	if (t->shown < t->all)
		page_line(p, t->block, "%*sand %zu more %s", (int)t->indent, "", t->all - t->shown, words[t->top]);
	page_line(p, t->block, "%s", "");
}
