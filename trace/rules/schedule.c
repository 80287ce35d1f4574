#include "trace/rules/schedule.h"

#include <stdio.h>
#include <string.h>

static const struct word {
	const char *name;
	size_t offset;
	uint64_t min;
} words[] = {
	{ "skip_first",      offsetof(struct schedule, skip_first),      0 },
	{ "wait",            offsetof(struct schedule, wait),            0 },
	{ "warmup",          offsetof(struct schedule, warmup),          0 },
	{ "active",          offsetof(struct schedule, active),          1 },
	{ "repeat",          offsetof(struct schedule, repeat),          0 },
	{ "skip_first_wait", offsetof(struct schedule, skip_first_wait), 0 },
};

#define N_WORDS (sizeof words / sizeof *words)
#define ALL_WORDS "skip_first, wait, warmup, active, repeat and skip_first_wait"

static const struct word *word_of(const char *name, size_t n)
{
	for (const struct word *w = words; w < words + N_WORDS; w++)
		if (strlen(w->name) == n && memcmp(w->name, name, n) == 0)
			return w;
	return NULL;
}

static int number_of(uint64_t *v, const char *p, size_t n)
{
	*v = 0;
	for (size_t i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return -1;
		*v = *v * 10 + (uint64_t)(p[i] - '0');
		if (*v > SCHEDULE_MAX)
			return -1;
	}
	return n ? 0 : -1;
}

/* Parses one "word=number" of n bytes.  *seen: a bit for each word so far. */
static int parse_item(struct schedule *s, unsigned *seen, const char *item, size_t n, char *why, size_t why_size)
{
	const char *eq = memchr(item, '=', n);
	const struct word *w = word_of(item, eq ? (size_t)(eq - item) : n);
	size_t digits = eq ? n - (size_t)(eq + 1 - item) : 0;
	uint64_t v;

	if (!w) {
		snprintf(why, why_size, "a schedule has no '%.*s', it is made of " ALL_WORDS ", like 'wait=1,warmup=1,active=3'",
			 n > 40 ? 40 : (int)n, item);
		return -1;
	}
	if (*seen & 1u << (w - words)) {
		snprintf(why, why_size, "the schedule says '%s' twice", w->name);
		return -1;
	}
	if (!eq || number_of(&v, eq + 1, digits) < 0 || v < w->min) {
		snprintf(why, why_size, "'%s' of a schedule needs a whole number from %llu to %llu, not '%.*s'", w->name,
			 (unsigned long long)w->min, SCHEDULE_MAX, digits > 40 ? 40 : (int)digits, eq ? eq + 1 : "");
		return -1;
	}
	*seen |= 1u << (w - words);
	memcpy((char *)s + w->offset, &v, sizeof v);
	return 0;
}

int schedule_parse(struct schedule *s, const char *text, char *why, size_t why_size)
{
	struct schedule parsed = { 0 };
	unsigned seen = 0;

	for (const char *p = text;; p++) {
		size_t n = strcspn(p, ",");

		if (parse_item(&parsed, &seen, p, n, why, why_size) < 0)
			return -1;
		p += n;
		if (!*p)
			break;
	}
	if (!parsed.active) {
		snprintf(why, why_size, "a schedule needs 'active=N', the steps that are recorded in each cycle");
		return -1;
	}
	*s = parsed;
	return 0;
}

enum schedule_action schedule_action(const struct schedule *s, uint64_t step)
{
	uint64_t cycle = s->wait + s->warmup + s->active;

	if (step < s->skip_first)
		return SCHEDULE_NONE;
	step -= s->skip_first;
	/* As in PyTorch: the skipped wait counts as done, so `repeat` counts whole cycles. */
	if (s->skip_first_wait)
		step += s->wait;
	if (s->repeat && step / cycle >= s->repeat)
		return SCHEDULE_NONE;
	step %= cycle;
	if (step < s->wait)
		return SCHEDULE_NONE;
	if (step < s->wait + s->warmup)
		return SCHEDULE_WARMUP;
	return step < cycle - 1 ? SCHEDULE_RECORD : SCHEDULE_RECORD_AND_SAVE;
}
