#include "cli/pick.h"

#include "cli/fail.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIND_LENGTH 64u

/* Digits up to the end; "" leaves *n as it is.  False: something else. */
static bool number(const char *text, size_t length, uint32_t *n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(text[i] - '0');
		if (v > UINT32_MAX)
			return false;
	}
	if (length)
		*n = (uint32_t)v;
	return true;
}

/* "3", "3:5", "3:", ":5", ":", "train=3:5".  A kind may have any character: the last '=' counts. */
static bool parse_steps(const char *text, struct selection *s, char kind[KIND_LENGTH])
{
	const char *equals = strrchr(text, '='), *from = equals ? equals + 1 : text, *colon = strchr(from, ':');

	s->steps = true;
	s->first = 0;
	s->last = UINT32_MAX;
	if (equals) {
		if (equals == text || (size_t)(equals - text) >= KIND_LENGTH)
			return false;
		memcpy(kind, text, (size_t)(equals - text));
		kind[equals - text] = '\0';
		s->kind = kind;
	}
	if (!*from)
		return false;
	if (!colon)
		return number(from, strlen(from), &s->first) && number(from, strlen(from), &s->last);
	return number(from, (size_t)(colon - from), &s->first) && number(colon + 1, strlen(colon + 1), &s->last);
}

/* ---- what there is instead ---- */

/* "0 to 59", "train 0 to 99, val 0 to 19" */
static void steps_there(struct model *m, const struct steps *s, uint32_t window, char *text, size_t size)
{
	size_t at = 0;

	*text = '\0';
	for (size_t k = 0; k < s->n_kinds && at < size; k++) {
		uint32_t low = UINT32_MAX, high = 0;

		for (size_t i = s->kinds[k].first; i < s->kinds[k].first + s->kinds[k].n; i++) {
			if (window && s->list[i].window != window)
				continue;
			low = s->list[i].number < low ? s->list[i].number : low;
			high = s->list[i].number > high ? s->list[i].number : high;
		}
		if (low <= high)
			at += (size_t)snprintf(text + at, size - at, "%s%s%s%u to %u", at ? ", " : "",
					       s->kinds[k].name == STRING_NONE ? "" : model_string(m, s->kinds[k].name),
					       s->kinds[k].name == STRING_NONE ? "" : "=", low, high);
	}
}

static int no_step(struct model *m, const struct steps *s, const struct pick *p, const struct selection *wanted)
{
	char there[300];

	steps_there(m, s, wanted->window, there, sizeof there);
	if (!s->n)
		fail("'%s' has no steps: %s", model_path(m),
		     s->asked ? "none of those that --step and --schedule named came"
			      : "no range or mark has the name of one, and nothing repeats clearly");
	else if (!*there)
		fail("'%s' has no step in window %u; gprof-trace report -r steps --all-steps lists them", model_path(m),
		     wanted->window);
	else
		fail("'%s' has no step %s%s; it has %s", model_path(m), p->step,
		     wanted->window ? " in that window" : "", there);
	return EXIT_FAILED;
}

static int no_window(struct model *m, const struct steps *s, uint32_t number)
{
	uint32_t most = 1;

	for (size_t i = 0; i < s->n_windows; i++)
		most = s->windows[i].number > most ? s->windows[i].number : most;
	if (s->windowed && !s->n_windows)
		fail("'%s' has no window %u: none began, and nothing was recorded", model_path(m), number);
	else if (most > 1)
		fail("'%s' has no window %u; it has 1 to %u", model_path(m), number, most);
	else
		fail("'%s' has no window %u; it has window 1 alone", model_path(m), number);
	return EXIT_FAILED;
}

static bool window_there(struct model *m, const struct steps *s, uint32_t number)
{
	uint32_t n;

	for (size_t i = 0; i < s->n_windows; i++)
		if (s->windows[i].number == number)
			return true;
	model_processes(m, &n);
	for (uint32_t p = 1; p < n && number == 1; p++)
		if (steps_recorded_whole(s, p))
			return true;
	return false;
}

int pick_apply(const struct pick *p, struct model *m)
{
	struct selection s = { 0 };
	char kind[KIND_LENGTH];
	const struct steps *steps;
	int rc;

	if (!p->step && !p->window)
		return 0;
	if (p->step && !parse_steps(p->step, &s, kind)) {
		fail("--step needs numbers of steps, as 5, 2:9, 2: or train=2:9, not '%s'", p->step);
		return EXIT_USAGE;
	}
	if (p->window && (!*p->window || !number(p->window, strlen(p->window), &s.window))) {
		fail("--window needs the number of a window, as 'report -r windows' shows them, not '%s'", p->window);
		return EXIT_USAGE;
	}
	if (s.first > s.last) {
		fail("--step %s is empty: it ends before it begins", p->step);
		return EXIT_USAGE;
	}
	steps = model_steps(m);
	if (!steps) {
		fail("out of memory");
		return EXIT_FAILED;
	}
	if (p->window && !window_there(m, steps, s.window))
		return no_window(m, steps, s.window);
	rc = model_select(m, &s);
	if (rc < 0) {
		fail("out of memory");
		return EXIT_FAILED;
	}
	return rc ? no_step(m, steps, p, &s) : 0;
}
