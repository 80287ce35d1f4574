/* The rows of an import do not depend on the sizes of the pieces in which the file is read. */
#include <stdlib.h>

#include "test/unit/import/random_json.h"
#include "test/unit/import/rows.h"
#include "test/unit/import/source.h"
#include "test/unit/test.h"

static char text[1 << 17];

static struct imported in_steps(const struct random_json *r, size_t step, uint64_t garbage)
{
	source_comes((const uint8_t *)r->text, r->n, step, garbage, NULL);
	return rows_of("file.json");
}

/* Leaves what differs in memory's place for whoever looks for the reason. */
static void keep(const struct random_json *r, uint64_t seed, size_t step, const char *what)
{
	const char *path = getenv("GPROF_TEST_KEEP");
	FILE *f = path ? fopen(path, "w") : NULL;

	fprintf(stderr, "file %llu, %zu bytes at a time: other are %s\n", (unsigned long long)seed, step, what);
	if (f) {
		fwrite(r->text, 1, r->n, f);
		fclose(f);
	}
}

static bool check_steps(struct random_json *r, uint64_t seed)
{
	static const size_t steps[] = { 1, 2, 3, 7, 16, 33, 97, 130, 500, 4096 };
	struct imported all = in_steps(r, r->n, seed);

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		struct imported some = in_steps(r, steps[i], ~seed);
		const char *what = rows_differ(&all, &some);

		if (!CHECK(!what)) {
			keep(r, seed, steps[i], what);
			return false;
		}
	}
	return true;
}

TEST(rows_are_the_same_however_few_bytes_come_at_a_time)
{
	const char *many = getenv("GPROF_TEST_FILES");

	for (uint64_t seed = 0, n = many ? strtoull(many, NULL, 10) : 300; seed < n; seed++) {
		static const unsigned odd[] = { 0, 2, 10, 40 };
		struct random_json r = { .state = seed, .text = text, .size = sizeof text };

		random_json(&r, seed % 8 ? 12 : 120, odd[seed % 4]);
		if (!check_steps(&r, seed))
			return;
		random_damage(&r);
		if (!check_steps(&r, seed))
			return;
	}
}
