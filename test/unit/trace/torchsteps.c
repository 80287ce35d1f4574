/* The rule for steps of PyTorch, on sequences of calls as in real programs. */
#include "trace/rules/torchsteps.h"

#include <stdio.h>
#include <string.h>

#include "test/unit/test.h"

#define MS 1000000

/*
 * Letters: b a batch is fetched (0.1 ms), l one in 40 ms, e a loader that has no more is asked (0.01 ms), n an autograd node, z zero_grad, s Optimizer.step, - 5 ms of work, . 0.1 ms.  B, S: by another thread.
 * Time is told by the position of the letter.  The answer, one for each step that has ended: "number: letters".
 */
struct play {
	struct torchsteps rule;
	const char *events;
	int64_t time, at[200];          /* begin of each letter; the last one: of the end */
	char text[1000];
	struct { uint32_t number; int64_t start, end; } steps[100];
	size_t n;
	int64_t open;
	bool batch[100], open_batch;
	unsigned sure;                  /* steps that a schedule would count: the first, those that are sure, not those that were taken back */
};

static void take(struct play *p, const struct torchsteps_answer *a)
{
	if (a->what == TORCHSTEPS_NONE)
		return;
	p->sure = a->what == TORCHSTEPS_FIRST || a->what == TORCHSTEPS_TRAINS ? 1 : p->sure + (a->what == TORCHSTEPS_NEXT && a->sure);
	if (a->what == TORCHSTEPS_TRAINS)
		p->n = 0;
	if (a->what == TORCHSTEPS_MOVED && p->n)
		p->steps[p->n - 1].end = a->time;
	if (a->what == TORCHSTEPS_NEXT) {
		p->steps[p->n].number = a->number - 1;
		p->steps[p->n].start = p->open;
		p->batch[p->n] = p->open_batch;
		p->steps[p->n++].end = a->time;
	}
	p->open = a->time;
	p->open_batch = a->batch;
}

static void feed(struct play *p, enum torchsteps_event event, uint32_t thread)
{
	struct torchsteps_answer a;

	if (!torchsteps_is_news(&p->rule, event))
		return;
	a = torchsteps_feed(&p->rule, event, &(struct torchsteps_place){ p->time, p->time, thread });
	take(p, &a);
}

static void letter(struct play *p, char c)
{
	uint32_t thread = c == 'B' || c == 'S' ? 2 : 1;

	switch (c) {
	case 'b': case 'B': case 'e': case 'l':
		feed(p, TORCHSTEPS_BATCH, thread);
		p->time += c == 'e' ? MS / 100 : c == 'l' ? 40 * MS : MS / 10;
		feed(p, TORCHSTEPS_FETCHED, thread);
		break;
	case 'w': case 'v':
		feed(p, TORCHSTEPS_WORKERS_BATCH, thread);
		p->time += c == 'v' ? MS / 100 : MS / 10;
		feed(p, TORCHSTEPS_FETCHED, thread);
		break;
	case 'n':
		feed(p, TORCHSTEPS_NODE, 7);
		break;
	case 'z':
		feed(p, TORCHSTEPS_OPTIMIZER, thread);
		break;
	case 's': case 'S':
		feed(p, TORCHSTEPS_OPTIMIZER, thread);
		p->time += MS;
		feed(p, TORCHSTEPS_STEPPED, thread);
		break;
	case '-':
		p->time += 5 * MS;
		break;
	default:
		break;
	}
	p->time += 1000;
}

/* The letters that lie in a step; each begins at its time. */
static size_t letters(const struct play *p, int64_t start, int64_t end, char *out)
{
	size_t n = 0;

	for (size_t i = 0; p->events[i]; i++)
		if (p->at[i] >= start && p->at[i] < end)
			out[n++] = p->events[i];
	return n;
}

static struct play play(const char *events)
{
	struct play p = { .events = events, .time = 1000 * MS };
	size_t n = 0;

	for (size_t i = 0; events[i]; i++) {
		p.at[i] = p.time;
		letter(&p, events[i]);
	}
	for (size_t i = 0; i < p.n; i++) {
		n += (size_t)sprintf(p.text + n, "%s%u%s:", i ? " " : "", p.steps[i].number, p.batch[i] ? "?" : "");
		n += letters(&p, p.steps[i].start, p.steps[i].end, p.text + n);
	}
	p.text[n] = '\0';
	return p;
}

#define CHECK_PLAY(events, want) do {                                                   \
	struct play play_ = play(events);                                               \
	CHECK_STR(play_.text, want);                                                    \
} while (0)

TEST(a_step_goes_from_the_end_of_one_optimizer_step_to_that_of_the_next)
{
	CHECK_PLAY("b-nns" "zb-nns" "zb-nns" "z", "0:b-nns 1:zb-nns 2:zb-nns");
	CHECK_PLAY("-nns" "z-nns" "z-nns", "0:nns 1:z-nns 2:z-nns");
}

TEST(batches_that_are_fetched_ahead_are_no_steps)
{
	/* Hugging Face's Trainer fetches all batches of a step at once, and looks ahead by one. */
	CHECK_PLAY("bbbbbbbb-n-n-n-n-n-n-n-ns" "zbbbbbbbb-n-n-n-n-n-n-n-ns", "0:bbbbbbbb-n-n-n-n-n-n-n-ns 1:zbbbbbbbb-n-n-n-n-n-n-n-ns");
	CHECK_PLAY("bb-nb-ns" "b-nb-ns", "0:bb-nb-ns 1:b-nb-ns");
}

TEST(batches_without_an_optimizer_step_are_accumulated)
{
	CHECK_PLAY("b-nb-nb-ns" "b-nb-nb-ns", "0:b-nb-nb-ns 1:b-nb-nb-ns");
}

TEST(an_evaluation_before_the_training_is_no_step)
{
	/* Lightning's sanity check: two batches. */
	CHECK_PLAY("b-b-" "b-z-ns" "b-z-ns", "0:b-z-ns 1:b-z-ns");
	/* One that was long enough to be taken for inference; the loader's end is a batch too. */
	CHECK_PLAY("b-b-b-b-b-b-b-b-b" "-b-ns" "b-ns", "0:b-ns 1:b-ns");
	CHECK_PLAY("b-b-b-b-b-b-b-b-b" "-bbb-n-n-ns" "b-ns", "0:bbb-n-n-ns 1:b-ns");
}

TEST(an_evaluation_or_the_end_of_an_epoch_is_part_of_the_step_that_it_interrupts)
{
	CHECK_PLAY("b-nsb-nsb" "b-b-b-b-b-b-b" "b-nsb-nsb" "b-b-b", "0:b-ns 1:b-ns 2:bb-b-b-b-b-b-bb-ns 3:b-ns");
}

TEST(a_schedule_counts_no_batch_before_it_is_known_to_be_a_step)
{
	CHECK_EQ(play("bbbbbbbb").sure, 1);
	CHECK_EQ(play("b-b-b").sure, 1);
	CHECK_EQ(play("b-b-b-b-b").sure, 2);
	CHECK_EQ(play("b-b-b-b-b-b").sure, 3);
	CHECK_EQ(play("b-b-b-b-b-b-z").sure, 1);
	CHECK_EQ(play("b-b-b-ns").sure, 2);
}

TEST(without_a_backward_pass_a_step_goes_from_batch_to_batch)
{
	CHECK_PLAY("b-b-b-b-b-b-b", "0?:b- 1?:b- 2?:b- 3?:b- 4?:b- 5?:b-");
}

TEST(the_end_of_an_epoch_is_no_batch)
{
	CHECK_PLAY("b-b-b-b-eb-b-b-b-eb-b-b-b-e", "0?:b- 1?:b- 2?:b- 3?:b-e 4?:b- 5?:b- 6?:b- 7?:b-e 8?:b- 9?:b- 10?:b- 11?:b-");
	/* Of slow fetches also where 5 ms are between them: a busy machine. */
	CHECK_PLAY("l-l-l-l-e-l-l", "0?:l- 1?:l- 2?:l- 3?:l-e- 4?:l-");
	/* Worker processes may have the next batch ready. */
	CHECK_PLAY("w-w-w-w-vw-w", "0?:w- 1?:w- 2?:w- 3?:w- 4?:v 5?:w-");
	/* The last batch is as short, but work follows. */
	CHECK_PLAY("b-b-b-b-e-b-b", "0?:b- 1?:b- 2?:b- 3?:b- 4?:e- 5?:b-");
	CHECK_PLAY("b-b-b-b-b-eb-nsb-nse" "b-nsb-nse", "0:b-ns 1:b-ns 2:eb-ns 3:b-ns");
}

TEST(a_program_that_only_fetches_is_taken_for_one_that_does_not_train_in_the_end)
{
	char events[80];

	memset(events, 'b', sizeof events);
	events[70] = '\0';
	CHECK_EQ(play(events).n, 69);
	CHECK_EQ(play(events).sure, 1 + 70 - TORCHSTEPS_BATCHES);
}

TEST(optimizers_of_one_batch_make_one_step_that_ends_with_the_last)
{
	CHECK_PLAY("b-ns-ns" "b-ns-ns" "b-ns-ns", "0:b-ns-ns 1:b-ns-ns 2:b-ns-ns");
	CHECK_PLAY("-nss" "-nss", "0:nss 1:-nss");
}

TEST(an_optimizer_that_does_not_come_in_a_batch_ends_no_step_late)
{
	CHECK_PLAY("b-ns-ns" "b-ns" "b-ns" "b-ns", "0:b-ns-ns 1:b-ns 2:b-ns 3:b-ns");
}

TEST(a_batch_that_serves_many_steps_bounds_none)
{
	/* Whether two optimizers of a batch are one step is known only when there are too many; numbers count all the same. */
	CHECK_PLAY("b" "-ns-ns-ns-ns-ns-ns-ns-ns" "-ns" "-ns", "0:b-ns-ns-ns-ns-ns-ns-ns-ns 8:-ns 9:-ns");
}

TEST(what_other_threads_fetch_or_train_is_not_of_this_loop)
{
	CHECK_PLAY("B.B.B.-nsB-nsB-nsB-ns", "0:B.B.B.-ns 1:B-ns 2:B-ns 3:B-ns");
	CHECK_PLAY("b-nsb-nSsb-ns", "0:b-ns 1:b-nSs 2:b-ns");
}

static enum torchsteps_what what_of(struct torchsteps *r, enum torchsteps_event event, int64_t time)
{
	return torchsteps_feed(r, event, &(struct torchsteps_place){ time, time, 1 }).what;
}

TEST(a_loader_in_a_loader_is_one_batch)
{
	struct torchsteps r = { 0 };

	CHECK_EQ(what_of(&r, TORCHSTEPS_BATCH, 1), TORCHSTEPS_FIRST);
	CHECK_EQ(what_of(&r, TORCHSTEPS_BATCH, 2), TORCHSTEPS_NONE);
	CHECK_EQ(what_of(&r, TORCHSTEPS_FETCHED, 3), TORCHSTEPS_NONE);
	CHECK_EQ(what_of(&r, TORCHSTEPS_FETCHED, 4), TORCHSTEPS_NONE);
	CHECK_EQ(what_of(&r, TORCHSTEPS_BATCH, 5 * MS), TORCHSTEPS_NEXT);
}

TEST(an_optimizer_that_was_stepping_when_all_began_has_ended_no_step)
{
	struct torchsteps r = { 0 };

	CHECK_EQ(what_of(&r, TORCHSTEPS_STEPPED, 1), TORCHSTEPS_FIRST);
	CHECK_EQ(what_of(&r, TORCHSTEPS_NODE, 2), TORCHSTEPS_NONE);
	CHECK_EQ(what_of(&r, TORCHSTEPS_STEPPED, 3), TORCHSTEPS_NEXT);
}

TEST(times_of_a_damaged_trace_may_be_any)
{
	static const int64_t times[] = { INT64_MIN, -1, INT64_MAX, INT64_MIN, INT64_MAX, 0 };
	struct torchsteps rule = { 0 };

	/* A build with sanitizers says so where a difference does not fit. */
	for (size_t i = 0; i < 4 * sizeof times / sizeof *times; i++) {
		const int64_t time = times[i % (sizeof times / sizeof *times)];

		torchsteps_feed(&rule, i % 2 ? TORCHSTEPS_FETCHED : TORCHSTEPS_BATCH, &(struct torchsteps_place){ time, time, 1 });
	}
	CHECK(rule.batches <= TORCHSTEPS_BATCHES);
}
