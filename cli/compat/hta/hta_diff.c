/* Compares a step of two traces, by name: counts and durations (hta/trace_diff.py). */
#include "cli/compat/hta/hta.h"
#include "cli/ui/json_out.h"
#include "trace/grow.h"

#include <ctype.h>
#include <stdlib.h>

enum { CONTROL, TEST, SIDES };

/* The words of the variant. */
struct diff_options {
	bool cpu, gpu, brief;           /* which rows; brief: compare shortened names */
	int64_t iteration;              /* number of the step; -1: the second one, or the only one */
};

/* Returns false for an unknown word. */
static bool read_wish(const char *words, struct diff_options *w)
{
	*w = (struct diff_options){ true, true, false, -1 };
	for (const char *p = words; p && *p; p += strcspn(p, "._:"), p += *p != '\0') {
		size_t n = strcspn(p, "._:");

		if (n == 3 && strncmp(p, "CPU", n) == 0)
			w->gpu = false;
		else if (n == 3 && strncmp(p, "GPU", n) == 0)
			w->cpu = false;
		else if (n == 5 && strncmp(p, "short", n) == 0)
			w->brief = true;
		else if (n > 4 && strncmp(p, "iter", 4) == 0 && strspn(p + 4, "0123456789") == n - 4)
			w->iteration = strtoll(p + 4, NULL, 10);
		else if (n != 3 || strncmp(p, "ALL", n) != 0)
			return false;
	}
	return w->cpu || w->gpu;
}

static bool is_wish(const char *words)
{
	struct diff_options w;

	return read_wish(words, &w);
}

/* ---- iterations ---- */

struct step_row {
	int64_t start, end, number;
};

/* Time split into pieces, each of one iteration. */
struct diff_pieces {
	struct timed *from;             /* .time: start of the piece; .end: its iteration, -1: none */
	size_t n;
};

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static size_t place_of(const struct diff_pieces *p, int64_t when)
{
	size_t low = 0, high = p->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (p->from[middle].time <= when)
			low = middle + 1;
		else
			high = middle;
	}
	return low;     /* `when` is in piece low - 1; 0: before all pieces */
}

/*
 * At a time in several steps the last step in the file counts: goes through the steps from the last, each takes the pieces that are free.
 */
static int make_pieces(struct diff_pieces *p, const struct step_row *steps, size_t n)
{
	int64_t *times = malloc((2 * n + 1) * sizeof *times);
	size_t *next = malloc((2 * n + 2) * sizeof *next);      /* links to the next free piece, with path compression */

	p->from = malloc((2 * n + 1) * sizeof *p->from);
	if (!times || !next || !p->from) {
		free(times);
		free(next);
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		times[2 * i] = steps[i].start;
		times[2 * i + 1] = steps[i].end;
	}
	qsort(times, 2 * n, sizeof *times, by_time);
	for (size_t i = 0; i < 2 * n; i++)
		if (i == 0 || times[i] != times[i - 1])
			p->from[p->n++] = (struct timed){ .time = times[i], .end = -1 };
	for (size_t i = 0; i <= p->n; i++)
		next[i] = i;
	for (size_t i = n; i-- > 0;) {
		size_t first = place_of(p, steps[i].start) - 1, end = place_of(p, steps[i].end) - 1;

		for (size_t at = first; at < end;) {
			size_t root = at;

			while (next[root] != root)
				root = next[root] = next[next[root]];
			if (root < end) {
				p->from[root].end = steps[i].number;
				next[root] = root + 1;
			}
			at = root + 1;
		}
	}
	free(times);
	free(next);
	return 0;
}

static int64_t iteration_at(const struct diff_pieces *p, int64_t when)
{
	size_t place = place_of(p, when);

	return place ? p->from[place - 1].end : -1;
}

/* "ProfilerStep#12", also with blanks around the #. */
static bool step_number(const char *name, int64_t *number)
{
	if (strncmp(name, "ProfilerStep", 12) != 0)
		return false;
	for (name += 12; isspace((unsigned char)*name);)
		name++;
	if (*name++ != '#')
		return false;
	while (isspace((unsigned char)*name))
		name++;
	*number = strtoll(name, NULL, 10);
	return isdigit((unsigned char)*name);
}

/* The second smallest step number of all ranks, or the only one; -1: no steps. */
static int64_t second_step(const struct hta *h)
{
	int64_t first = -1, second = -1;

	for (size_t k = 0; k < h->n_ranks; k++)
		for (size_t i = 0; i < h->ranks[k].n; i++) {
			int64_t number;

			if (!step_number(h->names[hta_row(&h->ranks[k], i)->name].text, &number))
				continue;
			if (first < 0 || number < first) {
				second = first;
				first = number;
			} else if (number > first && (second < 0 || number < second)) {
				second = number;
			}
		}
	return second < 0 ? first : second;
}

/*
 * By position of a row: its iteration; -1: none.  Host rows belong to the iteration in which they start, GPU rows to that of their call;
 * for HTA, GPU rows of stream 0 to none.  The caller frees the array.  NULL: out of memory.
 */
static int64_t *iterations_of(const struct hta *h, const struct hta_rank *r)
{
	int64_t *out = malloc((r->n + 1) * sizeof *out);
	struct step_row *steps = malloc((r->n + 1) * sizeof *steps);
	struct diff_pieces p = { 0 };
	size_t n = 0;
	int rc = -1;

	for (size_t i = 0; out && steps && i < r->n; i++) {
		const struct hta_row *row = hta_row(r, i);
		int64_t number;

		if (row->dur > 0 && step_number(h->names[row->name].text, &number))
			steps[n++] = (struct step_row){ row->ts, hta_end(row), number };
	}
	if (out && steps)
		rc = make_pieces(&p, steps, n);
	for (size_t i = 0; rc == 0 && i < r->n; i++) {
		const struct hta_row *row = hta_row(r, i), *call = row->partner > 0 ? hta_at(r, row->partner) : NULL;
		int64_t stream = hta_stream(r, row);
		bool host = stream < 0 || (stream == 0 && row->category == HTA_CPU_OP);

		if (host)
			out[i] = iteration_at(&p, row->ts);
		else
			out[i] = (stream > 0 || !h->how.rounded) && call && hta_stream(r, call) < 0 ? iteration_at(&p, call->ts) : -1;
	}
	free(steps);
	free(p.from);
	if (rc == 0)
		return out;
	free(out);
	return NULL;
}

/* ---- names ---- */

/* HTA's shorten_name: the last word of the name without its parts in brackets.  The caller frees it.  NULL: out of memory. */
static char *brief_name(const char *name)
{
	size_t n = strlen(name), top = 0;
	char *stack = malloc(n + 1), *word;

	if (!stack)
		return NULL;
	if (hta_is_memory_name(name) || !name[strcspn(name, "<(")]) {
		memcpy(stack, name, n + 1);
		return stack;
	}
	for (; *name; name++) {
		char open = *name == '>' ? '<' : '(';

		if (name[0] == '-' && name[1] == '>') {
			name++;
			continue;
		}
		if (*name != '>' && *name != ')') {
			stack[top++] = *name;
			continue;
		}
		while (top > 0 && stack[top - 1] != open)
			top--;
		top -= top > 0;
	}
	stack[top] = '\0';
	word = strrchr(stack, ' ');
	if (word)
		memmove(stack, word + 1, strlen(word + 1) + 1);
	return stack;
}

struct counted {
	const char *name;
	uint64_t n[SIDES];
	int64_t time[SIDES];
};

struct name_counts {
	struct counted *list;
	size_t n, cap;
	char **texts;                   /* shortened names, owned */
	size_t n_texts, cap_texts;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct counted *)a)->name, ((const struct counted *)b)->name);
}

static int add_name(struct name_counts *c, const char *name, bool brief)
{
	if (!GROW(c->list, c->n + 1, c->cap) || (brief && !GROW(c->texts, c->n_texts + 1, c->cap_texts)))
		return -1;
	if (brief)
		name = c->texts[c->n_texts++] = brief_name(name);
	if (!name)
		return -1;
	c->list[c->n++] = (struct counted){ .name = name };
	return 0;
}

/* Counts the chosen rows of one side by name.  Returns 0, or -1 when out of memory. */
static int count_side(struct name_counts *c, const struct hta *h, unsigned side, const struct diff_options *w)
{
	const struct hta_rank *r = &h->ranks[0];
	int64_t *iterations = iterations_of(h, r), wanted = w->iteration < 0 ? second_step(h) : w->iteration;
	size_t first = c->n;
	int rc = iterations ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < h->n_names; i++)
		rc = add_name(c, h->names[i].text, w->brief);
	for (size_t i = 0; rc == 0 && i < r->n; i++) {
		const struct hta_row *row = hta_row(r, i);
		struct counted *one = &c->list[first + row->name];

		if (iterations[i] != wanted || wanted < 0 || !(hta_on_stream(row) ? w->gpu : w->cpu))
			continue;
		one->n[side]++;
		one->time[side] = time_add(one->time[side], row->dur);
	}
	free(iterations);
	return rc;
}

static void sum_up(struct name_counts *c)
{
	size_t out = 0;

	if (c->n)
		qsort(c->list, c->n, sizeof *c->list, by_name);
	for (size_t i = 0; i < c->n; i++) {
		const struct counted *one = &c->list[i];

		if (!one->n[CONTROL] && !one->n[TEST])
			continue;
		if (!out || strcmp(c->list[out - 1].name, one->name) != 0) {
			c->list[out++] = *one;
			continue;
		}
		for (unsigned s = 0; s < SIDES; s++) {
			c->list[out - 1].n[s] += one->n[s];
			c->list[out - 1].time[s] = time_add(c->list[out - 1].time[s], one->time[s]);
		}
	}
	c->n = out;
}

/* ---- reports ---- */

static void print_counts(struct table *t, const struct name_counts *c, const struct diff_options *w, struct hta_how how)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct counted *one = &c->list[i];
		const char *sign = one->n[TEST] > one->n[CONTROL] ? "+" : one->n[TEST] < one->n[CONTROL] ? "-" : "=";
		struct cell name = TEXT(table_keep(t, "%s", one->name));
		int64_t more = (int64_t)one->n[TEST] - (int64_t)one->n[CONTROL],
			longer = time_sub(one->time[TEST], one->time[CONTROL]);

		if (how.rounded)
			table_row(t, (struct cell[]){ w->brief ? UNKNOWN : name, w->brief ? name : UNKNOWN, NUMBER(one->n[CONTROL]),
						      hta_us(one->time[CONTROL]), NUMBER(one->n[TEST]), hta_us(one->time[TEST]),
						      NUMBER(more), hta_us(longer), TEXT(sign) });
		else
			table_row(t, (struct cell[]){ NUMBER(one->n[CONTROL]), NUMBER(one->time[CONTROL]), NUMBER(one->n[TEST]),
						      NUMBER(one->time[TEST]), NUMBER(more), NUMBER(longer), TEXT(sign), name });
	}
}

static const char *const changes[] = { "added", "deleted", "increased", "decreased", "unchanged" };
#define CHANGES (sizeof changes / sizeof *changes)

static unsigned change_of(const struct counted *one)
{
	return !one->n[CONTROL]		      ? 0
	       : !one->n[TEST]		      ? 1
	       : one->n[TEST] > one->n[CONTROL] ? 2
	       : one->n[TEST] < one->n[CONTROL] ? 3
					      : 4;
}

/* {"added": [names], ...}; the caller owns the text.  NULL: out of memory. */
static char *changes_json(const struct name_counts *c)
{
	struct hta_json j;

	if (hta_json_begin(&j) < 0)
		return NULL;
	for (unsigned change = 0; change < CHANGES; change++) {
		bool any = false;

		out_text(&j.out, change ? ",\n \"" : "{\n \"");
		out_text(&j.out, changes[change]);
		out_lit(&j.out, "\": [");
		for (size_t i = 0; i < c->n; i++) {
			if (change_of(&c->list[i]) != change)
				continue;
			if (any)
				out_lit(&j.out, ", ");
			any = true;
			json_string(&j.out, c->list[i].name);
		}
		out_char(&j.out, ']');
	}
	out_lit(&j.out, "\n}");
	return hta_json_end(&j);
}

static void print_changes(struct table *t, const struct name_counts *c, const struct diff_options *w, struct hta_how how)
{
	(void)w;
	(void)how;
	if (t->tables->format == TABLE_JSON)
		table_value(t, changes_json(c));
	for (unsigned change = 0; change < CHANGES; change++)
		for (size_t i = 0; i < c->n; i++)
			if (change_of(&c->list[i]) == change)
				table_row(t, (struct cell[]){ TEXT(changes[change]), TEXT(table_keep(t, "%s", c->list[i].name)) });
}

static int diff(struct table *t, const struct report_choice *choice, struct hta_how how,
		void (*print)(struct table *t, const struct name_counts *c, const struct diff_options *w, struct hta_how how))
{
	struct diff_options w;
	struct name_counts c = { 0 };
	struct hta *sides[SIDES] = { NULL, NULL };
	int rc = 0;

	read_wish(choice->variant, &w);
	if (!choice->jobs || choice->jobs->n != SIDES) {
		table_note(t, "this report compares two traces: give two");
		return 0;
	}
	how.whole = true;
	for (unsigned s = 0; s < SIDES && rc == 0; s++) {
		sides[s] = hta_load(&choice->jobs->models[s], 1, how);
		rc = !sides[s] ? -1 : sides[s]->n_ranks ? count_side(&c, sides[s], s, &w) : 0;
	}
	if (rc == 0) {
		sum_up(&c);
		print(t, &c, &w, how);
	}
	for (size_t i = 0; i < c.n_texts; i++)
		free(c.texts[i]);
	free(c.texts);
	free(c.list);
	hta_free(sides[CONTROL]);
	hta_free(sides[TEST]);
	return rc;
}

static int compare(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	(void)m;
	return diff(t, choice, how, print_counts);
}

static int ops(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	(void)m;
	return diff(t, choice, how, print_changes);
}

static const struct heading columns[] = {
	{ "control_count", 0 }, { "control_ns", 0 }, { "test_count", 0 }, { "test_ns", 0 }, { "diff_count", 0 },
	{ "diff_ns", COLUMN_KEY },
	{ "change", COLUMN_TEXT }, { "name", COLUMN_TEXT },
};
static const struct heading hta_columns[] = {
	{ "name", COLUMN_TEXT }, { "short_name", COLUMN_TEXT }, { "control_counts", 0 }, { "control_total_duration", 0 },
	{ "test_counts", 0 }, { "test_total_duration", 0 }, { "diff_counts", 0 }, { "diff_duration", 0 },
	{ "counts_change_categories", COLUMN_TEXT },
};
static const struct heading change_columns[] = { { "change", COLUMN_TEXT }, { "name", COLUMN_TEXT } };

#define WORDS ANY_VARIANT "CPU GPU ALL short iterN"

HTA_TWIN_OF(SIDES, is_wish, HTA_US, hta_compare_traces, compare, hta_columns, WORDS, "Two Traces by Name",
	    "How often and how long does each name run in a step of two traces? (:CPU, :GPU, :CPU.short)");
HTA_PAIR_OF(SIDES, is_wish, HTA_US, ops_diff, hta_ops_diff, ops, change_columns, WORDS, "Names That Differ Between Two Traces",
	    "Which names of the second of two traces are new, gone, more or less frequent?");

static int run_compare(struct model *m, struct table *t, const struct report_choice *choice)
{
	return compare(m, t, choice, HTA_HONEST);
}

const struct report report_compare_traces = {
	.name = "compare_traces",
	.title = "Two Traces by Name",
	.help = "How often and how long does each name run in a step of two traces? (:CPU, :GPU, :CPU.short)",
	.ranks = true,
	.traces = SIDES,
	.variants = WORDS,
	.takes = is_wish,
	COLUMNS(columns),
	.run_chosen = run_compare,
};
