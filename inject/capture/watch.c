#include "inject/capture/watch.h"

#include <stdio.h>
#include <string.h>

#include "inject/core/intern.h"
#include "inject/ranges/names.h"
#include "trace/rules/glob.h"

#define NONMATCHING 1024u       /* a power of two */

/* Of one process: a forked child sees another epoch.  The patterns point into guest->config. */
static struct {
	uint32_t epoch;
	unsigned n;
	bool capture;
	bool stacks;
	struct glob_range range;                /* of --nvtx-capture */
	struct glob_range traced;               /* of --nvtx-backtrace */
	struct glob_range steps[CAPTURE_KINDS];
	bool by_name[CAPTURE_KINDS];
	uint64_t nonmatching[NONMATCHING];      /* domain << 32 | string id of names that match nothing; 0: empty */
} watch;

static void add_kind(struct stream *s, struct watched_kind *kind, unsigned i, const char *name, size_t name_n,
		     const char *how, size_t how_n)
{
	*kind = (struct watched_kind){ .name = name_n ? intern_bytes(s, name, name_n) : 0 };
	watch.by_name[i] = false;
	if (how_n > 5 && memcmp(how, "nvtx:", 5) == 0 && glob_range_parse(&watch.steps[i], how + 5, how_n - 5) == 0) {
		kind->source = STEPS_NVTX;
		watch.by_name[i] = true;
	} else if (how_n == 8 && memcmp(how, "profiler", 8) == 0) {
		kind->source = STEPS_PROFILER;
	} else if (how_n == 5 && memcmp(how, "torch", 5) == 0) {
		kind->source = STEPS_TORCH;
	} else {
		kind->source = STEPS_AUTO;
	}
}

unsigned watch_init(struct stream *s, struct watched_kind kinds[CAPTURE_KINDS], bool *any)
{
	const struct config *c = &guest->config;
	const char *end;

	memset(&watch, 0, sizeof watch);
	watch.epoch = guest->epoch;
	if (c->capture_range == RANGE_NVTX && c->nvtx_capture[0])
		watch.capture = glob_range_parse(&watch.range, c->nvtx_capture, strlen(c->nvtx_capture)) == 0;
	if (c->nvtx_backtrace[0])
		watch.stacks = glob_range_parse(&watch.traced, c->nvtx_backtrace, strlen(c->nvtx_backtrace)) == 0;
	*any = watch.capture || watch.stacks;
	/* One setting per line, "kind=how"; the kind may be empty. */
	for (const char *p = c->steps; *p && watch.n < CAPTURE_KINDS; p = *end ? end + 1 : end) {
		const char *is = strchr(p, '=');

		end = strchrnul(p, '\n');
		if (!is || is > end)
			continue;
		add_kind(s, &kinds[watch.n], watch.n, p, (size_t)(is - p), is + 1, (size_t)(end - is - 1));
		*any |= watch.by_name[watch.n];
		watch.n++;
	}
	return watch.n;
}

static void remember_other(const char *text, size_t n)
{
	struct arena *a = guest->arena;
	size_t used = strnlen(a->names_other, sizeof a->names_other);

	/* Whole names only.  Two threads at the same time may garble each other's name. */
	if (used + n + 3 < sizeof a->names_other) {
		if (used)
			used += (size_t)snprintf(a->names_other + used, 3, ", ");
		memcpy(a->names_other + used, text, n);
		a->names_other[used + n] = '\0';
	}
}

uint32_t watch_name(uint32_t id, const char *text, size_t n, const void *domain)
{
	uint64_t key = (uint64_t)(uint32_t)(uintptr_t)domain << 32 | id, *nonmatching;
	const char *in = NULL;
	uint32_t found = 0;
	size_t in_n = 0;

	if (watch.epoch != guest->epoch || !id)
		return 0;
	nonmatching = &watch.nonmatching[(key ^ key >> 27) % NONMATCHING];
	/* When strings share names, one id stands for many texts: do not use this cache. */
	if (__atomic_load_n(nonmatching, __ATOMIC_RELAXED) == key && !guest->arena->health[HEALTH_strings_full].count)
		return 0;
	if (domain)
		in = names_domain_text(domain, &in_n);
	if (watch.capture && glob_range_match(&watch.range, text, n, in, in_n))
		found |= WATCHED_CAPTURE;
	if (watch.stacks && glob_range_match(&watch.traced, text, n, in, in_n))
		found |= WATCHED_STACK;
	for (unsigned i = 0; i < watch.n; i++)
		if (watch.by_name[i] && glob_range_match(&watch.steps[i], text, n, in, in_n))
			found |= 1u << i;
	if (found) {
		__atomic_fetch_or(&guest->arena->names_seen, found, __ATOMIC_RELAXED);
		return found;
	}
	remember_other(text, n);
	__atomic_store_n(nonmatching, key, __ATOMIC_RELAXED);
	return 0;
}
