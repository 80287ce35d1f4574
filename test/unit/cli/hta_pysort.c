/* hta_pysort.c against the sort that it imitates: that of the python3 in PATH, 3.11 or later. */
#include "cli/compat/hta/hta_tree.h"
#include "test/unit/test.h"

#include <stdlib.h>
#include <string.h>

/* An order that is not transitive: the result depends on each comparison that the sort makes. */
#define LESS "(x * 7 + y * 3) % 5 < 2"

static bool circular(const struct hta_edge *a, const struct hta_edge *b)
{
	uint64_t x = (uint64_t)a->time, y = (uint64_t)b->time;

	return (x * 7 + y * 3) % 5 < 2;
}

static bool transitive(const struct hta_edge *a, const struct hta_edge *b)
{
	return a->time < b->time;
}

static const char script[] =
	"import sys\n"
	"if sys.version_info < (3, 11): sys.exit(77)\n"
	"class Circular:\n"
	"    def __init__(self, v, at): self.v, self.at = v, at\n"
	"    def __lt__(self, other):\n"
	"        x, y = self.v, other.v\n"
	"        return " LESS "\n"
	"class Plain(Circular):\n"
	"    def __lt__(self, other): return self.v < other.v\n"
	"for n in [*range(0, 200), 300, 1000, 4097, 30000]:\n"
	"    for kind in Circular, Plain:\n"
	"        for spread in 3, 1 << 20:\n"
	"            state, items = n + 1, []\n"
	"            for i in range(n):\n"
	"                state = (state * 6364136223846793005 + 1442695040888963407) % 2**64\n"
	"                v = (state >> 33) % spread\n"
	"                items.append(kind(i // 3 if spread > 3 and i % 100 < 60 else v, i))\n"
	"            items.sort()\n"
	"            print(n, *(item.at for item in items))\n";

static void fill(struct hta_edge *edges, size_t n, uint64_t spread)
{
	uint64_t state = n + 1;

	for (size_t i = 0; i < n; i++) {
		uint64_t v;

		state = state * 6364136223846793005u + 1442695040888963407u;
		v = (state >> 33) % spread;
		edges[i] = (struct hta_edge){ .time = (int64_t)(spread > 3 && i % 100 < 60 ? i / 3 : v), .row = (uint32_t)i };
	}
}

/* Reads the next number; UINT64_MAX: none. */
static uint64_t next(FILE *in)
{
	unsigned long long v;

	return fscanf(in, "%llu", &v) == 1 ? v : UINT64_MAX;
}

TEST(the_order_is_that_of_pythons_sort_also_where_less_is_no_order)
{
	enum { MOST = 30000 };
	struct hta_edge *edges = malloc(MOST * sizeof *edges);
	size_t lists = 0, wrong = 0;
	char command[2048];
	uint64_t n;
	FILE *in;
	int status;

	snprintf(command, sizeof command, "python3 -c '%s' 2>/dev/null", script);
	in = popen(command, "r");
	for (; (n = next(in)) <= MOST; lists++) {
		fill(edges, n, lists % 2 ? 1 << 20 : 3);
		CHECK_EQ(hta_sort_as_python(edges, n, lists % 4 < 2 ? circular : transitive), 0);
		for (size_t i = 0; i < n; i++)
			wrong += edges[i].row != next(in);
	}
	status = pclose(in);
	free(edges);
	if (!lists && status) {
		test_skip("no python3 of version 3.11 or later");
		return;
	}
	CHECK_EQ(lists, (200 + 4) * 4);
	CHECK_EQ(wrong, 0);
}
