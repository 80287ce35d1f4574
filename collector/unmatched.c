#include "collector/unmatched.h"

#include <stdio.h>
#include <string.h>

#include "collector/clocks.h"
#include "collector/session.h"
#include "trace/health.h"

#define CAPTURE_RANGE 0x80000000u       /* bit of the capture range in names_seen; bit i: kind i of steps */

void unmatched_note(struct unmatched *a, const struct connected_guest *g)
{
	const struct arena *from = g->view.a;

	a->seen |= __atomic_load_n(&from->names_seen, __ATOMIC_RELAXED);
	a->windows += __atomic_load_n(&from->n_windows, __ATOMIC_RELAXED);
	if (!a->other[0])
		snprintf(a->other, sizeof a->other, "%.*s", (int)sizeof a->other - 1, from->names_other);
}

static void count_unmatched(struct session *s, unsigned reason, const char *what, int what_n)
{
	const char *other = s->tree.unmatched.other;

	health_counts_add(&s->health_counts, reason, 1, clocks_now(CLOCK_MONO), "%.*s%s%s", what_n < 100 ? what_n : 100, what,
			  *other ? "; NVTX names seen: " : "; no NVTX range was seen", other);
}

static void report_steps(struct session *s)
{
	const char *end;
	unsigned kind = 0;

	for (const char *p = s->config.steps; *p; p = *end ? end + 1 : end, kind++) {
		const char *how = strchr(p, '=');

		end = strchrnul(p, '\n');
		if (how && strncmp(how, "=nvtx:", 6) == 0 && !(s->tree.unmatched.seen & 1u << kind))
			count_unmatched(s, HEALTH_step_never, how + 6, (int)(end - how - 6));
	}
}

void unmatched_report(struct session *s)
{
	const struct config *c = &s->config;

	if (c->capture_range == 2 && !(s->tree.unmatched.seen & CAPTURE_RANGE))
		count_unmatched(s, HEALTH_range_never, c->nvtx_capture, (int)strlen(c->nvtx_capture));
	else if (c->capture_range && !s->tree.unmatched.windows)
		health_counts_add(&s->health_counts, HEALTH_range_never, 1, clocks_now(CLOCK_MONO), "%s",
				  c->capture_range == 1 && !c->start_later && !c->delay_ms ? "cudaProfilerStart was never called"
									      : "it never began while recording was on");
	report_steps(s);
}
