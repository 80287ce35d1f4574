#include "collector/troubles.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/grow.h"

struct trouble *troubles_find(const struct troubles *t, unsigned reason)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].reason == reason)
			return &t->list[i];
	return NULL;
}

static struct trouble *new_trouble(struct troubles *t, unsigned reason, int64_t now)
{
	if (!GROW(t->list, t->n + 1, t->cap))
		return NULL;
	t->list[t->n] = (struct trouble){ .reason = reason, .first = now };
	return &t->list[t->n++];
}

void troubles_add(struct troubles *t, unsigned reason, uint64_t n, int64_t now, const char *fmt, ...)
{
	struct trouble *one = troubles_find(t, reason);
	va_list args;

	if (!one)
		one = new_trouble(t, reason, now);
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

void troubles_release(struct troubles *t)
{
	free(t->list);
	*t = (struct troubles){ 0 };
}
