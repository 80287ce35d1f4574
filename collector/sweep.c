#include "collector/sweep.h"

#include "collector/account.h"
#include "collector/clocks.h"
#include "collector/drain.h"
#include "collector/pages.h"
#include "collector/salvage.h"
#include "collector/session.h"
#include "collector/threads.h"

/* A guest waits 200 ms for its answer, and writing a chunk takes 2 ms: new connections are accepted this often. */
#define DOOR_NS 20000000

/* Sweeps between two reads of thread names: they rarely change, and hundreds of threads take milliseconds. */
#define NAMES_EVERY 5

/* A new process is looked at ten times a second for so many ticks: threads may be named and end within a second. */
#define YOUNG_TICKS 10

/* Newcomers are added behind the processes that are being swept. */
static void accept_between(struct session *s, int64_t *looked)
{
	int64_t now = clocks_now(CLOCK_MONO);

	if (now - *looked < DOOR_NS)
		return;
	session_accept(s);
	*looked = now;
}

void sweep_full(struct session *s)
{
	int64_t looked = clocks_now(CLOCK_MONO);

	for (size_t i = 0; i < s->tree.n_live; i++) {
		if (s->tree.live[i]->guest)
			drain(s->tree.live[i], DRAIN_FULL);
		accept_between(s, &looked);
	}
}

static void look_at_young(struct tree_process *p)
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
	tree_tidy(&s->tree);
	tree_describe(&s->tree);
	for (size_t i = 0; i < s->tree.n_live; i++) {
		struct tree_process *p = s->tree.live[i];

		if (p->guest && p->guest->unheard)
			drain(p, DRAIN_FULL);
		if (p->guest)
			look_at_young(p);
	}
}

static void sweep_process(struct session *s, struct tree_process *p)
{
	if (p->guest) {
		drain(p, DRAIN_ALL);
		if (p->guest->sweeps++ % NAMES_EVERY == 0)
			threads_refresh(p);
		pages_give_back(p->guest);
	}
	account_process(p, &s->out);
	if (p->guest)
		staging_write(&p->guest->staging);
	if (process_flags(p) != p->flags_written)
		tree_put_row(&s->tree, p);
}

void sweep_second(struct session *s)
{
	int64_t looked = clocks_now(CLOCK_MONO);

	output_check_room(&s->out);
	for (size_t i = 0; i < s->tree.n_live; i++) {
		if (!s->tree.live[i]->end) {
			sweep_process(s, s->tree.live[i]);
			tree_notice_exec(&s->tree, s->tree.live[i]);
		}
		accept_between(s, &looked);
	}
	account_session(&s->health_counts, &s->rows);
	staging_write(&s->rows);
}

void sweep_last(struct session *s, struct tree_process *p)
{
	if (p->guest) {
		salvage(p, s->closing != 0);
		unmatched_note(&s->tree.unmatched, p->guest);
	}
	p->ending.cpu = cpu_of(p->host_pid);
	tree_put_row(&s->tree, p);
	sweep_process(s, p);
}
