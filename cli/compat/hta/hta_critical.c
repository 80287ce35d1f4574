/*
 * HTA's critical path of a part of a rank's trace: the longest path of the graph in hta_graph.h (hta/analyzers/critical_path_analysis.py).
 */
#include "cli/compat/hta/hta_derived.h"
#include "cli/compat/hta/hta_graph.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

/* ---- the part of the trace ---- */

/* The variant: a word in the names of annotations, and which of the annotations with it. */
struct critical_options {
	char word[256];                 /* "": the whole trace */
	size_t instance;
};

static struct critical_options wish_of(const char *words)
{
	struct critical_options w = { "ProfilerStep", 0 };
	const char *dot = words ? strrchr(words, '.') : NULL;

	if (!words)
		return w;
	if (dot && (isdigit((unsigned char)dot[1]) || strcmp(dot, ".None") == 0)) {
		w.instance = strtoull(dot + 1, NULL, 10);
		snprintf(w.word, sizeof w.word, "%.*s", (int)(dot - words), words);
	} else {
		snprintf(w.word, sizeof w.word, "%s", words);
	}
	if (strcmp(w.word, "all") == 0)
		w.word[0] = '\0';
	return w;
}

/* Whether the name, without punctuation, contains the alphanumeric parts of the word in this order. */
static bool has_parts(const char *name, const char *word)
{
	char plain[1024];
	size_t n = 0;
	const char *at = plain;

	for (; *name && n + 1 < sizeof plain; name++)
		if (isalnum((unsigned char)*name))
			plain[n++] = *name;
	plain[n] = '\0';
	while (*word) {
		char part[64];

		for (n = 0; isalnum((unsigned char)*word) && n + 1 < sizeof part;)
			part[n++] = *word++;
		part[n] = '\0';
		at = n ? strstr(at, part) : at;
		if (!at)
			return false;
		at += n;
		while (*word && !isalnum((unsigned char)*word))
			word++;
	}
	return true;
}

/* For a word that no name contains: the name with its parts (has_parts()), of several that of the row that starts last; else the word. */
static const char *name_meant(const struct hta *h, const struct hta_rank *r, const char *word)
{
	const struct hta_row *last = NULL;

	for (size_t i = 0; i < r->n; i++)
		if ((!last || hta_row(r, i)->ts > last->ts) && has_parts(h->names[hta_row(r, i)->name].text, word))
			last = hta_row(r, i);
	return last ? h->names[last->name].text : word;
}

/* The time from .. to of the annotation wished for.  Returns 1; 0: there is none; -1: out of memory. */
static int window_of(const struct hta *h, const struct hta_rank *r, const struct critical_options *w, int64_t *from, int64_t *to)
{
	char meant[sizeof w->word];
	const char *word = hta_word_meant(h, w->word, meant, sizeof meant);
	bool *with = hta_names_with(h, word);
	size_t seen = 0;

	*from = INT64_MAX;
	*to = INT64_MIN;
	if (with && !memchr(with, true, h->n_names)) {
		free(with);
		word = name_meant(h, r, word);
		with = hta_names_with(h, word);
	}
	for (size_t i = 0; i < r->n && with; i++) {
		const struct hta_row *row = hta_row(r, i);

		if (*word && (!with[row->name] || seen++ != w->instance))
			continue;
		*from = row->ts < *from ? row->ts : *from;
		*to = hta_end(row) > *to ? hta_end(row) : *to;
	}
	free(with);
	return with ? *from != INT64_MAX : -1;
}

/* Positions of the rows of the part, by index: host rows that start in it, their GPU rows, all Stream Wait Events.  NULL: out of memory. */
static uint32_t *clip(const struct hta *h, const struct hta_rank *r, int64_t from, int64_t to, size_t *n)
{
	bool *taken = calloc(r->n_at + 1, sizeof *taken);
	uint32_t *rows = malloc((r->n_at + 1) * sizeof *rows);

	*n = 0;
	for (size_t i = 0; taken && rows && i < r->n; i++) {
		const struct hta_row *row = hta_row(r, i), *gpu;

		if (hta_on_stream(row)) {
			taken[row->index] |= (h->names[row->name].flags & HTA_WAIT_ROW) != 0;
			continue;
		}
		if (row->ts < from || row->ts > to || row->dur <= 0)
			continue;
		taken[row->index] = true;
		gpu = hta_at(r, row->partner);
		if (gpu && hta_on_stream(gpu))
			taken[gpu->index] = true;
	}
	for (size_t i = 0; taken && rows && i < r->n_at; i++)
		if (taken[i])
			rows[(*n)++] = r->at[i];
	free(taken);
	if (taken)
		return rows;
	free(rows);
	return NULL;
}

/* ---- nodes ---- */

static bool is_node(const struct hta_row *row)
{
	return row->category == HTA_CPU_OP || row->category == HTA_DRIVER || row->category == HTA_RUNTIME ||
	       (hta_on_stream(row) && row->partner >= 0);
}

/* Makes the nodes by time.  rows is by index; the sort is stable, so that at equal times the start of a row is before its end. */
static int make_nodes(struct hta_graph *g, const uint32_t *rows, size_t n)
{
	struct timed *order = malloc((2 * n + 1) * sizeof *order);

	g->nodes = malloc((2 * n + 1) * sizeof *g->nodes);
	g->order = malloc((2 * n + 1) * sizeof *g->order);
	g->start_of = malloc((g->r->n + 1) * sizeof *g->start_of);
	g->end_of = malloc((g->r->n + 1) * sizeof *g->end_of);
	if (!order || !g->nodes || !g->order || !g->start_of || !g->end_of) {
		free(order);
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		const struct hta_row *row = hta_row(g->r, rows[i]);

		if (!is_node(row))
			continue;
		order[g->n_nodes++] = (struct timed){ .time = row->ts, .row = rows[i], .kind = true };
		order[g->n_nodes++] = (struct timed){ .time = hta_end(row), .row = rows[i] };
	}
	if (timed_sort(order, g->n_nodes) < 0) {
		free(order);
		return -1;
	}
	memset(g->start_of, 0xff, (g->r->n + 1) * sizeof *g->start_of);
	memset(g->end_of, 0xff, (g->r->n + 1) * sizeof *g->end_of);
	for (size_t i = 0; i < g->n_nodes; i++) {
		g->nodes[i] = (struct hta_node){ .ts = order[i].time, .row = order[i].row, .start = order[i].kind,
						 .first_out = NO_NODE, .first_in = NO_NODE };
		(order[i].kind ? g->start_of : g->end_of)[order[i].row] = (uint32_t)i;
	}
	free(order);
	return 0;
}

/* ---- what bounds it ---- */

enum bound { BOUND_NONE, BOUND_CPU, BOUND_COMPUTE, BOUND_COMMUNICATION, BOUND_KERNEL_DELAY, BOUND_LAUNCH_DELAY, BOUNDS };

static const char *const bound_words[BOUNDS] = {
	"", "cpu_bound", "gpu_compute_bound", "gpu_communication_bound", "gpu_kernel_kernel_overhead",
	"gpu_kernel_launch_overhead",
};

static enum bound bound_of(const struct hta_graph *g, const struct hta_dependency *e)
{
	switch (e->type) {
	case EDGE_KERNEL_DELAY:
		return BOUND_KERNEL_DELAY;
	case EDGE_LAUNCH_DELAY:
		return BOUND_LAUNCH_DELAY;
	case EDGE_OPERATOR:
		if (e->of == NO_NODE || hta_stream(g->r, hta_row(g->r, e->of)) < 0)
			return BOUND_CPU;
		return g->h->names[hta_row(g->r, e->of)->name].class == HTA_COMMUNICATION ? BOUND_COMMUNICATION : BOUND_COMPUTE;
	default:
		return BOUND_NONE;
	}
}

struct path_shares {
	int64_t time[BOUNDS];
	uint64_t edges[BOUNDS], all_types[EDGE_TYPES], types[EDGE_TYPES];
};

static void sum_up(const struct hta_graph *g, struct path_shares *s)
{
	for (size_t i = 0; i < g->n_edges; i++)
		s->all_types[g->edges[i].type]++;
	for (size_t i = 0; i < g->n_path; i++) {
		const struct hta_dependency *e = &g->edges[g->path[i]];
		enum bound b = bound_of(g, e);

		s->time[b] = time_add(s->time[b], e->weight);
		s->edges[b]++;
		s->types[e->type]++;
	}
}

static void put_counts(struct out *o, const char *key, const uint64_t counts[EDGE_TYPES])
{
	bool any = false;

	out_format(o, ",\n \"%s\": {", key);
	for (unsigned i = 0; i < EDGE_TYPES; i++) {
		if (!counts[i])
			continue;
		out_format(o, "%s\"%s\": %llu", any ? ", " : "", hta_edge_words[i], (unsigned long long)counts[i]);
		any = true;
	}
	out_char(o, '}');
}

/* Events with a node on the path, by index. */
static void put_events(struct out *o, const struct hta_graph *g)
{
	bool *on = calloc(g->r->n_at + 1, sizeof *on), any = false;

	for (size_t i = 0; on && i < g->n_path; i++) {
		on[hta_row(g->r, g->nodes[g->edges[g->path[i]].from].row)->index] = true;
		on[hta_row(g->r, g->nodes[g->edges[g->path[i]].to].row)->index] = true;
	}
	for (size_t i = 0; on && i < g->r->n_at; i++)
		if (on[i]) {
			out_format(o, "%s%zu", any ? ", " : "", i);
			any = true;
		}
	free(on);
}

static char *path_json(const struct hta_graph *g, const struct path_shares *s)
{
	struct hta_json j;
	bool any = false;

	if (hta_json_begin(&j) < 0)
		return NULL;
	out_format(&j.out, "{\n \"success\": %s,\n \"nodes\": %zu,\n \"edges\": %zu,\n \"critical_nodes\": %zu,\n \"critical_events\": [",
		   g->n_path ? "true" : "false", g->n_order, g->n_edges, g->n_path ? g->n_path + 1 : 0);
	put_events(&j.out, g);
	out_format(&j.out, "],\n \"length_us\": %.3f,\n \"summary_pct\": {", (double)g->length / 1000.0);
	for (unsigned b = 0; b < BOUNDS && g->length > 0; b++) {
		if (!s->edges[b])
			continue;
		out_format(&j.out, "%s\"%s\": %.9f", any ? ", " : "", bound_words[b],
			   100.0 * (double)s->time[b] / (double)g->length);
		any = true;
	}
	out_char(&j.out, '}');
	put_counts(&j.out, "edges_by_type", s->all_types);
	put_counts(&j.out, "critical_edges_by_type", s->types);
	out_lit(&j.out, "\n}");
	return hta_json_end(&j);
}

static void note_bounds(struct table *t, const struct hta_graph *g)
{
	if (g->context_waits)
		table_note(t, "rank %lld: waits for a whole context that count as waits for its last stream only: %zu (too many streams)",
			   (long long)g->r->rank, g->context_waits);
	if (g->r->derived->queue_refused)
		hta_note_pairs(t, g->r, "the path has no launch delays");
}

static void print(struct table *t, const struct hta_graph *g)
{
	struct path_shares s = { { 0 }, { 0 }, { 0 }, { 0 } };
	bool shown[BOUNDS] = { false };

	sum_up(g, &s);
	note_bounds(t, g);
	if (t->tables->format == TABLE_JSON) {
		table_value(t, path_json(g, &s));
		return;
	}
	for (;;) {
		unsigned most = BOUNDS;

		for (unsigned b = 0; b < BOUNDS; b++)
			if (s.edges[b] && !shown[b] && (most == BOUNDS || s.time[b] > s.time[most]))
				most = b;
		if (most == BOUNDS)
			break;
		shown[most] = true;
		table_row(t, (struct cell[]){ TEXT(most ? bound_words[most] : "dependency"), hta_us(s.time[most]),
					      hta_real(g->length ? 100.0 * (double)s.time[most] / (double)g->length : NAN, 2),
					      NUMBER(s.edges[most]) });
	}
	table_note(t, "percentages are shares of the longest chain, not of the step: the chain may leave out time before the first "
		   "GPU row and while the GPU waits for the host; critical_path covers the whole step");
	table_note(t, "rank %lld: %zu of %zu nodes are on the path", (long long)g->r->rank, g->n_path ? g->n_path + 1 : 0,
		   g->n_order);
}

/* ---- the report ---- */

static int path_of(struct hta *h, const struct critical_options *w, struct table *t)
{
	struct hta_graph g = { .h = h, .r = &h->ranks[0] };
	uint32_t *rows;
	int64_t from, to;
	size_t n;
	int rc;

	rc = window_of(h, g.r, w, &from, &to);
	if (rc < 0)
		return -1;
	if (!rc) {
		table_note(t, "no annotation number %zu with '%s' in its name: hta_critical_path needs one", w->instance, w->word);
		return 0;
	}
	rows = clip(h, g.r, from, to, &n);
	rc = rows ? make_nodes(&g, rows, n) : -1;
	if (rc == 0 && (hta_lock_edges(&g) < 0 || hta_stack_edges(&g, rows, n) < 0 || hta_gpu_edges(&g, rows, n) < 0 ||
			hta_longest_path(&g) < 0))
		rc = -1;
	if (rc == 0)
		print(t, &g);
	free(rows);
	hta_graph_release(&g);
	return rc;
}

/* There is no report of this rule without hta_: its path may leave out most of a step.  critical_path.c has another rule. */
static int run(struct model *m, struct table *t, const struct report_choice *choice)
{
	struct critical_options w = wish_of(choice->variant);
	struct hta_how how = HTA_ROUNDED;
	struct hta *h;
	int rc;

	how.last_step = true;
	h = hta_get(m, choice, how);
	rc = !h ? -1 : h->n_ranks ? path_of(h, &w, t) : 0;
	hta_done(h, t, choice);
	return rc;
}

static const struct heading columns[] = {
	{ "bound_by", COLUMN_TEXT }, { "time (us)", 0 }, { "percentage", 0 }, { "edges", 0 },
};

const struct report report_hta_critical_path = {
	.name = "hta_critical_path",
	.title = "Critical Path, as HTA Counts (longest chain of waits, which may leave out most of the step)",
	.help = "as HTA counts (longest chain of waits): critical path of a step on the first rank (:ProfilerStep.1 selects the second "
		"step)",
	.ranks = true,
	.compat = true,
	.variants = ANY_VARIANT,
	COLUMNS(columns),
	.run_chosen = run,
};
