/* GPU time by kind: computation, communication, memory, idle (hta/analyzers/breakdown_analysis.py, communication_analysis.py). */
#include "cli/compat/hta/hta_derived.h"

#include <math.h>
#include <stdlib.h>

static int64_t length(const struct hta_intervals *l)
{
	int64_t sum = 0;

	for (size_t i = 0; i < l->n; i++)
		sum = time_add(sum, time_sub(l->list[i].end, l->list[i].time));
	return sum;
}

static int64_t common(const struct hta_intervals *a, const struct hta_intervals *b)
{
	int64_t sum = 0;

	for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
		const struct timed *x = &a->list[i], *y = &b->list[j];
		int64_t start = x->time > y->time ? x->time : y->time, end = x->end < y->end ? x->end : y->end;

		if (end > start)
			sum = time_add(sum, end - start);
		if (x->end < y->end)
			i++;
		else
			j++;
	}
	return sum;
}

static struct cell percent(int64_t part, int64_t whole)
{
	return hta_real(whole ? 100.0 * (double)part / (double)whole : NAN, 2);
}

/* ---- temporal breakdown ---- */

static const struct heading temporal_columns[] = {
	{ "rank", COLUMN_ID }, { "idle_time(us)", 0 }, { "compute_time(us)", 0 }, { "non_compute_time(us)", 0 },
	{ "kernel_time(us)", 0 }, { "idle_time_pctg", 0 }, { "compute_time_pctg", 0 }, { "non_compute_time_pctg", 0 },
};

/* Sums over all ranks, ns. */
struct totals {
	int64_t kernel, idle, computing;
};

/* kernel: from the first start to the end of the last merged interval; rest = kernel - computing - idle. */
static int temporal_rank(const struct hta *h, const struct hta_rank *r, struct table *t, struct totals *all_ranks)
{
	const struct hta_intervals *all = hta_busy(h, r, HTA_CLASSES), *compute = hta_busy(h, r, HTA_COMPUTATION);
	int64_t kernel, idle, computing, rest;

	if (!all || !compute)
		return -1;
	if (all->n) {
		kernel = time_sub(all->list[all->n - 1].end, all->list[0].time);
		idle = time_sub(kernel, length(all));
		computing = length(compute);
		rest = time_sub(time_sub(kernel, computing), idle);
		all_ranks->kernel = time_add(all_ranks->kernel, kernel);
		all_ranks->idle = time_add(all_ranks->idle, idle);
		all_ranks->computing = time_add(all_ranks->computing, computing);
		table_row(t, (struct cell[]){ NUMBER(r->rank), hta_us(idle), hta_us(computing), hta_us(rest), hta_us(kernel),
					      percent(idle, kernel), percent(computing, kernel), percent(rest, kernel) });
	} else {
		table_row(t, (struct cell[]){ NUMBER(r->rank), UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN });
		table_note(t, "rank %lld has no GPU rows", (long long)r->rank);
	}
	return 0;
}

static int temporal(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	struct hta *h = hta_get(m, choice, how);
	struct totals all = { 0 };
	int rc = h ? 0 : -1;

	for (size_t k = 0; rc == 0 && k < h->n_ranks; k++)
		rc = temporal_rank(h, &h->ranks[k], t, &all);
	if (rc == 0 && h->n_ranks > 1 && all.kernel > 0)
		table_note(t, "all %zu ranks: %.2f %% idle, %.2f %% computing, %.2f %% other work", h->n_ranks,
			   100.0 * (double)all.idle / (double)all.kernel, 100.0 * (double)all.computing / (double)all.kernel,
			   100.0 * (double)time_sub(time_sub(all.kernel, all.computing), all.idle) / (double)all.kernel);
	hta_done(h, t, choice);
	return rc;
}

HTA_TWIN(hta_temporal_breakdown, temporal, temporal_columns, NULL, "GPU Time by Rank: Idle, Computing, Other",
	 "GPU time of each rank: idle, computing, other work");

/* ---- overlap ---- */

static const struct heading overlap_columns[] = { { "rank", COLUMN_ID }, { "comp_comm_overlap_pctg", 0 } };

static int overlap(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	struct hta *h = hta_get(m, choice, how);
	int64_t beside = 0, all = 0;
	int rc = h ? 0 : -1;

	for (size_t k = 0; rc == 0 && k < h->n_ranks; k++) {
		const struct hta_intervals *compute = hta_busy(h, &h->ranks[k], HTA_COMPUTATION),
					   *talk = hta_busy(h, &h->ranks[k], HTA_COMMUNICATION);
		int64_t both, talking;

		if (!compute || !talk) {
			rc = -1;
			break;
		}
		both = common(compute, talk);
		talking = length(talk);
		table_row(t, (struct cell[]){ NUMBER(h->ranks[k].rank), percent(both, talking) });
		beside = time_add(beside, both);
		all = time_add(all, talking);
	}
	if (rc == 0 && h->n_ranks > 1 && all > 0)
		table_note(t, "all %zu ranks: %.2f %%", h->n_ranks, 100.0 * (double)beside / (double)all);
	if (rc == 0 && !all)
		table_note(t, "no communication kernels ran");
	hta_done(h, t, choice);
	return rc;
}

HTA_TWIN(hta_comm_comp_overlap, overlap, overlap_columns, NULL, "Communication/Compute Overlap by Rank",
	 "share of the communication time that overlaps with computation");

/* ---- kernel types ---- */

#define MASKS 8u                /* bits: 1 computation, 2 communication, 4 memory */

static const enum hta_class bit_classes[3] = { HTA_COMPUTATION, HTA_COMMUNICATION, HTA_MEMORY };

struct mask_time {
	int64_t whole, exact;           /* us, ns */
	bool seen, shown;
};

/*
 * Sweeps the starts and ends of the merged intervals of each class; each piece of time is added to the set of classes that run in it.  As
 * in HTA, every piece is cut to whole microseconds, and counts if the sum of the running bits is positive, which after rounding it may not
 * be.
 */
static int sweep(const struct hta *h, const struct hta_rank *r, unsigned bits, struct mask_time times[MASKS])
{
	const struct hta_intervals *busy = hta_busy(h, r, HTA_CLASSES);
	struct timed *points;
	size_t n = 0, room = 1;
	int running = 0;

	for (unsigned b = 0; busy && b < bits; b++)
		room += 2 * hta_busy(h, r, bit_classes[b])->n;
	points = busy ? malloc(room * sizeof *points) : NULL;
	if (!points)
		return -1;
	for (unsigned b = 0; b < bits; b++) {
		busy = hta_busy(h, r, bit_classes[b]);
		for (size_t i = 0; i < busy->n; i++) {
			points[n++] = (struct timed){ .time = busy->list[i].time, .end = 1 << b };
			points[n++] = (struct timed){ .time = busy->list[i].end, .end = -(1 << b) };
		}
	}
	if (timed_sort(points, n) < 0) {
		free(points);
		return -1;
	}
	for (size_t i = 0; i + 1 < n; i++) {
		int64_t piece = time_sub(points[i + 1].time, points[i].time);

		running += (int)points[i].end;
		if (running > 0) {
			times[running % (int)MASKS].seen = true;
			times[running % (int)MASKS].whole += piece / 1000;
			times[running % (int)MASKS].exact = time_add(times[running % (int)MASKS].exact, piece);
		}
	}
	free(points);
	return 0;
}

static const char *mask_words(struct table *t, unsigned mask)
{
	char text[64] = "";

	for (unsigned b = 0; b < 3; b++)
		if (mask & 1u << b) {
			if (*text)
				strcat(text, " overlapping ");
			strcat(text, hta_class_words[bit_classes[b]]);
		}
	return table_keep(t, "%s", text);
}

static const struct heading type_columns[] = {
	{ "kernel_type", COLUMN_TEXT }, { "sum", 0 }, { "percentage", 0 }, { "time (us)", 0 },
};

static int types(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how, unsigned bits)
{
	struct hta *h = hta_get(m, choice, how);
	struct mask_time times[MASKS] = { { 0 } };
	int64_t sum = 0;
	int rc = h ? 0 : -1;

	for (size_t k = 0; rc == 0 && k < h->n_ranks; k++)
		rc = sweep(h, &h->ranks[k], bits, times);
	hta_done(h, t, choice);
	for (unsigned mask = 1; mask < MASKS; mask++)
		sum += times[mask].whole;
	for (;;) {
		unsigned most = 0;

		for (unsigned mask = 1; mask < MASKS; mask++)
			if (times[mask].seen && !times[mask].shown && (!most || times[mask].exact > times[most].exact))
				most = mask;
		if (!most || rc < 0)
			return rc;
		times[most].shown = true;
		table_row(t, (struct cell[]){ TEXT(mask_words(t, most)), NUMBER(times[most].whole),
					      hta_real(sum ? 100.0 * (double)times[most].whole / (double)sum : NAN, 1),
					      hta_us(times[most].exact) });
	}
}

static int all_types(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	return types(m, t, choice, how, 3);
}

static int types_no_memory(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	return types(m, t, choice, how, 2);
}

HTA_TWIN(hta_kernel_type_breakdown, all_types, type_columns, NULL, "GPU Time by Kind of Kernel, All Ranks",
	 "GPU time by kind of kernel, alone and overlapping");
HTA_TWIN(hta_kernel_type_breakdown_no_memory, types_no_memory, type_columns, NULL,
	 "GPU Time by Kind of Kernel, Without Copies, All Ranks", "GPU time by kind of kernel, without copies and memory sets");
