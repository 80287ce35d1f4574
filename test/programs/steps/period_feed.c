/*
 * Detects steps in launches given on stdin, one per line: "name config start end thread flags" in decimal, flags as enum period_flags; or
 * "- end" for a call that is no launch.  Prints "step FIRST LAST START END" for each step, then properties of the period.  Makes two
 * passes, with --line one.
 */
#include "trace/rules/period.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct call {
	struct period_launch l;
	bool launch;
};

static struct call *calls;
static size_t n_calls, cap;

static void read_calls(void)
{
	char line[256];

	while (fgets(line, sizeof line, stdin)) {
		struct call c = { .launch = line[0] != '-' };

		if (n_calls == cap) {
			cap = cap ? 2 * cap : 4096;
			calls = realloc(calls, cap * sizeof *calls);
			if (!calls)
				exit(1);
		}
		if (c.launch)
			sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNd64 " %" SCNu32 " %" SCNu32, &c.l.name, &c.l.config, &c.l.start,
			       &c.l.end, &c.l.thread, &c.l.flags);
		else
			sscanf(line, "- %" SCNd64, &c.l.end);
		calls[n_calls++] = c;
	}
}

static void pass(struct period *p, bool print)
{
	struct period_step s;

	for (size_t i = 0; i <= n_calls; i++) {
		if (i == n_calls)
			period_finish(p);
		else if (calls[i].launch)
			period_launch(p, &calls[i].l);
		else
			period_call(p, calls[i].l.end);
		while (period_take(p, &s))
			if (print)
				printf("step %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 "\n", s.first, s.last, s.start, s.end);
	}
}

int main(int argc, char **argv)
{
	bool line = argc > 1 && strcmp(argv[1], "--line") == 0;
	struct period *p = malloc(sizeof *p);

	if (!p)
		return 1;
	read_calls();
	period_init(p);
	pass(p, line);
	if (!line) {
		period_again(p);
		pass(p, true);
	}
	printf("period %" PRIu64 " launches %" PRId64 " ns confidence %.2f anchor %016" PRIx64 " named %d\n", p->model.launches, p->model.duration,
	       p->model.confidence, p->model.anchor, p->model.named);
	free(p);
	free(calls);
	return 0;
}
