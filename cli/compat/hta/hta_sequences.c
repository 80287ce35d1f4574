/* Frequent sequences of kernels below an operator (hta/analyzers/cuda_kernel_analysis.py, get_frequent_cuda_kernel_sequences). */
#include "cli/compat/hta/hta_tree.h"

#include <stdlib.h>

#define FEWEST_KERNELS 3        /* HTA's min_pattern_len */

/* The GPU rows below one row. */
struct below {
	const struct hta_rank *r;
	const struct hta_tree *tree;
	uint32_t *todo;                 /* stack of walk(), room for r->n */
	struct timed *kernels;          /* rows on a stream; .row: position */
	size_t n;
	size_t launched;                /* number of them that have a parent in the tree */
	int64_t gpu;                    /* sum of the durations of these */
};

static int by_time(const void *a, const void *b, void *rank)
{
	const struct timed *x = a, *y = b;
	const struct hta_rank *r = rank;
	uint32_t first = hta_row(r, x->row)->index, second = hta_row(r, y->row)->index;

	return x->time != y->time ? (x->time < y->time ? -1 : 1) : (first > second) - (first < second);
}

/* Fills b with the GPU rows of the subtree of `from`, by time, then in file order. */
static void walk(struct below *b, uint32_t from)
{
	size_t top = 0;

	b->n = b->launched = 0;
	b->gpu = 0;
	b->todo[top++] = from;
	while (top > 0) {
		uint32_t at = b->todo[--top];
		const struct hta_row *row = hta_row(b->r, at);

		if (hta_on_stream(row)) {
			b->kernels[b->n++] = (struct timed){ .time = row->ts, .row = at };
			if (b->tree->parent[at] != NO_PARENT) {
				b->launched++;
				b->gpu = time_add(b->gpu, row->dur);
			}
		}
		for (uint32_t c = b->tree->first[at]; c != UINT32_MAX; c = b->tree->next[c])
			b->todo[top++] = c;
	}
	if (b->launched >= FEWEST_KERNELS)
		qsort_r(b->kernels, b->n, sizeof *b->kernels, by_time, (void *)b->r);
}

struct kernel_sequence {
	char *pattern;
	int64_t gpu, cpu;
	uint64_t n;
};

static char *pattern_of(const struct hta *h, const struct below *b, const struct hta_row *op)
{
	size_t length = strlen(h->names[op->name].text) + 1;
	char *text, *to;

	for (size_t i = 0; i < b->n; i++)
		length += strlen(h->names[hta_row(b->r, b->kernels[i].row)->name].text) + 1;
	text = malloc(length);
	if (!text)
		return NULL;
	to = stpcpy(text, h->names[op->name].text);
	for (size_t i = 0; i < b->n; i++) {
		*to++ = '|';
		to = stpcpy(to, h->names[hta_row(b->r, b->kernels[i].row)->name].text);
	}
	return text;
}

static int by_pattern(const void *a, const void *b)
{
	return strcmp(((const struct kernel_sequence *)a)->pattern, ((const struct kernel_sequence *)b)->pattern);
}

static int by_count(const void *a, const void *b)
{
	const struct kernel_sequence *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1) : by_pattern(a, b);
}

/* Merges equal patterns; sorts by count.  Returns the number of patterns. */
static size_t sum_up(struct kernel_sequence *list, size_t n)
{
	size_t out = 0;

	qsort(list, n, sizeof *list, by_pattern);
	for (size_t i = 0; i < n; i++) {
		if (out && strcmp(list[out - 1].pattern, list[i].pattern) == 0) {
			list[out - 1].gpu = time_add(list[out - 1].gpu, list[i].gpu);
			list[out - 1].cpu = time_add(list[out - 1].cpu, list[i].cpu);
			list[out - 1].n++;
			free(list[i].pattern);
		} else {
			list[out++] = list[i];
		}
	}
	qsort(list, out, sizeof *list, by_count);
	return out;
}

/* The operators that are looked for. */
struct chosen_operator {
	const bool *with;               /* by name: whether it has the word */
	int32_t least;                  /* least depth of such a row; HTA takes only rows of this depth */
};

static bool below_another(const struct below *b, const struct chosen_operator *c, size_t row)
{
	for (uint32_t at = b->tree->parent[row]; at != NO_PARENT; at = b->tree->parent[at])
		if (c->with[hta_row(b->r, at)->name])
			return true;
	return false;
}

/*
 * HTA takes the operators of the least depth; rows in no tree have depth -1, which it takes for the least.  The report without hta_ takes
 * operators that no other such operator is above.
 */
static bool counts(const struct hta *h, const struct below *b, const struct chosen_operator *c, size_t row)
{
	if (!c->with[hta_row(b->r, row)->name])
		return false;
	if (h->how.rounded)
		return b->tree->depth[row] == c->least;
	return b->tree->depth[row] >= 0 && !below_another(b, c, row);
}

static int find(const struct hta *h, struct below *b, const char *op, struct kernel_sequence *list, size_t *n)
{
	bool *with = hta_names_with(h, op);
	struct chosen_operator c = { with, INT32_MAX };
	int rc = with ? 0 : -1;

	for (size_t i = 0; i < b->r->n && with; i++)
		if (b->tree->depth[i] < c.least && with[hta_row(b->r, i)->name])
			c.least = b->tree->depth[i];
	for (size_t i = 0; i < b->r->n && rc == 0; i++) {
		const struct hta_row *row = hta_row(b->r, i);

		if (!counts(h, b, &c, i))
			continue;
		walk(b, (uint32_t)i);
		if (b->launched < FEWEST_KERNELS)
			continue;
		list[*n] = (struct kernel_sequence){ pattern_of(h, b, row), b->gpu, row->dur, 1 };
		rc = list[*n].pattern ? 0 : -1;
		*n += rc == 0;
	}
	free(with);
	return rc;
}

static void print(struct table *t, const struct hta *h, const struct kernel_sequence *f)
{
	struct cell pattern = TEXT(table_keep(t, "%s", f->pattern));

	if (h->how.rounded)
		table_row(t, (struct cell[]){ pattern, NUMBER(f->n), hta_us(f->gpu), hta_us(f->cpu) });
	else
		table_row(t, (struct cell[]){ NUMBER(f->n), NUMBER(f->gpu), NUMBER(f->cpu), pattern });
}

static int rank_sequences(const struct hta *h, const struct hta_rank *r, const char *op, struct table *t)
{
	struct hta_tree tree = { 0 };
	struct below b = { .r = r, .tree = &tree, .todo = malloc((r->n + 1) * sizeof *b.todo),
			   .kernels = malloc((r->n + 1) * sizeof *b.kernels) };
	struct kernel_sequence *list = malloc((r->n + 1) * sizeof *list);
	size_t n = 0;
	int rc = b.todo && b.kernels && list ? hta_tree(h, r, &tree) : -1;

	if (rc == 0)
		rc = find(h, &b, op, list, &n);
	if (rc == 0) {
		n = sum_up(list, n);
		for (size_t i = 0; i < n; i++)
			print(t, h, &list[i]);
	}
	while (n > 0)
		free(list[--n].pattern);
	free(list);
	free(b.todo);
	free(b.kernels);
	hta_tree_release(&tree);
	return rc;
}

static int sequences(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	struct hta *h = hta_get(m, choice, how);
	const char *word = choice->variant ? choice->variant : "aten::";
	int rc = h ? 0 : -1;
	char buf[256];

	if (rc == 0 && h->n_ranks)
		rc = rank_sequences(h, &h->ranks[0], hta_word_meant(h, word, buf, sizeof buf), t);
	if (rc == 0 && !t->n_rows)
		table_note(t, "no operator with '%s' in its name launches %u kernels or more on the first rank", word,
			   FEWEST_KERNELS);
	hta_done(h, t, choice);
	return rc;
}

static const struct heading columns[] = {
	{ "count", 0 }, { "gpu_ns", 0 }, { "host_ns", 0 }, { "pattern", COLUMN_TEXT },
};
static const struct heading hta_columns[] = {
	{ "pattern", COLUMN_TEXT }, { "count", 0 }, { "GPU kernel duration (us)", 0 }, { "CPU op duration (us)", 0 },
};

HTA_TWIN(hta_kernel_sequences, sequences, hta_columns, ANY_VARIANT, "Kernel Sequences of an Operator",
	 "kernel sequences that an operator launches (:aten::linear selects the operator)");

static int run_sequences(struct model *m, struct table *t, const struct report_choice *choice)
{
	return sequences(m, t, choice, HTA_HONEST);
}

const struct report report_kernel_sequences = {
	.name = "kernel_sequences",
	.title = "Kernel Sequences of an Operator",
	.help = "Which kernel sequences does an operator launch? (:aten::linear selects the operator)",
	.needs = NEED_OPS,
	.ranks = true,
	.variants = ANY_VARIANT,
	COLUMNS(columns),
	.run_chosen = run_sequences,
};
