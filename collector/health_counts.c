#include "collector/health_counts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/grow.h"

struct health_count *health_counts_find(const struct health_counts *t, unsigned reason)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].reason == reason)
			return &t->list[i];
	return NULL;
}

static struct health_count *new_count(struct health_counts *t, unsigned reason, int64_t now)
{
	if (!GROW(t->list, t->n + 1, t->cap))
		return NULL;
	t->list[t->n] = (struct health_count){ .reason = reason, .first = now };
	return &t->list[t->n++];
}

void health_counts_add(struct health_counts *t, unsigned reason, uint64_t n, int64_t now, const char *fmt, ...)
{
	struct health_count *one = health_counts_find(t, reason);
	va_list args;

	if (!one)
		one = new_count(t, reason, now);
	if (!one)
		return;
	one->count += n;
	one->last = now;
	if (fmt && !one->detail[0]) {
		va_start(args, fmt);
		vsnprintf(one->detail, sizeof one->detail, fmt, args);
		va_end(args);
	}
}

void health_counts_release(struct health_counts *t)
{
	free(t->list);
	*t = (struct health_counts){ 0 };
}
