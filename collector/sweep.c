#include "collector/sweep.h"

#include "collector/account.h"
#include "collector/clocks.h"
#include "collector/drain.h"
#include "collector/salvage.h"
#include "collector/session.h"
#include "collector/threads.h"

/* A young process is looked at ten times a second for so long: threads may be named and gone within one. */
#define YOUNG_TICKS 10

void sweep_full(struct session *s)
{
	for (size_t i = s->tree.first_live; i < s->tree.n; i++)
		if (s->tree.all[i]->guest)
			drain(s->tree.all[i], DRAIN_FULL);
}

static void look_at_young(struct process *p)
{
	if (p->guest->sweeps >= YOUNG_TICKS)
		return;
	p->guest->sweeps++;
	drain(p, DRAIN_ALL);
	threads_refresh(p);
}

void sweep_tick(struct session *s)
{
	struct clock_row now = clocks_read(s->with_tsc);

	staging_put(&s->rows, record_by_kind(ROW_clock), &now, NULL, 0);
	tree_reap(&s->tree, false);
	tree_describe(&s->tree);
	for (size_t i = s->tree.first_live; i < s->tree.n; i++)
		if (s->tree.all[i]->guest)
			look_at_young(s->tree.all[i]);
}

static void sweep_process(struct session *s, struct process *p)
{
	if (p->guest) {
		drain(p, DRAIN_ALL);
		threads_refresh(p);
	}
	account_process(p, &s->out);
	if (p->guest)
		staging_write(&p->guest->staging);
	if (process_flags(p) != p->flags_told)
		tree_put_row(&s->tree, p);
}

void sweep_second(struct session *s)
{
	output_check_room(&s->out);
	for (size_t i = s->tree.first_live; i < s->tree.n; i++)
		if (!s->tree.all[i]->end)
			sweep_process(s, s->tree.all[i]);
	account_session(&s->troubles, &s->rows);
	staging_write(&s->rows);
}

void sweep_last(struct session *s, struct process *p)
{
	if (p->guest)
		salvage(p);
	sweep_process(s, p);
}
