#include "cli/input/selection_options.h"

#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/ui/fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIND_LENGTH 64u

/* Reads a number of `length` digits; none leaves *n unchanged.  False: another character, or too large. */
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

/* "3", "3:5", "3:", ":5", ":", "train=3:5".  A kind may contain '=': it ends at the last one. */
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

/* ---- errors that name what the trace has ---- */

/* "0 to 59", "train=0 to 99, val=0 to 19" */
static void steps_there(struct model *m, const struct steps *s, const struct selection *wanted, char *text, size_t size)
{
	uint32_t window = wanted->window;
	size_t at = 0;

	*text = '\0';
	for (size_t k = 0; k < s->n_kinds && at < size; k++) {
		uint32_t low = UINT32_MAX, high = 0;

		for (size_t i = s->kinds[k].first; i < s->kinds[k].first + s->kinds[k].n; i++) {
			if ((window && s->list[i].window != window) || (wanted->processes && !wanted->processes[s->list[i].process]))
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

static void no_step(struct model *m, const struct steps *s, const struct selection_options *p, const struct selection *wanted)
{
	char there[300];

	steps_there(m, s, wanted, there, sizeof there);
	if (!s->n)
		fail("'%s' has no steps: %s", model_path(m),
		     s->asked ? "no range, mark or call matched --step or --schedule of gprof-run"
			      : "no range or mark is named like a step, and no launches repeat regularly");
	else if (!*there)
		fail("'%s' has no step%s%s; gprof-trace report -r steps --all-steps lists them", model_path(m),
		     wanted->window ? " in that window" : "", p->process ? " of that process" : "");
	else
		fail("'%s' has no step %s%s%s; it has %s", model_path(m), p->step, wanted->window ? " in that window" : "",
		     p->process ? " of that process" : "", there);
}

static int no_window(struct model *m, const struct steps *s, uint32_t number)
{
	uint32_t most = 1;

	for (size_t i = 0; i < s->n_windows; i++)
		most = s->windows[i].number > most ? s->windows[i].number : most;
	if (s->windowed && !s->n_windows)
		fail("'%s' has no window %u: no window began, and nothing was recorded", model_path(m), number);
	else if (most > 1)
		fail("'%s' has no window %u; it has 1 to %u", model_path(m), number, most);
	else
		fail("'%s' has no window %u, only window 1", model_path(m), number);
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

/* ---- processes ---- */

/* Reads the next number of a list such as "3,5" and moves *list after it.  False: not a number. */
static bool next_process(const char **list, uint32_t *n)
{
	size_t length = strcspn(*list, ",");
	const char *text = *list;

	*list += length + (text[length] == ',');
	return length && (!text[length] || **list) && number(text, length, n);
}

/*
 * By process: whether the list selects it, or selects the process that became it by exec.  The caller frees the array.  NULL
 * after an error message, with the exit status in *status.
 */
static bool *parse_processes(const char *list, struct model *m, int *status)
{
	bool *wanted;
	uint32_t n = 0, at;
	const struct process *all = model_processes(m, &n);

	wanted = calloc(n + 1, sizeof *wanted);
	*status = EXIT_FAILED;
	if (!wanted) {
		fail("out of memory");
		return NULL;
	}
	for (const char *rest = list; rest == list || *rest;) {
		if (!next_process(&rest, &n)) {
			fail("--process needs process numbers such as 3 or 3,5, not '%s'; 'report -r processes' shows them", list);
			*status = EXIT_USAGE;
		} else if (!(at = model_process_at(m, n)) || all[at].before) {
			fail("'%s' has no process number %u; gprof-trace report -r processes lists them", model_path(m), n);
		} else {
			for (; at; at = all[at].after)
				wanted[at] = true;
			continue;
		}
		free(wanted);
		return NULL;
	}
	return wanted;
}

uint32_t selection_options_process(const struct selection_options *p, const struct model *m)
{
	uint32_t n = 0;

	return p->process && number(p->process, strlen(p->process), &n) && *p->process ? model_process_at(m, n) : 0;
}

/* ---- description ---- */

static size_t step_words(const struct selection *s, char *text, size_t size)
{
	char kind[KIND_LENGTH + 16] = "";
	int n;

	if (s->kind)
		snprintf(kind, sizeof kind, " of kind %s", s->kind);
	if (s->first == s->last)
		n = snprintf(text, size, "step %u%s", s->first, kind);
	else if (s->last == UINT32_MAX && !s->first)
		n = snprintf(text, size, "all steps%s", kind);
	else if (s->last == UINT32_MAX)
		n = snprintf(text, size, "steps from %u on%s", s->first, kind);
	else
		n = snprintf(text, size, "steps %u to %u%s", s->first, s->last, kind);
	return (size_t)n < size ? (size_t)n : size - 1;
}

const char *selection_options_words(const struct selection_options *p, char *text, size_t size)
{
	struct selection s = { 0 };
	char kind[KIND_LENGTH];
	size_t at = 0;

	*text = '\0';
	if (p->step && parse_steps(p->step, &s, kind))
		at = step_words(&s, text, size);
	if (p->window && at < size)
		at += (size_t)snprintf(text + at, size - at, "%swindow %s", at ? " in " : "", p->window);
	if (p->process && at < size)
		snprintf(text + at, size - at, "%sprocess%s %s", at ? " of " : "", strchr(p->process, ',') ? "es" : "", p->process);
	return text;
}

/* ---- selection ---- */

const char *selection_options_given(const struct selection_options *p)
{
	return p->step ? "--step" : p->window ? "--window" : p->process ? "--process" : NULL;
}

/* Parses --step and --window, which needs no trace.  0, or EXIT_USAGE after an error message. */
static int parse(const struct selection_options *p, struct selection *s, char kind[KIND_LENGTH])
{
	if (p->step && !parse_steps(p->step, s, kind)) {
		fail("--step needs step numbers such as 5, 2:9, 2: or train=2:9, not '%s'", p->step);
		return EXIT_USAGE;
	}
	if (p->window && (!*p->window || !number(p->window, strlen(p->window), &s->window))) {
		fail("--window needs a window number such as 2, not '%s'; 'report -r windows' shows them", p->window);
		return EXIT_USAGE;
	}
	if (s->first > s->last) {
		fail("--step %s is empty: it ends before it begins", p->step);
		return EXIT_USAGE;
	}
	return 0;
}

static int apply(const struct selection_options *p, struct model *m, const struct selection *s)
{
	const struct steps *steps = model_steps(m);
	int rc = steps ? 0 : -1;

	if (rc == 0 && p->window && !window_there(m, steps, s->window))
		return no_window(m, steps, s->window);
	if (rc == 0)
		rc = model_select(m, s);
	if (rc < 0)
		fail("out of memory");
	else if (rc && !p->step)
		fail("'%s' has no window %u of process %s", model_path(m), s->window, p->process);
	else if (rc)
		no_step(m, steps, p, s);
	return rc ? EXIT_FAILED : 0;
}

int selection_options_apply(const struct selection_options *p, struct model *m)
{
	struct selection s = { 0 };
	char kind[KIND_LENGTH];
	bool *processes = NULL;
	int rc = parse(p, &s, kind);

	if (rc || !selection_options_given(p))
		return rc;
	if (p->process && !(processes = parse_processes(p->process, m, &rc)))
		return rc;
	s.processes = processes;
	rc = apply(p, m, &s);
	free(processes);
	return rc;
}
