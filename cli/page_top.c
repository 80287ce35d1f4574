#include "cli/page_top.h"

#include "cli/analyze/range_self.h"
#include "cli/analyze/sums.h"
#include "cli/model/process.h"
#include "cli/table.h"

#include <stdio.h>
#include <string.h>

#define TOP 5

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

/* Long names differ at their ends: what is too much is left out of the middle. */
static void put_middle(struct out *o, const char *text, size_t width)
{
	size_t n = strlen(text), tail = width * 2 / 5;

	if (text_width(text) <= width || n != text_width(text)) {
		out_visible(o, text, width);
		return;
	}
	out_visible(o, text, width - tail);
	out_visible(o, text + n - tail, tail);
}

/* " (sum of 8 processes)": what the table is of, where it is of several that have such rows. */
static const char *whose(char text[48], struct model *m, unsigned kind)
{
	uint32_t processes = model_processes_with(m, (const unsigned char[]){ (unsigned char)kind, 0 });

	text[0] = '\0';
	if (processes > 1)
		snprintf(text, 48, " (sum of %u processes)", processes);
	return text;
}

/* What shares are of: the times in the table, or the parts that each has in no other.  NULL: shares are not known. */
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

/* "12.3" */
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

static void put_series(struct sums *s, struct out *o, size_t width, const struct series *g, const struct shares *shares)
{
	char total[32], mean[32], number[32], part[24];
	uint32_t domain = (uint32_t)(g->key >> 32);

	if (g->n)
		out_format(o, "  %10s %6s %11s %9s  ", text_time(total, (int64_t)g->sum), share_text(part, shares, g->key),
			   page_number(number, g->rows), text_time(mean, series_mean(g, 1, 1)));
	else
		out_format(o, "  %10s %6s %11s %9s  ", "-", "-", page_number(number, g->rows), "-");
	if (domain)
		out_visible(o, model_string(s->m, domain), 20), out_char(o, ':');
	put_middle(o, model_string(s->m, (uint32_t)g->key), width - 43);
	out_char(o, '\n');
}

static void put_top(struct sums *s, struct out *o, size_t width, const char *what, unsigned kind, const struct shares *shares)
{
	char of[48];

	out_format(o, "\n  %10s %6s %11s %9s  %s%s\n", "time", shares->heading, kind == ROW_kernel ? "runs" : "times", "mean", what,
		   whose(of, s->m, kind));
	for (size_t i = 0; i < s->groups.n && i < TOP; i++)
		put_series(s, o, width, &s->groups.list[i], shares);
	if (s->groups.n > TOP)
		out_format(o, "  %*s and %zu more\n", 39, "", s->groups.n - TOP);
	out_char(o, '\n');
}

static int put_kernels(struct sums *s, struct out *o, size_t width)
{
	struct shares shares;

	if (kernels_sum(s, NAME_PLAIN) < 0)
		return -1;
	groups_sort(&s->groups);
	shares = shares_of("%", &s->groups);
	put_top(s, o, width, "kernel", ROW_kernel, &shares);
	return 0;
}

static int put_ranges(struct sums *s, struct out *o, size_t width, const char *what, bool *startend)
{
	struct groups self = { 0 };
	struct shares shares;
	int rc = ranges_sum(s, false);

	*startend = rc == 0 && !s->groups.n;
	if (*startend)
		rc = ranges_sum(s, true);
	else if (rc == 0)
		rc = ranges_self(s->m, &self);
	if (rc == 0 && s->groups.n) {
		groups_sort(&s->groups);
		shares = shares_of(*startend ? "%" : "self %", *startend ? NULL : &self);
		put_top(s, o, width, what, ROW_range, &shares);
	}
	groups_release(&self);
	return rc;
}

int page_top(struct model *m, struct out *out, size_t width, const char *ranges, bool *startend)
{
	struct sums s = { .m = m };
	int rc = 0;

	*startend = false;
	if (model_rows(m, ROW_kernel))
		rc = put_kernels(&s, out, width);
	else if (model_rows(m, ROW_range))
		rc = put_ranges(&s, out, width, ranges, startend);
	sums_release(&s);
	return rc;
}
