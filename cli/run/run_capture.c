/* Options about when rows are recorded: capture ranges, steps, schedules.  Options that nsys has too have nsys's meaning. */
#include "cli/run/run_capture.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/ui/fail.h"
#include "cli/ui/options.h"
#include "trace/rules/glob.h"
#include "trace/rules/schedule.h"

/* Values of the settings capture_range and range_end (trace/config.def). */
enum { RANGE_NONE, RANGE_PROFILER, RANGE_NVTX };
enum { END_NONE, END_STOP, END_STOP_SHUTDOWN, END_REPEAT, END_REPEAT_SHUTDOWN };

static int set_text(const struct opt *o, char *setting, const char *value)
{
	if (strlen(value) >= CONFIG_TEXT)
		return fail("--%s: '%.40s...' is longer than %d bytes", o->name, value, CONFIG_TEXT - 1);
	strcpy(setting, value);
	return 0;
}

int opt_capture_range(const struct opt *o, const char *value)
{
	struct capture_wish *w = o->where;

	if (strcasecmp(value, "none") == 0)
		w->range = RANGE_NONE;
	else if (strcasecmp(value, "cudaProfilerApi") == 0)
		w->range = RANGE_PROFILER;
	else if (strcasecmp(value, "nvtx") == 0)
		w->range = RANGE_NVTX;
	else if (strcasecmp(value, "hotkey") == 0)
		return fail("--%s=hotkey: hotkeys are not supported; use --capture-signal or gprof-ctl", o->name);
	else
		return fail("--%s must be none, cudaProfilerApi or nvtx, not '%s'", o->name, value);
	w->range_said = true;
	return 0;
}

/* Parses what follows "repeat": "" or ":3".  nsys's :defer, :sync and :async apply to its report files and are ignored. */
static int repeats_of(const struct opt *o, const char *value, const char *behind, uint64_t *repeats)
{
	char *end = (char *)behind;

	*repeats = 0;
	if (*behind == ':' && isdigit((unsigned char)behind[1])) {
		*repeats = strtoull(behind + 1, &end, 10);
		if (!*repeats || *repeats > UINT32_MAX)
			return fail("--%s=%s: the number of ranges is from 1 to %u", o->name, value, UINT32_MAX);
	}
	if (*end && strcmp(end, ":defer") != 0 && strcmp(end, ":sync") != 0 && strcmp(end, ":async") != 0)
		return fail("--%s: unknown word '%s'; example: repeat:3", o->name, value);
	return 0;
}

int opt_capture_range_end(const struct opt *o, const char *value)
{
	struct capture_wish *w = o->where;

	w->end_said = true;
	w->repeats = 0;
	if (strcmp(value, "none") == 0)
		w->end = END_NONE;
	else if (strcmp(value, "stop") == 0)
		w->end = END_STOP;
	else if (strcmp(value, "stop-shutdown") == 0)
		w->end = END_STOP_SHUTDOWN;
	else if (strncmp(value, "repeat-shutdown:", 16) == 0 && isdigit((unsigned char)value[16]))
		return w->end = END_REPEAT_SHUTDOWN, repeats_of(o, value, value + 15, &w->repeats);
	else if (strncmp(value, "repeat", 6) == 0 && (!value[6] || value[6] == ':'))
		return w->end = END_REPEAT, repeats_of(o, value, value + 6, &w->repeats);
	else
		return fail("--%s must be none, stop, stop-shutdown, repeat[:N] or repeat-shutdown:N, not '%s'", o->name, value);
	return 0;
}

int opt_stop_on_range_end(const struct opt *o, const char *value)
{
	struct capture_wish *w = o->where;
	int yes = value ? opt_bool_word(value) : 1;

	if (yes < 0)
		return fail("--%s must be true or false, not '%s'", o->name, value);
	w->end = yes ? END_STOP_SHUTDOWN : END_NONE;
	w->end_said = true;
	w->repeats = 0;
	return 0;
}

int opt_nvtx_capture(const struct opt *o, const char *value)
{
	struct capture_wish *w = o->where;
	struct glob_range g;

	if (glob_range_parse(&g, value, strlen(value)) < 0)
		return fail("--%s needs a range, range@domain or range@*, not '%s'", o->name, value);
	return set_text(o, w->nvtx, value);
}

/* ---- steps ---- */

static bool is_kind(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_' && s[i] != '-')
			return false;
	return true;
}

/* Domain of record_function() scopes (inject/torch/torch.c). */
#define SCOPES "@PyTorch"

/* Length of KIND in "KIND=HOW"; 0: none.  A '=' can also belong to a GLOB in HOW. */
static size_t kind_length(const char *value)
{
	const char *is = strchr(value, '=');

	return is && is > value && is_kind(value, (size_t)(is - value)) ? (size_t)(is - value) : 0;
}

static bool has_kind(const char *steps, const char *kind, size_t n)
{
	for (const char *p = steps; *p; p += strcspn(p, "\n"), p += *p == '\n')
		if (strncmp(p, kind, n) == 0 && p[n] == '=')
			return true;
	return false;
}

int opt_step(const struct opt *o, const char *value)
{
	struct capture_wish *w = o->where;
	size_t n = kind_length(value), used = strlen(w->steps);
	const char *how = value + n + (n > 0), *word = how;
	char scopes[CONFIG_TEXT];
	struct glob_range g;

	if (strcasecmp(value, "none") == 0) {
		w->steps[0] = '\0';
		w->steps_none = true;
		return 0;
	}
	if (strcasecmp(how, "cudaProfilerApi") == 0)
		word = "profiler";
	else if (strncmp(how, "nvtx:", 5) == 0 && strchr(how, '\n') == NULL && glob_range_parse(&g, how + 5, strlen(how + 5)) == 0)
		w->nvtx_needed = true;
	else if (strncmp(how, "torch:", 6) == 0 && how[6] && strchr(how, '\n') == NULL && strlen(how) + sizeof SCOPES < sizeof scopes) {
		snprintf(scopes, sizeof scopes, "nvtx:%s" SCOPES, how + 6);
		word = scopes;
		w->torch_needed = true;
	} else if (strcmp(how, "torch") == 0)
		w->torch_needed = true;
	else if (strcmp(how, "auto") != 0)
		return fail("--%s must be [KIND=]nvtx:GLOB[@domain], [KIND=]torch:GLOB, [KIND=]cudaProfilerApi, torch, auto or none, "
			    "not '%s'", o->name, value);
	if (has_kind(w->steps, value, n))
		return fail(n ? "--%s: two sources for the steps of '%.*s'" :
				"--%s: several sources need a kind each, for example train=nvtx:train_*", o->name, (int)n, value);
	if (++w->n_steps > 16)
		return fail("--%s: more than 16 kinds of steps", o->name);
	w->steps_none = false;
	if (used + n + strlen(word) + 3 > sizeof w->steps)
		return fail("--%s: all steps together are longer than %zu bytes", o->name, sizeof w->steps);
	snprintf(w->steps + used, sizeof w->steps - used, "%s%.*s=%s", used ? "\n" : "", (int)n, value, word);
	return 0;
}

int opt_schedule(const struct opt *o, const char *value)
{
	struct capture_wish *w = o->where;
	struct schedule s;
	char why[160];

	if (schedule_parse(&s, value, why, sizeof why) < 0)
		return fail("--%s: %s", o->name, why);
	return set_text(o, w->schedule, value);
}

/* ---- settings ---- */

static int settle_range(struct config *c, struct capture_wish *w)
{
	if (w->nvtx[0] && !w->range_said)
		w->range = RANGE_NVTX;
	if (w->range == RANGE_NVTX && !w->nvtx[0])
		return fail("--capture-range=nvtx needs the range, for example: -p train@my_domain");
	c->capture_range = w->range;
	c->range_end = w->range == RANGE_NONE ? END_NONE : w->end_said ? w->end : END_STOP_SHUTDOWN;
	c->range_repeats = w->repeats;
	if (w->range == RANGE_NVTX)
		strcpy(c->nvtx_capture, w->nvtx);
	if (w->range == RANGE_PROFILER && !c->trace_cuda)
		return fail("--capture-range=cudaProfilerApi needs -t cuda");
	return 0;
}

int capture_settle(struct config *c, struct capture_wish *w)
{
	if (settle_range(c, w) < 0)
		return -1;
	if (w->schedule[0] && w->steps_none)
		return fail("--schedule needs steps, but --step=none was given");
	strcpy(c->schedule, w->schedule);
	strcpy(c->steps, w->schedule[0] && !w->steps[0] ? "=auto" : w->steps);
	if (strstr(c->steps, "=profiler") && !c->trace_cuda)
		return fail("--step=cudaProfilerApi needs -t cuda");
	if (strstr(c->steps, "=auto") && !c->trace_cuda && !c->trace_torch)
		return fail("--step=auto needs -t cuda or -t torch: it finds steps in CUDA launches or PyTorch's scopes");
	/* Ranges and steps are found only if NVTX or PyTorch is recorded. */
	if (w->range == RANGE_NVTX || w->nvtx_needed)
		c->trace_nvtx = 1;
	if (w->torch_needed && !c->trace_torch)
		c->trace_torch = 1;
	return 0;
}
