#include "cli/report/job/ranks.h"

#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/ui/json_out.h"

#include <stdio.h>
#include <stdlib.h>

static int judge(const struct matched *m, struct late_rank **waits, struct late_verdict *v)
{
	const struct late_input in = { .ranks = m->ranks, .collectives = m->n, .durations = m->durations, .steps = m->steps };

	*waits = calloc(m->ranks + 1, sizeof **waits);
	return *waits ? late_judge(&in, *waits, v) : -1;
}

int ranks_judge(struct ranks_judged *j, struct model *m, const struct report_choice *choice)
{
	*j = (struct ranks_judged){ 0 };
	if (ranks_begin(&j->ranks, m, choice) < 0 || ranks_collectives(&j->ranks) < 0 ||
	    collectives_match(j->ranks.collectives, j->ranks.job.n, COLLECTIVE_ALL, &j->all) < 0 ||
	    collectives_match(j->ranks.collectives, j->ranks.job.n, COLLECTIVE_ROOTED, &j->rooted) < 0 ||
	    judge(&j->all, &j->waits, &j->verdict) < 0 || judge(&j->rooted, &j->rooted_waits, &j->rooted_verdict) < 0)
		return -1;
	return 0;
}

void ranks_judged_release(struct ranks_judged *j)
{
	matched_release(&j->all);
	matched_release(&j->rooted);
	free(j->waits);
	free(j->rooted_waits);
	ranks_release(&j->ranks);
}

/* ---- in words ---- */

static long long number(const struct ranks_judged *j, size_t rank)
{
	return (long long)j->ranks.job.list[rank].number;
}

static const char *span_words(const struct late_verdict *v, char text[40])
{
	if (!v->steps)
		return "whole trace";
	snprintf(text, 40, v->steps == 1 ? "one step" : "%s of %zu steps", v->steps >= LATE_STEPS ? "median" : "mean", v->steps);
	return text;
}

static const char *noise_words(const struct late_verdict *v, char text[64])
{
	char noise[32];

	snprintf(text, 64, "noise between %s %s", v->between == NOISE_STEPS ? "steps" : "collectives", text_time(noise, v->noise));
	return text;
}

static void put_named(const struct ranks_judged *j, const struct late_verdict *v, char text[RANKS_SENTENCE])
{
	char wait[32], least[32], most[32], others[80], margin[32], noise[64], span[40];

	text_time(least, v->least);
	text_time(most, v->most);
	snprintf(others, sizeof others, v->least == v->most ? "the other rank %s" : "the other ranks %s to %s", least, most);
	snprintf(text, RANKS_SENTENCE, "rank %lld arrives last: it waits %s in collectives%s, %s (%s; difference at least %s, %s)",
		 number(j, v->late), text_time(wait, v->wait), v->steps ? " per step" : "", others, span_words(v, span),
		 text_time(margin, v->margin), noise_words(v, noise));
}

static void put_nobody(const struct ranks_judged *j, const struct late_verdict *v, char text[RANKS_SENTENCE])
{
	char margin[32], noise[64];

	if (v->margin <= 0)
		snprintf(text, RANKS_SENTENCE, "no rank is late: none waits less in collectives than every other rank");
	else
		snprintf(text, RANKS_SENTENCE, "no rank is late beyond the noise: rank %lld waits least in collectives, %s less than rank %lld (%s)",
			 number(j, v->late), text_time(margin, v->margin), number(j, v->against), noise_words(v, noise));
}

/* Why the collectives of the ranks could not be matched. */
static void put_unmatched(const struct ranks_judged *j, const struct matched *m, char text[RANKS_SENTENCE])
{
	char apart[32];

	if (m->answer == MATCH_NONE)
		snprintf(text, RANKS_SENTENCE, "no rank is judged: there are no kernels of collectives%s",
			 j->rooted.answer == MATCH_NONE ? "" : " in which all ranks wait for each other");
	else if (m->answer == MATCH_COUNTS)
		snprintf(text, RANKS_SENTENCE, "no rank is judged: collectives have no sequence numbers, and rank %lld has %zu %s, rank %lld %zu",
			 number(j, m->rank[0]), m->count[0], m->op->word, number(j, m->rank[1]), m->count[1]);
	else
		snprintf(text, RANKS_SENTENCE, "no rank is judged: collectives have no sequence numbers, and by their order they do not match: %s of rank %lld ended %s before that of rank %lld began",
			 m->op->word, number(j, m->rank[0]), text_time(apart, m->apart), number(j, m->rank[1]));
}

bool ranks_sentence(const struct ranks_judged *j, char text[RANKS_SENTENCE])
{
	const struct late_verdict *v = &j->verdict;

	if (j->ranks.job.n < 2)
		snprintf(text, RANKS_SENTENCE, j->ranks.job.n ?
			 "no rank is judged: give the traces of several ranks" : "no process is a rank: none used CUDA");
	else if (ranks_twice(&j->ranks) >= 0)
		snprintf(text, RANKS_SENTENCE, "no rank is judged: rank %lld occurs twice; give the traces of one run",
			 (long long)ranks_twice(&j->ranks));
	else if (j->all.answer != MATCHED)
		put_unmatched(j, &j->all, text);
	else if (v->answer == LATE_ALONE)
		snprintf(text, RANKS_SENTENCE, "no rank is judged: no two ranks have a collective in common");
	else if (v->answer == LATE_UNEQUAL)
		snprintf(text, RANKS_SENTENCE, "no rank is judged: ranks take part in different numbers of collectives");
	else if (v->answer == LATE_FEW)
		snprintf(text, RANKS_SENTENCE, "no rank is judged: too few collectives (%zu) and steps (%zu) to tell noise from lateness", v->collectives, v->steps);
	else if (v->answer == LATE_NOBODY)
		put_nobody(j, v, text);
	else
		put_named(j, v, text);
	return j->ranks.job.n > 1 && ranks_twice(&j->ranks) < 0 && j->all.answer == MATCHED && v->answer == LATE_NAMED;
}

#define MANY_ROWS 2000000u      /* rows of one kind; reading more takes longer than about a second */

int ranks_line(struct model *m, char text[RANKS_SENTENCE])
{
	static const unsigned kinds[] = { ROW_kernel, ROW_api, ROW_range, ROW_imported_arg };
	const struct report_choice all = { 0 };
	struct ranks_judged j = { 0 };
	bool few = true;
	int rc;

	*text = '\0';
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		few &= model_rows(m, kinds[i]) < MANY_ROWS;
	rc = ranks_begin(&j.ranks, m, &all);
	few &= j.ranks.job.n > 1 && model_steps_cheaply(m) != NULL;
	ranks_release(&j.ranks);
	if (rc < 0 || !few)
		return rc;
	rc = ranks_judge(&j, m, &all);
	if (rc == 0 && !ranks_sentence(&j, text))
		*text = '\0';
	ranks_judged_release(&j);
	return rc;
}
