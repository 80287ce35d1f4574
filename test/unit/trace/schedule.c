#include "trace/rules/schedule.h"

#include <stdio.h>
#include <string.h>

#include "test/unit/test.h"

static struct schedule parsed(const char *text)
{
	struct schedule s = { 0 };
	char why[256] = "";

	if (!CHECK_EQ(schedule_parse(&s, text, why, sizeof why), 0))
		printf("  %s\n", why);
	return s;
}

/* The actions of the first steps, a letter each: - nothing, w warm-up, r record, S record and save. */
static const char *actions(const char *text, unsigned n)
{
	static char out[256];
	struct schedule s = parsed(text);

	for (unsigned i = 0; i < n; i++)
		out[i] = "-wrS"[schedule_action(&s, i)];
	out[n] = '\0';
	return out;
}

TEST(a_schedule_repeats_its_cycle_for_ever)
{
	CHECK_STR(actions("wait=2,warmup=1,active=3", 14), "--wrrS--wrrS--");
	CHECK_STR(actions("active=1", 4), "SSSS");
	CHECK_STR(actions("active=2", 4), "rSrS");
}

TEST(a_schedule_ends_after_its_cycles)
{
	CHECK_STR(actions("wait=1,warmup=1,active=2,repeat=2", 12), "-wrS-wrS----");
	CHECK_STR(actions("skip_first=3,wait=1,warmup=1,active=1,repeat=1", 9), "----wS---");
}

TEST(a_schedule_can_leave_out_the_first_wait)
{
	CHECK_STR(actions("skip_first=2,wait=3,warmup=1,active=1,repeat=2,skip_first_wait=1", 12), "--wS---wS---");
	CHECK_STR(actions("skip_first_wait=7,wait=2,active=1", 5), "S--S-");
}

TEST(the_words_of_a_schedule_come_in_any_order)
{
	struct schedule s = parsed("active=5,repeat=6,skip_first_wait=1,wait=3,skip_first=2,warmup=4");

	CHECK_EQ(s.skip_first, 2);
	CHECK_EQ(s.wait, 3);
	CHECK_EQ(s.warmup, 4);
	CHECK_EQ(s.active, 5);
	CHECK_EQ(s.repeat, 6);
	CHECK_EQ(s.skip_first_wait, 1);
}

/* What is said about it has `word` in it; what was there before stays. */
static void refused(const char *text, const char *word)
{
	struct schedule s = { .active = 77 };
	char why[256] = "";

	CHECK_EQ(schedule_parse(&s, text, why, sizeof why), -1);
	CHECK_EQ(s.active, 77);
	if (!CHECK(strstr(why, word)))
		printf("  '%s': %s\n", text, why);
}

TEST(a_schedule_that_cannot_be_is_refused_with_a_reason)
{
	refused("", "has no ''");
	refused("wait=1", "needs 'active=N'");
	refused("active=0", "'active' of a schedule needs a whole number from 1");
	refused("active=-1", "not '-1'");
	refused("active=+1", "not '+1'");
	refused("active=", "not ''");
	refused("active", "not ''");
	refused("active=1o", "not '1o'");
	refused("active=1.5", "not '1.5'");
	refused("active=0x2", "not '0x2'");
	refused("active=1,wait=-3", "'wait' of a schedule needs a whole number from 0");
	refused("active=1,", "has no ''");
	refused(",active=1", "has no ''");
	refused("active=1, wait=2", "has no ' wait=2'");
	refused("active=1,ACTIVE=2", "has no 'ACTIVE=2'");
	refused("active=1,warm_up=2", "has no 'warm_up=2'");
	refused("active=1,wait=1,wait=1", "'wait' twice");
	refused("active=1000000000001", "to 1000000000000");
	refused("active=99999999999999999999999999999999", "to 1000000000000");
	refused("active=1;wait=2", "not '1;wait=2'");
}

TEST(the_largest_schedule_does_not_overflow)
{
	struct schedule s = parsed("skip_first=1000000000000,wait=1000000000000,warmup=1000000000000,active=1000000000000,"
				   "repeat=1000000000000");

	CHECK_EQ(schedule_action(&s, SCHEDULE_MAX - 1), SCHEDULE_NONE);
	CHECK_EQ(schedule_action(&s, 2 * SCHEDULE_MAX), SCHEDULE_WARMUP);
	CHECK_EQ(schedule_action(&s, 4 * SCHEDULE_MAX - 1), SCHEDULE_RECORD_AND_SAVE);
	CHECK_EQ(schedule_action(&s, 4 * SCHEDULE_MAX), SCHEDULE_NONE);
	CHECK_EQ(schedule_action(&s, 3 * SCHEDULE_MAX), SCHEDULE_RECORD);
}
