/* Kernels that each ATen operator launches, and their delay (hta/analyzers/cuda_kernel_analysis.py, get_aten_op_kernels_and_delay). */
#include "cli/compat/hta/hta.h"
#include "cli/report/parts/mean.h"

#include <stdlib.h>

/* A launch in an operator. */
struct aten_launch {
	int64_t tid, op_ts;
	int64_t call_ts;                /* 0 for HTA, which takes launches in file order */
	uint32_t op, kernel, order;     /* op, kernel: names */
	int64_t op_delay, kernel_delay;
};

struct aten {
	const struct hta *h;
	const struct hta_rank *r;
	bool threads;                   /* a call belongs to an operator of its thread; false (HTA): of any thread */
	struct timed *ops;              /* .row: position; by thread (if threads), start, longest first; HTA: by start, file order */
	size_t n_ops, leaves;
	int64_t *latest;                /* segment tree over ops, as an array: the latest end below each node */
	uint32_t *kernel_of;            /* by index of a call: position of the first GPU row that it launched; UINT32_MAX: none */
	struct aten_launch *list;
	size_t n;
};

static int make_tree(struct aten *a)
{
	for (a->leaves = 1; a->leaves < a->n_ops;)
		a->leaves *= 2;
	a->latest = malloc(2 * a->leaves * sizeof *a->latest);
	if (!a->latest)
		return -1;
	for (size_t i = 0; i < a->leaves; i++)
		a->latest[a->leaves + i] = i < a->n_ops ? hta_end(hta_row(a->r, a->ops[i].row)) : INT64_MIN;
	for (size_t i = a->leaves - 1; i > 0; i--)
		a->latest[i] = a->latest[2 * i] > a->latest[2 * i + 1] ? a->latest[2 * i] : a->latest[2 * i + 1];
	return 0;
}

/* The last operator before place n that ends at `end` or later; SIZE_MAX: none. */
static size_t last_around(const struct aten *a, size_t n, int64_t end)
{
	size_t node = a->leaves + n;

	if (n == a->leaves) {
		node = 1;
		if (a->latest[1] < end)
			return SIZE_MAX;
	} else {
		while (node > 1 && (!(node & 1) || a->latest[node - 1] < end))
			node /= 2;      /* up, until a left sibling has an end that is late enough */
		if (node <= 1)
			return SIZE_MAX;
		node--;
	}
	while (node < a->leaves)
		node = 2 * node + (a->latest[2 * node + 1] >= end);
	return node - a->leaves;
}

/* Sort key of the thread of a row: its place; 0 for HTA. */
static uint32_t thread_of(const struct aten *a, const struct hta_row *row)
{
	return a->threads ? row->place : 0;
}

/* Whether an operator is sorted before the operators of the thread that start after `when`. */
static bool before(const struct aten *a, const struct timed *op, uint32_t thread, int64_t when)
{
	uint32_t own = thread_of(a, hta_row(a->r, op->row));

	return own != thread ? own < thread : op->time <= when;
}

/* The operator around a call that starts last; of several with that start the innermost, for HTA the first in the file.  NULL: none. */
static const struct hta_row *op_around(const struct aten *a, const struct hta_row *call)
{
	uint32_t thread = thread_of(a, call);
	size_t low = 0, high = a->n_ops, at;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (before(a, &a->ops[middle], thread, call->ts))
			low = middle + 1;
		else
			high = middle;
	}
	at = last_around(a, low, hta_end(call));
	if (at == SIZE_MAX || thread_of(a, hta_row(a->r, a->ops[at].row)) != thread)
		return NULL;
	for (size_t i = at; !a->threads && i-- > 0 && a->ops[i].time == a->ops[at].time;)
		if (a->latest[a->leaves + i] >= hta_end(call))
			at = i;
	return hta_row(a->r, a->ops[at].row);
}

static int by_place(const void *x, const void *y, void *arg)
{
	const struct aten *a = arg;
	const struct timed *p = x, *q = y;
	uint32_t one = thread_of(a, hta_row(a->r, p->row)), other = thread_of(a, hta_row(a->r, q->row));

	if (one != other)
		return one < other ? -1 : 1;
	if (p->time != q->time)
		return p->time < q->time ? -1 : 1;
	if (hta_row(a->r, p->row)->dur != hta_row(a->r, q->row)->dur)   /* outer operators first */
		return hta_row(a->r, p->row)->dur > hta_row(a->r, q->row)->dur ? -1 : 1;
	return (p->row > q->row) - (p->row < q->row);
}

static bool sort_ops(struct aten *a)
{
	if (!a->threads)
		return timed_sort(a->ops, a->n_ops) == 0;
	if (a->n_ops)
		qsort_r(a->ops, a->n_ops, sizeof *a->ops, by_place, a);
	return true;
}

/* Whether a row counts as launched: kernels; for HTA copies and memory sets, too. */
static bool launched(const struct aten *a, const struct hta_row *row)
{
	return hta_on_stream(row) && row->partner >= 0 && (a->h->how.rounded || row->category == HTA_KERNEL);
}

static int find_ops(struct aten *a)
{
	const struct hta_rank *r = a->r;

	a->ops = malloc((r->n + 1) * sizeof *a->ops);
	a->kernel_of = malloc((r->n_at + 1) * sizeof *a->kernel_of);
	a->list = malloc((r->n + 1) * sizeof *a->list);
	if (!a->ops || !a->kernel_of || !a->list)
		return -1;
	memset(a->kernel_of, 0xff, (r->n_at + 1) * sizeof *a->kernel_of);
	for (size_t i = 0; i < r->n; i++) {
		const struct hta_row *row = hta_row(r, i);

		if (a->h->names[row->name].flags & HTA_ATEN)
			a->ops[a->n_ops++] = (struct timed){ .time = row->ts, .row = (uint32_t)i };
		if (launched(a, row) && (size_t)row->partner < r->n_at && a->kernel_of[row->partner] == UINT32_MAX)
			a->kernel_of[row->partner] = (uint32_t)i;
	}
	return sort_ops(a) ? make_tree(a) : -1;
}

/* Whether a row is a launching call: by its name for HTA; else any host row but operators and annotations, which can have a corr, too. */
static bool launches(const struct aten *a, const struct hta_row *call)
{
	if (a->h->how.rounded)
		return a->h->names[call->name].flags & HTA_STARTS_KERNEL;
	return !hta_on_stream(call) && !call->gpu && call->category != HTA_CPU_OP && call->category != HTA_ANNOTATION;
}

static void find_launches(struct aten *a)
{
	for (size_t i = 0; i < a->r->n; i++) {
		const struct hta_row *call = hta_row(a->r, i), *op, *kernel;

		if (!launches(a, call) || a->kernel_of[call->index] == UINT32_MAX)
			continue;
		op = op_around(a, call);
		if (!op)
			continue;
		kernel = hta_row(a->r, a->kernel_of[call->index]);
		a->list[a->n] = (struct aten_launch){
			.tid = hta_place(a->r, op)->tid, .op_ts = op->ts, .op = op->name, .kernel = kernel->name, .order = (uint32_t)a->n,
			.call_ts = a->threads ? call->ts : 0,
			.op_delay = time_sub(call->ts, op->ts), .kernel_delay = time_sub(kernel->ts, call->ts),
		};
		a->n++;
	}
}

static int by_op(const void *a, const void *b)
{
	const struct aten_launch *x = a, *y = b;

	if (x->op != y->op)
		return x->op < y->op ? -1 : 1;
	if (x->op_ts != y->op_ts)
		return x->op_ts < y->op_ts ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->call_ts != y->call_ts)
		return x->call_ts < y->call_ts ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* One run of an operator: the names of its kernels, and the delays of its first launch. */
struct op_run {
	const char *op;
	char *sequence;
	int64_t op_delay, kernel_delay;
};

static int by_sequence(const void *a, const void *b)
{
	const struct op_run *x = a, *y = b;
	int order = strcmp(x->op, y->op);

	return order ? order : strcmp(x->sequence, y->sequence);
}

static char *sequence_of(const struct hta *h, const struct aten_launch *list, size_t n)
{
	size_t length = 1;
	char *text, *to;

	for (size_t i = 0; i < n; i++)
		length += strlen(h->names[list[i].kernel].text) + 4;
	text = to = malloc(length);
	if (!text)
		return NULL;
	*to = '\0';
	for (size_t i = 0; i < n; i++)
		to = stpcpy(i ? stpcpy(to, " -> ") : to, h->names[list[i].kernel].text);
	return text;
}

/* Prints means in microseconds for HTA, else in ns, rounded half up. */
static void print_sum(struct table *t, const struct aten *a, const struct op_run *run, size_t n, int64_t op, int64_t kernel)
{
	struct cell sequence = TEXT(table_keep(t, "%s", run->sequence));

	if (a->h->how.rounded)
		table_row(t, (struct cell[]){ TEXT(run->op), sequence, NUMBER(n), hta_real((double)op / 1000.0 / (double)n, 3),
					      hta_real((double)kernel / 1000.0 / (double)n, 3), NUMBER(a->r->rank) });
	else
		table_row(t, (struct cell[]){ NUMBER(a->r->rank), TEXT(run->op), NUMBER(n), mean_cell(op, n, 0),
					      mean_cell(kernel, n, 0), sequence });
}

static void print_runs(struct table *t, const struct aten *a, struct op_run *runs, size_t n)
{
	qsort(runs, n, sizeof *runs, by_sequence);
	for (size_t i = 0, end; i < n; i = end) {
		int64_t op = 0, kernel = 0;

		for (end = i; end < n && by_sequence(&runs[i], &runs[end]) == 0; end++) {
			op = time_add(op, runs[end].op_delay);
			kernel = time_add(kernel, runs[end].kernel_delay);
		}
		print_sum(t, a, &runs[i], end - i, op, kernel);
	}
}

static int print(struct table *t, struct aten *a)
{
	struct op_run *runs = malloc((a->n + 1) * sizeof *runs);
	size_t n = 0;
	int rc = runs ? 0 : -1;

	qsort(a->list, a->n, sizeof *a->list, by_op);
	for (size_t i = 0, end; i < a->n && rc == 0; i = end) {
		const struct aten_launch *one = &a->list[i];

		for (end = i; end < a->n && a->list[end].op == one->op && a->list[end].op_ts == one->op_ts &&
			      a->list[end].tid == one->tid;)
			end++;
		runs[n] = (struct op_run){ a->h->names[one->op].text, sequence_of(a->h, one, end - i), one->op_delay,
					one->kernel_delay };
		rc = runs[n].sequence ? 0 : -1;
		n += rc == 0;
	}
	if (rc == 0)
		print_runs(t, a, runs, n);
	while (n > 0)
		free(runs[--n].sequence);
	free(runs);
	return rc;
}

static int aten(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	struct hta *h = hta_get(m, choice, how);
	int rc = h ? 0 : -1;

	for (size_t k = 0; rc == 0 && k < h->n_ranks; k++) {
		struct aten a = { .h = h, .r = &h->ranks[k], .threads = !how.rounded };

		if (!hta_rank_wanted(choice, a.r->rank))
			continue;
		rc = find_ops(&a);
		if (rc == 0) {
			find_launches(&a);
			rc = print(t, &a);
		}
		free(a.ops);
		free(a.latest);
		free(a.kernel_of);
		free(a.list);
	}
	if (rc == 0 && !t->n_rows)
		table_note(t, "no ATen operator launched a kernel");
	hta_done(h, t, choice);
	return rc;
}

static const struct heading columns[] = {
	{ "rank", COLUMN_ID }, { "operator", COLUMN_TEXT }, { "count", 0 }, { "call_delay_ns", 0 }, { "gpu_delay_ns", 0 },
	{ "kernels", COLUMN_TEXT },
};
static const struct heading hta_columns[] = {
	{ "aten_op_name", COLUMN_TEXT }, { "kernel_sequence", COLUMN_TEXT }, { "occurrence_count", 0 },
	{ "avg_aten_op_launch_delay", 0 }, { "avg_runtime_delay", 0 }, { "rank", COLUMN_ID },
};

/* "rank3" */
static bool is_rank(const char *word)
{
	return strncmp(word, "rank", 4) == 0 && word[4] && !word[4 + strspn(word + 4, "0123456789")];
}

HTA_TWIN_OF(0, is_rank, HTA_CUT_US, hta_aten_op_kernels_and_delay, aten, hta_columns, ANY_VARIANT "rankN",
	    "Kernels of ATen Operators", "kernels of each ATen operator, and their launch delays (:rankN selects a rank)");

static int run_aten(struct model *m, struct table *t, const struct report_choice *choice)
{
	return aten(m, t, choice, HTA_HONEST);
}

const struct report report_aten_kernels = {
	.name = "aten_kernels",
	.title = "Kernels of ATen Operators",
	.help = "Which kernels does each ATen operator launch, and with what delay? (:rankN selects a rank)",
	.needs = NEED_OPS,
	.ranks = true,
	.variants = ANY_VARIANT "rankN",
	.takes = is_rank,
	COLUMNS(columns),
	.run_chosen = run_aten,
};
