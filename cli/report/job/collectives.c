#include "cli/report/job/collectives.h"

#include "cli/model/sort.h"
#include "cli/report/job/late.h"

#include <stdlib.h>
#include <string.h>

/* A collective of one rank, before matching. */
struct collective_entry {
	const struct collective *c;
	size_t rank;
	int64_t sequence;               /* NO_SEQUENCE for all entries if one of them has none */
	uint64_t again;                 /* number of earlier entries of its rank with the same group, operation and sequence number */
};

struct matching {
	const struct collectives *of;
	struct collective_entry *list;
	size_t n;
	struct matched *out;
};

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Equal entries are the same collective if their `again` is equal, too. */
static int by_identity(const struct collective_entry *x, const struct collective_entry *y)
{
	int order = ORDER(x->c->group, y->c->group);

	order = order ? order : strcmp(x->c->op->word, y->c->op->word);
	return order ? order : ORDER(x->sequence, y->sequence);
}

static int by_rank(const void *a, const void *b)
{
	const struct collective_entry *x = a, *y = b;
	int order = ORDER(x->rank, y->rank);

	order = order ? order : by_identity(x, y);
	return order ? order : ORDER(x->c, y->c);      /* by position in the rank's list, which is by start */
}

static int by_collective(const void *a, const void *b)
{
	const struct collective_entry *x = a, *y = b;
	int order = by_identity(x, y);

	order = order ? order : ORDER(x->again, y->again);
	return order ? order : ORDER(x->rank, y->rank);
}

static int gather(struct matching *k, enum collective_kind kind)
{
	size_t room = 1;

	for (size_t r = 0; r < k->out->ranks; r++)
		room += k->of[r].n;
	k->list = malloc(room * sizeof *k->list);
	k->out->by_sequence = true;
	for (size_t r = 0; k->list && r < k->out->ranks; r++)
		for (size_t i = 0; i < k->of[r].n; i++) {
			const struct collective *c = &k->of[r].list[i];

			if (c->op->kind != kind)
				continue;
			k->out->by_sequence &= c->sequence != NO_SEQUENCE;
			k->list[k->n++] = (struct collective_entry){ .c = c, .rank = r, .sequence = c->sequence };
		}
	for (size_t i = 0; i < k->n && !k->out->by_sequence; i++)
		k->list[i].sequence = NO_SEQUENCE;
	return k->list ? 0 : -1;
}

static void number(struct matching *k)
{
	qsort(k->list, k->n, sizeof *k->list, by_rank);
	for (size_t i = 1; i < k->n; i++)
		if (k->list[i].rank == k->list[i - 1].rank && by_identity(&k->list[i], &k->list[i - 1]) == 0)
			k->list[i].again = k->list[i - 1].again + 1;
	qsort(k->list, k->n, sizeof *k->list, by_collective);
}

/* ---- without sequence numbers ---- */

static void refuse(struct matched *out, const struct collective_entry *e, size_t rank, size_t count, size_t other, size_t other_count)
{
	out->answer = MATCH_COUNTS;
	out->op = e->c->op;
	out->rank[0] = rank;
	out->count[0] = count;
	out->rank[1] = other;
	out->count[1] = other_count;
}

/* Whether all ranks have equally many of these entries of one group and operation; with a known group, all ranks that have any. */
static bool counts_agree(struct matching *k, size_t from, size_t to, size_t *counts)
{
	const struct collective_entry *e = &k->list[from];
	size_t first = e->rank;

	memset(counts, 0, k->out->ranks * sizeof *counts);
	for (size_t i = from; i < to; i++)
		counts[k->list[i].rank]++;
	for (size_t r = 0; r < k->out->ranks; r++)
		if (counts[r] != counts[first] && (counts[r] || !e->c->group)) {
			refuse(k->out, e, first, counts[first], r, counts[r]);
			return false;
		}
	return true;
}

/* Whether the entries can be one collective: no rank starts more than MATCH_TOLERANCE after another has ended. */
static bool times_agree(struct matching *k, size_t from, size_t to)
{
	const struct collective_entry *last = &k->list[from], *done = last;

	for (size_t i = from + 1; i < to; i++) {
		const struct collective_entry *e = &k->list[i];

		last = e->c->start > last->c->start ? e : last;
		done = time_add(e->c->start, e->c->duration) < time_add(done->c->start, done->c->duration) ? e : done;
	}
	k->out->apart = time_sub(last->c->start, time_add(done->c->start, done->c->duration));
	if (k->out->apart <= MATCH_TOLERANCE)
		return true;
	refuse(k->out, last, done->rank, 0, last->rank, 0);
	k->out->answer = MATCH_APART;
	return false;
}

/* ---- the table ---- */

static size_t end_of(const struct matching *k, size_t from)
{
	size_t to = from + 1;

	while (to < k->n && by_identity(&k->list[to], &k->list[from]) == 0 && k->list[to].again == k->list[from].again)
		to++;
	return to;
}

static void put_collective(struct matching *k, size_t from, size_t to)
{
	struct matched *out = k->out;
	int64_t *durations = &out->durations[out->n * out->ranks];

	for (size_t r = 0; r < out->ranks; r++)
		durations[r] = LATE_ABSENT;
	for (size_t i = from; i < to; i++)
		durations[k->list[i].rank] = k->list[i].c->duration;
	out->steps[out->n++] = k->list[from].c->step;
}

static int fill(struct matching *k)
{
	struct matched *out = k->out;

	out->durations = malloc((k->n / 2 * out->ranks + 1) * sizeof *out->durations);
	out->steps = malloc((k->n / 2 + 1) * sizeof *out->steps);
	if (!out->durations || !out->steps)
		return -1;
	for (size_t from = 0, to; from < k->n; from = to) {
		to = end_of(k, from);
		if (to - from < 2)
			out->unmatched++;
		else if (!out->by_sequence && !times_agree(k, from, to))
			return 0;
		else
			put_collective(k, from, to);
	}
	return 0;
}

static int check_counts(struct matching *k)
{
	size_t *counts = malloc((k->out->ranks + 1) * sizeof *counts);

	for (size_t from = 0, to; counts && from < k->n && k->out->answer == MATCHED; from = to) {
		for (to = from + 1; to < k->n && by_identity(&k->list[to], &k->list[from]) == 0; to++)
			;
		counts_agree(k, from, to, counts);
	}
	free(counts);
	return counts ? 0 : -1;
}

int collectives_match(const struct collectives *of, size_t ranks, enum collective_kind kind, struct matched *out)
{
	struct matching k = { .of = of, .out = out };
	int rc;

	*out = (struct matched){ .answer = MATCHED, .ranks = ranks };
	rc = gather(&k, kind);
	if (rc == 0 && !k.n)
		out->answer = MATCH_NONE;
	if (rc == 0)
		number(&k);
	if (rc == 0 && !out->by_sequence)
		rc = check_counts(&k);
	if (rc == 0 && out->answer == MATCHED)
		rc = fill(&k);
	if (out->answer != MATCHED)
		out->n = 0;
	free(k.list);
	return rc;
}

void matched_release(struct matched *m)
{
	free(m->durations);
	free(m->steps);
	*m = (struct matched){ 0 };
}
