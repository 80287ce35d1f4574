#include "cli/report/parts/stats.h"
#include "test/unit/test.h"

#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252ull;

static uint64_t dice(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static int by_value(const void *a, const void *b)
{
	int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;

	return p < q ? -1 : p > q;
}

/* The same numbers by the simplest means; square roots by trying. */
static void check_against_plain(int64_t *v, size_t n)
{
	struct groups g = { 0 };
	struct series *s = groups_get(&g, 7);
	__int128 sum = 0, around = 0;

	for (size_t i = 0; i < n; i++) {
		CHECK(series_add(s, v[i]));
		sum += v[i];
	}
	series_settle(s);
	qsort(v, n, sizeof *v, by_value);
	CHECK_EQ(s->min, v[0]);
	CHECK_EQ(s->max, v[n - 1]);
	CHECK(s->sum == (unsigned __int128)sum);
	CHECK_EQ(series_median2(s), v[(n - 1) / 2] + v[n / 2]);
	CHECK_EQ(series_mean(s, 10, 1), (int64_t)((sum * 10 + (__int128)n / 2) / (__int128)n));
	/* n^2 times the squared distances from the mean, and from that the deviation in tenths. */
	for (size_t i = 0; i < n; i++)
		around += ((__int128)n * v[i] - sum) * ((__int128)n * v[i] - sum);
	if (n > 1) {
		int64_t d = series_deviation(s, 10, 1);
		__int128 scale = (__int128)n * (__int128)n * (__int128)(n - 1);
		/* (d - 1/2)^2 <= 100 * variance < (d + 1/2)^2 */
		CHECK((__int128)(2 * d - 1) * (2 * d - 1) * scale <= 400 * around || d == 0);
		CHECK((__int128)(2 * d + 1) * (2 * d + 1) * scale > 400 * around);
	} else {
		CHECK_EQ(series_deviation(s, 10, 1), 0);
	}
	groups_release(&g);
}

TEST(sums_medians_and_deviations_are_exact)
{
	static int64_t v[300];

	for (unsigned round = 0; round < 300; round++) {
		size_t n = 1 + dice() % (round % 3 ? 300 : 5);
		unsigned bits = 1 + (unsigned)(dice() % 31);

		for (size_t i = 0; i < n; i++)
			v[i] = (int64_t)(dice() >> (64 - bits)) + (round % 5 == 0 ? 1000000 : 0);
		check_against_plain(v, n);
	}
}

TEST(values_beyond_four_bytes_count_like_others)
{
	int64_t v[] = { 5, 1ll << 40, (1ll << 32) - 1, 1ll << 32, 7, (1ll << 33) + 1 };

	check_against_plain(v, 6);
	check_against_plain(v, 5);
	check_against_plain(v, 2);
	check_against_plain(v + 4, 1);
}

TEST(equal_values_have_no_deviation)
{
	int64_t v[1000];

	for (size_t i = 0; i < 1000; i++)
		v[i] = 4294967295;
	check_against_plain(v, 1000);
}

TEST(many_values_of_a_wide_range_are_selected_right)
{
	enum { N = 200000 };
	int64_t *v = malloc(N * sizeof *v);
	struct groups g = { 0 };
	struct series *s = groups_get(&g, 1);

	for (size_t i = 0; i < N; i++) {
		v[i] = (int64_t)(dice() >> 32);
		CHECK(series_add(s, v[i]));
	}
	qsort(v, N, sizeof *v, by_value);
	CHECK_EQ(series_median2(s), v[N / 2 - 1] + v[N / 2]);
	groups_release(&g);
	free(v);
}

static uint64_t odd_or_even_is_one(void *at, uint64_t key)
{
	(void)at, (void)key;
	return 1;
}

/* The i-th value of a kernel's lengths, of many kinds: close together, in two places, wandering, here and there, all over. */
static int64_t length_of(unsigned kind, uint64_t i, uint64_t n)
{
	switch (kind) {
	case 0: return 25000 + (int64_t)(dice() % 400);
	case 1: return (dice() & 1 ? 25000 : 3000000000) + (int64_t)(dice() % 3000);
	case 2: return (int64_t)(i * 100000000 / n + dice() % 2000);
	case 3: return dice() % 50 ? (int64_t)(dice() % 1000) : (int64_t)(dice() >> 30);
	case 4: return UINT32_MAX - (int64_t)(dice() % 6000);
	case 5: return (int64_t)(dice() % 1000 * (dice() % 1000) * (dice() % 1000));
	default: return i < n / 2 ? 7 : (int64_t)(dice() >> 32);
	}
}

TEST(values_that_are_counted_are_the_same_values)
{
	enum { MOST = 150000 };
	int64_t *v = malloc(MOST * sizeof *v);

	for (unsigned kind = 0; kind < 7; kind++)
		for (size_t n = MOST; n > 1000; n = n * 2 / 5) {
			for (size_t i = 0; i < n; i++)
				v[i] = length_of(kind, i, n);
			check_against_plain(v, n);
		}
	free(v);
}

TEST(counted_values_of_two_threads_are_merged)
{
	enum { N = 60000 };
	int64_t *v = malloc(N * sizeof *v);
	__int128 sum = 0;

	for (unsigned kind = 0; kind < 7; kind++) {
		struct groups g[2];
		struct series *s;

		memset(g, 0, sizeof g);
		sum = 0;
		for (size_t i = 0; i < N; i++) {
			v[i] = length_of(i % 3 ? kind : (kind + 1) % 7, i, N);
			sum += v[i];
			CHECK(series_add(groups_get(&g[i % 5 == 0], i % 2), v[i]));
		}
		groups_merge(&g[0], &g[1]);
		CHECK_EQ(groups_rekey(&g[0], odd_or_even_is_one, NULL), 0);
		s = groups_get(&g[0], 1);
		CHECK_EQ(s->n, N);
		CHECK(s->sum == (unsigned __int128)sum);
		qsort(v, N, sizeof *v, by_value);
		CHECK_EQ(s->min, v[0]);
		CHECK_EQ(s->max, v[N - 1]);
		CHECK_EQ(series_median2(s), v[N / 2 - 1] + v[N / 2]);
		groups_release(&g[0]);
	}
	free(v);
}

/* As names of one template do.  Walking what is there for each of them would take minutes. */
TEST(many_series_become_one)
{
	enum { N = 300000 };
	struct groups g = { 0 };

	for (uint64_t i = 0; i < N; i++)
		CHECK(series_add(groups_get(&g, i * 7), (int64_t)i));
	CHECK_EQ(groups_rekey(&g, odd_or_even_is_one, NULL), 0);
	CHECK_EQ(g.n, 1);
	CHECK_EQ(g.list[0].n, N);
	CHECK_EQ(series_median2(&g.list[0]), N - 1);
	groups_release(&g);
}

/* 10^6 lengths that lie close together: what is kept of them does not grow with them. */
TEST(counted_values_take_little_memory)
{
	struct groups g = { 0 };
	struct series *s = groups_get(&g, 7);
	size_t bytes = 0;

	for (uint64_t i = 0; i < 1000000; i++)
		CHECK(series_add(s, length_of(0, i, 0)));
	for (const struct values *p = s->small; p; p = p->next)
		bytes += sizeof *p + p->cap * sizeof *p->v;
	for (const struct counts *c = s->counts; c; c = c->next)
		bytes += sizeof *c + c->n * sizeof *c->of;
	CHECK(bytes < 65536);
	groups_release(&g);
}

static uint64_t odd_or_even(void *at, uint64_t key)
{
	(void)at;
	return key & 1;
}

TEST(groups_merge_by_key_and_by_new_keys)
{
	struct groups a = { 0 }, b = { 0 };

	for (uint64_t key = 0; key < 100; key++) {
		CHECK(series_add(groups_get(&a, key * 1000), (int64_t)key));
		CHECK(series_add(groups_get(&b, key * 1000 + (key >= 50)), 1ll << 40));
		series_unknown(groups_get(&b, 5ull << 40));
	}
	groups_merge(&a, &b);
	CHECK_EQ(a.n, 151);
	CHECK_EQ(groups_get(&a, 3000)->n, 2);
	CHECK_EQ(groups_get(&a, 5ull << 40)->rows, 100);
	CHECK_EQ(groups_get(&a, 5ull << 40)->n, 0);
	CHECK_EQ(groups_rekey(&a, odd_or_even, NULL), 0);
	CHECK_EQ(a.n, 2);
	CHECK_EQ(groups_get(&a, 0)->n, 150);
	CHECK_EQ(groups_get(&a, 1)->n, 50);
	groups_sort(&a);
	CHECK_EQ(a.list[0].key, 0);
	groups_release(&a);
}

TEST(shares_are_rounded_and_nothing_of_nothing_is_zero)
{
	CHECK_EQ(share(1, 3), 333);
	CHECK_EQ(share(2, 3), 667);
	CHECK_EQ(share(3, 3), 1000);
	CHECK_EQ(share(1, 2000), 1);
	CHECK_EQ(share(0, 0), 0);
}
