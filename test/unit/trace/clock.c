#include "trace/clock.h"

#include "test/unit/trace/sample.h"
#include "trace/wire.h"

#define SECOND 1000000000ll
#define TENTH  (SECOND / 10)

/* The definition, piece by piece and with whole divisions. */
static int64_t model_tsc(const struct clock_row *p, size_t n, int64_t t)
{
	size_t i = 0, j = n - 1;
	__int128 up;

	for (size_t k = 0; k + 1 < n; k++)
		if (t >= (int64_t)p[k].tsc && t < (int64_t)p[k + 1].tsc) {
			i = k;
			j = k + 1;
		}
	up = (__int128)(t - (int64_t)p[t < (int64_t)p[n - 1].tsc ? i : n - 1].tsc) * (p[j].mono - p[i].mono);
	__int128 down = (__int128)p[j].tsc - p[i].tsc, q = up / down;

	return p[t < (int64_t)p[n - 1].tsc ? i : n - 1].mono + (int64_t)(q - (up % down < 0));
}

/* n points a tenth of a second apart, of a TSC near 2.6 GHz and a wall clock that is slewed a little. */
static void make_points(struct clock_row *p, size_t n, uint64_t seed)
{
	struct random random = { seed };
	int64_t tsc = 1000000000000, mono = 5000 * SECOND, real = 1790000000 * SECOND;

	for (size_t i = 0; i < n; i++) {
		p[i] = (struct clock_row){ (uint64_t)tsc, mono, real };
		mono += TENTH + (int64_t)(random_next(&random) % 1000000);
		tsc += (mono - p[i].mono) * 26 / 10 + (int64_t)(random_next(&random) % 2000) - 1000;
		real += mono - p[i].mono + (int64_t)(random_next(&random) % 2000) - 1000;
	}
}

TEST(tsc_is_converted_as_the_definition_says)
{
	struct random random = { 1 };
	struct clock_row p[20];
	struct clock_map m;

	for (uint64_t seed = 0; seed < 20; seed++) {
		size_t n = 2 + seed % 19;

		make_points(p, n, seed);
		CHECK_EQ(clock_map_init(&m, p, n), 0);
		for (int i = 0; i < 2000; i++) {
			int64_t span = (int64_t)(p[n - 1].tsc - p[0].tsc);
			int64_t t = (int64_t)p[0].tsc - span / 4 + (int64_t)(random_next(&random) % (uint64_t)(span * 3 / 2));
			int64_t off = model_tsc(p, n, t) - (clock_convert(&m, CLOCK_TSC, t) - m.base);

			CHECK(off >= 0 && off <= 1);    /* fixed point rounds down: 1 ns at most */
		}
		for (size_t i = 0; i < n; i++)
			CHECK_EQ(clock_convert(&m, CLOCK_TSC, (int64_t)p[i].tsc) - m.base, p[i].mono);
		clock_map_release(&m);
	}
}

TEST(conversions_never_run_backwards)
{
	struct clock_row p[15];
	struct clock_map m;

	make_points(p, ARRAY_SIZE(p), 7);
	p[9].tsc = p[8].tsc - 5;                /* a point that cannot be: left out */
	CHECK_EQ(clock_map_init(&m, p, ARRAY_SIZE(p)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		int64_t tsc = INT64_MIN, real = INT64_MIN;

		for (int64_t d = -3000; d < 3000; d++) {
			int64_t a = clock_convert(&m, CLOCK_TSC, (int64_t)p[i].tsc + d);
			int64_t b = clock_convert(&m, CLOCK_REAL, p[i].real + d);

			CHECK(a >= tsc && b >= real);
			tsc = a;
			real = b;
		}
	}
	clock_map_release(&m);
}

TEST(columns_of_times_are_converted_as_each_time_is)
{
	static const unsigned clocks[] = { CLOCK_NONE, CLOCK_TSC, CLOCK_MONO, CLOCK_REAL };
	struct random random = { 3 };
	struct clock_row p[15];
	int64_t times[500], starts[500], lengths[500], raw[500], ends[500];
	struct clock_map m;

	make_points(p, ARRAY_SIZE(p), 11);
	p[7].real += 3 * SECOND;
	CHECK_EQ(clock_map_init(&m, p, ARRAY_SIZE(p)), 0);
	for (size_t c = 0; c < ARRAY_SIZE(clocks); c++) {
		int64_t low = clocks[c] == CLOCK_TSC ? (int64_t)p[0].tsc : clocks[c] == CLOCK_MONO ? p[0].mono : p[0].real;

		for (size_t i = 0; i < 500; i++) {
			raw[i] = i % 50 ? low - SECOND + (int64_t)(random_next(&random) % (uint64_t)(8 * SECOND)) : 0;
			times[i] = starts[i] = raw[i];
			lengths[i] = (int64_t)(random_next(&random) % (uint64_t)SECOND);
			ends[i] = raw[i] ? clock_convert(&m, clocks[c], raw[i] + lengths[i]) : clock_span(&m, clocks[c], lengths[i]);
		}
		clock_convert_all(&m, clocks[c], times, 500);
		clock_convert_spans(&m, clocks[c], starts, lengths, 500);
		for (size_t i = 0; i < 500; i++) {
			CHECK_EQ(times[i], clock_convert(&m, clocks[c], raw[i]));
			CHECK_EQ(starts[i], times[i]);
			CHECK_EQ(starts[i] + lengths[i], ends[i]);
		}
	}
	clock_map_release(&m);
}

TEST(dense_columns_are_converted_as_each_time_is)
{
	enum { N = 6000 };
	static const unsigned clocks[] = { CLOCK_TSC, CLOCK_REAL };
	static int64_t times[N], starts[N], lengths[N], raw[N], ends[N];
	struct random random = { 5 };
	struct clock_row p[15];
	struct clock_map m;

	for (unsigned round = 0; round < 40; round++) {
		make_points(p, ARRAY_SIZE(p), round);
		for (size_t i = 1; round % 2 && i < ARRAY_SIZE(p); i++)         /* a wall clock that nobody moves: rate 1 */
			p[i].real = p[0].real + p[i].mono - p[0].mono;
		if (round % 3 == 1)
			p[8].real -= 70000;
		CHECK_EQ(clock_map_init(&m, p, ARRAY_SIZE(p)), 0);
		for (size_t c = 0; c < ARRAY_SIZE(clocks); c++) {
			int64_t t = (clocks[c] == CLOCK_TSC ? (int64_t)p[0].tsc : p[0].real) - TENTH;

			for (size_t i = 0; i < N; i++) {
				t += (int64_t)(random_next(&random) % (3 * SECOND / N));
				raw[i] = times[i] = starts[i] = random_next(&random) % 500 ? t : 0;
				lengths[i] = (int64_t)(random_next(&random) % 200000) - (random_next(&random) % 300 == 0) * SECOND;
				ends[i] = raw[i] ? clock_convert(&m, clocks[c], raw[i] + lengths[i])
						 : clock_span(&m, clocks[c], lengths[i]);
			}
			clock_convert_all(&m, clocks[c], times, N);
			clock_convert_spans(&m, clocks[c], starts, lengths, N);
			for (size_t i = 0; i < N; i++) {
				CHECK_EQ(times[i], clock_convert(&m, clocks[c], raw[i]));
				CHECK_EQ(starts[i], times[i]);
				CHECK_EQ(starts[i] + lengths[i], ends[i]);
			}
		}
		clock_map_release(&m);
	}
}

TEST(times_far_outside_do_not_overflow)
{
	static const int64_t extremes[] = { INT64_MIN, INT64_MIN + 1, -1, 1, INT64_MAX - 1, INT64_MAX };
	struct clock_row p[3] = { { 1, INT64_MIN, INT64_MAX }, { UINT64_MAX, 5, 7 }, { INT64_MAX, INT64_MAX, INT64_MIN } };
	struct random random = { 2 };
	struct clock_map m;

	for (int round = 0; round < 200; round++) {
		CHECK_EQ(clock_map_init(&m, p, 3), 0);
		for (unsigned clock = 0; clock < 5; clock++)
			for (size_t i = 0; i < ARRAY_SIZE(extremes); i++)
				clock_convert(&m, clock, extremes[i]);
		clock_map_release(&m);
		for (int i = 0; i < 3; i++)
			p[i] = (struct clock_row){ random_value(&random), (int64_t)(random_value(&random) >> round % 4),
						   (int64_t)(random_value(&random) >> round % 4) };
	}
}

TEST(trace_time_is_realtime_at_the_start)
{
	struct clock_row p[5];
	struct clock_map m;

	make_points(p, 5, 3);
	CHECK_EQ(clock_map_init(&m, p, 5), 0);
	CHECK_EQ(m.steps, 0);
	CHECK_EQ(clock_convert(&m, CLOCK_MONO, p[0].mono), p[0].real);
	CHECK_EQ(clock_convert(&m, CLOCK_REAL, p[0].real), p[0].real);
	CHECK_EQ(clock_convert(&m, CLOCK_TSC, (int64_t)p[0].tsc), p[0].real);
	CHECK_EQ(clock_convert(&m, CLOCK_REAL, p[0].real - SECOND), p[0].real - SECOND);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(clock_convert(&m, CLOCK_REAL, p[i].real), clock_convert(&m, CLOCK_MONO, p[i].mono));
	clock_map_release(&m);
}

TEST(no_time_stays_none_and_a_clock_that_is_not_known_is_taken_as_it_is)
{
	struct clock_row p[2] = { { 0, 10, 1000 }, { 0, 20, 1010 } };
	struct clock_map m;

	CHECK_EQ(clock_map_init(&m, p, 0), 0);
	CHECK_EQ(clock_convert(&m, CLOCK_TSC, 77), 77);
	CHECK_EQ(clock_span(&m, CLOCK_TSC, 77), 77);
	CHECK_EQ(clock_map_init(&m, p, 2), 0);
	CHECK_EQ(clock_convert(&m, CLOCK_TSC, 77), 77);
	CHECK_EQ(clock_convert(&m, CLOCK_MONO, 0), 0);
	CHECK_EQ(clock_convert(&m, CLOCK_NONE, 5), 5);
	CHECK_EQ(clock_convert(&m, CLOCK_MONO, 15), 1005);
	clock_map_release(&m);
}

TEST(a_length_without_a_beginning_goes_by_the_overall_rate)
{
	struct clock_row p[2] = { { 1000, 10, 1000 }, { 3000, 1010, 2000 } };
	struct clock_map m;

	CHECK_EQ(clock_map_init(&m, p, 2), 0);
	CHECK_EQ(clock_span(&m, CLOCK_TSC, 500), 250);
	CHECK_EQ(clock_span(&m, CLOCK_MONO, 500), 500);
	clock_map_release(&m);
}

/* A wall clock that is set by `by[i]` half-way between points i and i + 1, else exact. */
struct world {
	struct clock_row p[12];
	int64_t by[11];
};

static int64_t real_at(const struct world *w, int64_t mono)
{
	int64_t real = mono + 100000 * SECOND;

	for (int i = 0; i < 11; i++)
		if (mono >= (w->p[i].mono + w->p[i + 1].mono) / 2)
			real += w->by[i];
	return real;
}

static void world_make(struct world *w)
{
	for (int i = 0; i < 12; i++)
		w->p[i].mono = 100 * SECOND + i * TENTH;
	for (int i = 0; i < 12; i++)
		w->p[i].real = real_at(w, w->p[i].mono);
}

/* Each moment of the world, read on the wall clock, is found again; unless a later moment had the same reading. */
static void check_world(struct world *w, size_t steps)
{
	int64_t base, step = TENTH / 50;
	struct clock_map m;

	world_make(w);
	CHECK_EQ(clock_map_init(&m, w->p, 12), 0);
	CHECK_EQ(m.steps, steps);
	base = m.base;
	for (int64_t mono = w->p[0].mono; mono < w->p[11].mono + TENTH; mono += step) {
		int64_t real = real_at(w, mono), latest = mono;

		for (int64_t later = mono + step; later < w->p[11].mono + SECOND; later += step)
			if (real_at(w, later) == real)
				latest = later;
		CHECK_EQ(clock_convert(&m, CLOCK_REAL, real) - base, latest);
	}
	clock_map_release(&m);
}

TEST(a_wall_clock_set_forward_does_not_tear_the_trace)
{
	check_world(&(struct world){ .by = { [3] = 60000 } }, 1);
	check_world(&(struct world){ .by = { [3] = 10 * SECOND } }, 1);
	check_world(&(struct world){ .by = { [0] = SECOND, [5] = TENTH, [6] = 7 * TENTH, [10] = 3600 * SECOND } }, 4);
}

TEST(times_do_not_run_backwards_where_the_wall_clock_was_set_forward)
{
	struct world w = { .by = { [4] = SECOND } };
	int64_t before = INT64_MIN, t;
	struct clock_map m;

	world_make(&w);
	CHECK_EQ(clock_map_init(&m, w.p, 12), 0);
	/* Also for readings that the clock never showed. */
	for (int64_t real = w.p[0].real; real < w.p[11].real; real += TENTH / 100) {
		t = clock_convert(&m, CLOCK_REAL, real);
		CHECK(t >= before);
		before = t;
	}
	clock_map_release(&m);
}

TEST(a_wall_clock_set_back_does_not_tear_the_trace)
{
	check_world(&(struct world){ .by = { [3] = -TENTH / 2 } }, 1);
	check_world(&(struct world){ .by = { [3] = -3600 * SECOND } }, 1);
	check_world(&(struct world){ .by = { [0] = -SECOND, [5] = -5 * SECOND, [10] = -3600 * SECOND } }, 3);
	check_world(&(struct world){ .by = { [2] = -TENTH, [4] = SECOND, [7] = -3 * TENTH } }, 3);
}

TEST(a_wall_clock_set_back_and_forward_is_undone)
{
	struct world w = { .by = { [2] = -40 * SECOND, [4] = 40 * SECOND } };
	struct clock_map m;

	world_make(&w);
	CHECK_EQ(clock_map_init(&m, w.p, 12), 0);
	for (int i = 0; i < 12; i++)
		CHECK_EQ(clock_convert(&m, CLOCK_REAL, w.p[i].real) - m.base, w.p[i].mono);
	clock_map_release(&m);
}

TEST(the_reader_converts_starts_and_keeps_nesting)
{
	const struct clock_row clock[] = { { 1000, 100, 5100 }, { 2000, 400, 5400 }, { 4000, 700, 5700 } };
	/* The second inside the first, ends equal; the third without a time. */
	const struct range_row ranges[] = { { .start = 1003, .duration = 1500 }, { .start = 1004, .duration = 1499 },
					    { .start = 0, .duration = 1000 } };
	const struct kernel_row kernels[] = { { .start = 5150, .duration = 10 }, { .start = 0, .duration = 10 } };
	struct trace_error err = { 0 };
	struct range_row r[3];
	struct kernel_row k[2];
	struct mem_file f;
	struct trace t;
	struct writer *w = writer_to(&f);

	writer_rows(w, 1, CLOCK_TSC, record_by_kind(ROW_range), ranges, 3, NULL, 0, &err);
	writer_rows(w, 1, CLOCK_TSC, record_by_kind(ROW_kernel), kernels, 2, NULL, 0, &err);
	writer_rows(w, 0, CLOCK_MONO, record_by_kind(ROW_clock), clock, 3, NULL, 0, &err);
	writer_finish(w, &err);
	CHECK_EQ(trace_open(&t, f.path, 0, &err), 0);
	CHECK_EQ(trace_rows(&t, &t.chunks[0], r), 0);
	CHECK_EQ(trace_rows(&t, &t.chunks[1], k), 0);
	CHECK_EQ(r[0].start, 5100);             /* 3 ticks of 0.3 ns */
	CHECK_EQ(r[1].start, 5101);
	CHECK_EQ(r[0].start + r[0].duration, 5475);
	CHECK_EQ(r[1].start + r[1].duration, 5475);
	CHECK_EQ(r[2].start, 0);
	CHECK_EQ(r[2].duration, 200);           /* 600 ns in 3000 ticks */
	CHECK_EQ(k[0].start, 5150);
	CHECK_EQ(k[0].duration, 10);
	CHECK_EQ(k[1].start, 0);
	CHECK_EQ(k[1].duration, 10);
	trace_close(&t);
	mem_file_free(&f);
}
