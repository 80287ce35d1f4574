/*
 * Python's list.sort (3.11: powersort with galloping merges).  HTA's comparison of starts and ends is not transitive (hta_tree.c), so its
 * result depends on the steps of the algorithm; this file makes the same steps.  The algorithm: Objects/listsort.txt of CPython.
 */
#include "cli/compat/hta/hta_tree.h"

#include <stdlib.h>

#define MIN_GALLOP 7u
#define MOST_RUNS  85u

typedef bool less_fn(const struct hta_edge *x, const struct hta_edge *y);

struct run {
	size_t at, n;
	unsigned power;                 /* of the border to the next run */
};

struct sorter {
	struct hta_edge *list, *aside;
	size_t n, min_gallop;
	less_fn *less;
	struct run runs[MOST_RUNS];
	size_t n_runs;
};

/* Length of the ascending run at `at`; a descending run is reversed in place. */
static size_t count_run(const struct sorter *s, size_t at)
{
	struct hta_edge *p = &s->list[at];
	size_t most = s->n - at, n = 2;
	bool down;

	if (most < 2)
		return most;
	down = s->less(&p[1], &p[0]);
	while (n < most && s->less(&p[n], &p[n - 1]) == down)
		n++;
	for (size_t i = 0, k = n - 1; down && i < k; i++, k--) {
		struct hta_edge kept = p[i];

		p[i] = p[k];
		p[k] = kept;
	}
	return n;
}

/* Binary insertion sort of p[0..n), of which the first `sorted` are in order. */
static void insert_rest(const struct sorter *s, struct hta_edge *p, size_t n, size_t sorted)
{
	for (size_t i = sorted; i < n; i++) {
		struct hta_edge pivot = p[i];
		size_t low = 0, high = i;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (s->less(&pivot, &p[middle]))
				high = middle;
			else
				low = middle + 1;
		}
		memmove(&p[low + 1], &p[low], (i - low) * sizeof *p);
		p[low] = pivot;
	}
}

/*
 * The place of key in p[0..n): exponential search from hint, then binary search.  right: after elements equal to key (bisect_right), else
 * before them.
 */
static size_t gallop(const struct sorter *s, const struct hta_edge *key, const struct hta_edge *p, size_t n, size_t hint, bool right)
{
#define BEFORE(i) (right ? !s->less(key, &p[i]) : s->less(&p[i], key))     /* p[i] is before the place of key */
	size_t last = 0, step = 1, low, high;
	bool up = BEFORE(hint);
	size_t most = up ? n - hint : hint + 1;

	while (step < most && BEFORE(up ? hint + step : hint - step) == up) {
		last = step;
		step = step * 2 + 1;
	}
	step = step < most ? step : most;
	low = up ? hint + last + 1 : hint + 1 - step;
	high = up ? hint + step : hint - last;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (BEFORE(middle))
			low = middle + 1;
		else
			high = middle;
	}
	return high;
#undef BEFORE
}

/* State of merging two adjacent runs, of which the shorter is copied to s->aside.  merge_down() goes from the last element to the first. */
struct sort_merge {
	struct hta_edge *to, *left, *right;     /* the next place to fill; the next element of each run */
	size_t n_left, n_right;                 /* elements left of each run */
};

static void move_up(struct hta_edge **to, struct hta_edge **from, size_t k)
{
	memmove(*to, *from, k * sizeof **to);
	*to += k;
	*from += k;
}

static void move_down(struct hta_edge **to, struct hta_edge **from, size_t k)
{
	*to -= k;
	*from -= k;
	memmove(*to + 1, *from + 1, k * sizeof **to);
}

/* Merges one by one until a run wins min_gallop times in a row.  False: one run is finished. */
static bool step_up(struct sorter *s, struct sort_merge *m)
{
	size_t left = 0, right = 0;

	do {
		if (s->less(m->right, m->left)) {
			move_up(&m->to, &m->right, 1);
			right++, left = 0;
			if (--m->n_right == 0)
				return false;
		} else {
			move_up(&m->to, &m->left, 1);
			left++, right = 0;
			if (--m->n_left == 1)
				return false;
		}
	} while (left < s->min_gallop && right < s->min_gallop);
	return true;
}

static bool gallop_up(struct sorter *s, struct sort_merge *m)
{
	size_t left, right;

	s->min_gallop++;
	do {
		s->min_gallop -= s->min_gallop > 1;
		left = gallop(s, m->right, m->left, m->n_left, 0, true);
		move_up(&m->to, &m->left, left);
		m->n_left -= left;
		if (left && m->n_left <= 1)
			return false;
		move_up(&m->to, &m->right, 1);
		if (--m->n_right == 0)
			return false;
		right = gallop(s, m->left, m->right, m->n_right, 0, false);
		move_up(&m->to, &m->right, right);
		m->n_right -= right;
		if (right && m->n_right == 0)
			return false;
		move_up(&m->to, &m->left, 1);
		if (--m->n_left == 1)
			return false;
	} while (left >= MIN_GALLOP || right >= MIN_GALLOP);
	s->min_gallop++;
	return true;
}

static void merge_up(struct sorter *s, struct hta_edge *p, size_t n_left, size_t n_right)
{
	struct sort_merge m = { p, s->aside, p + n_left, n_left, n_right };

	memcpy(s->aside, p, n_left * sizeof *p);
	move_up(&m.to, &m.right, 1);
	m.n_right--;
	while (m.n_right && m.n_left > 1 && step_up(s, &m) && gallop_up(s, &m))
		;
	if (m.n_right && m.n_left == 1)         /* the last element of the left run is the largest of all */
		move_up(&m.to, &m.right, m.n_right);
	memcpy(m.to, m.left, m.n_left * sizeof *p);
}

static bool step_down(struct sorter *s, struct sort_merge *m)
{
	size_t left = 0, right = 0;

	do {
		if (s->less(m->right, m->left)) {
			move_down(&m->to, &m->left, 1);
			left++, right = 0;
			if (--m->n_left == 0)
				return false;
		} else {
			move_down(&m->to, &m->right, 1);
			right++, left = 0;
			if (--m->n_right == 1)
				return false;
		}
	} while (left < s->min_gallop && right < s->min_gallop);
	return true;
}

static bool gallop_down(struct sorter *s, struct sort_merge *m, const struct hta_edge *lefts)
{
	size_t left, right;

	s->min_gallop++;
	do {
		s->min_gallop -= s->min_gallop > 1;
		left = m->n_left - gallop(s, m->right, lefts, m->n_left, m->n_left - 1, true);
		move_down(&m->to, &m->left, left);
		m->n_left -= left;
		if (left && m->n_left == 0)
			return false;
		move_down(&m->to, &m->right, 1);
		if (--m->n_right == 1)
			return false;
		right = m->n_right - gallop(s, m->left, s->aside, m->n_right, m->n_right - 1, false);
		move_down(&m->to, &m->right, right);
		m->n_right -= right;
		if (right && m->n_right <= 1)
			return false;
		move_down(&m->to, &m->left, 1);
		if (--m->n_left == 0)
			return false;
	} while (left >= MIN_GALLOP || right >= MIN_GALLOP);
	s->min_gallop++;
	return true;
}

static void merge_down(struct sorter *s, struct hta_edge *p, size_t n_left, size_t n_right)
{
	struct sort_merge m = { p + n_left + n_right - 1, p + n_left - 1, s->aside + n_right - 1, n_left, n_right };

	memcpy(s->aside, p + n_left, n_right * sizeof *p);
	move_down(&m.to, &m.left, 1);
	m.n_left--;
	while (m.n_left && m.n_right > 1 && step_down(s, &m) && gallop_down(s, &m, p))
		;
	if (m.n_left && m.n_right == 1)         /* the first element of the right run is the smallest of all */
		move_down(&m.to, &m.left, m.n_left);
	memcpy(m.to + 1 - m.n_right, m.right + 1 - m.n_right, m.n_right * sizeof *p);
}

/* Merges runs i and i + 1. */
static void merge_runs(struct sorter *s, size_t i)
{
	struct run *a = &s->runs[i], *b = a + 1;
	struct hta_edge *p = &s->list[a->at];
	size_t n_left = a->n, n_right = b->n, there;

	a->n += b->n;
	a->power = b->power;
	memmove(b, b + 1, (s->n_runs - i - 2) * sizeof *b);
	s->n_runs--;
	there = gallop(s, p + n_left, p, n_left, 0, true);
	p += there;
	n_left -= there;
	if (!n_left)
		return;
	n_right = gallop(s, p + n_left - 1, p + n_left, n_right, n_right - 1, false);
	if (!n_right)
		return;
	if (n_left <= n_right)
		merge_up(s, p, n_left, n_right);
	else
		merge_down(s, p, n_left, n_right);
}

/* Power of the border between two adjacent runs: its depth in the binary tree that halves the list. */
static unsigned border_power(size_t at, size_t n_left, size_t n_right, size_t n)
{
	size_t a = 2 * at + n_left, b = a + n_left + n_right;
	unsigned power = 1;

	for (;; power++) {
		if (a >= n) {
			a -= n;
			b -= n;
		} else if (b >= n) {
			return power;
		}
		a *= 2;
		b *= 2;
	}
}

static void put_run(struct sorter *s, size_t at, size_t n)
{
	if (s->n_runs) {
		unsigned power = border_power(s->runs[s->n_runs - 1].at, s->runs[s->n_runs - 1].n, n, s->n);

		while (s->n_runs > 1 && s->runs[s->n_runs - 2].power > power)
			merge_runs(s, s->n_runs - 2);
		s->runs[s->n_runs - 1].power = power;
	}
	s->runs[s->n_runs++] = (struct run){ at, n, 0 };
}

int hta_sort_as_python(struct hta_edge *edges, size_t n, less_fn *less)
{
	struct sorter s = { .list = edges, .aside = malloc((n / 2 + 1) * sizeof *edges), .n = n, .min_gallop = MIN_GALLOP, .less = less };
	size_t least = n, odd = 0;

	if (!s.aside)
		return -1;
	for (; least >= 64; least /= 2)
		odd |= least & 1;
	least += odd;
	for (size_t at = 0, run; at < n; at += run) {
		size_t sorted = run = count_run(&s, at);

		if (run < least) {
			run = least < n - at ? least : n - at;
			insert_rest(&s, &edges[at], run, sorted);
		}
		put_run(&s, at, run);
	}
	while (s.n_runs > 1) {
		size_t i = s.n_runs - 2;

		merge_runs(&s, i - (i > 0 && s.runs[i - 1].n < s.runs[i + 1].n));
	}
	free(s.aside);
	return 0;
}
