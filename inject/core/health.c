#include "inject/core/health.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "inject/core/session.h"

static void stamp(int64_t *first, int64_t *last)
{
	int64_t now = clock_now();
	int64_t none = 0;

	__atomic_compare_exchange_n(first, &none, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	__atomic_store_n(last, now, __ATOMIC_RELAXED);
}

void health_add(enum health_reason reason, uint64_t n)
{
	struct arena *a = guest->arena;

	if (!a)
		return;
	__atomic_fetch_add(&a->health[reason].count, n, __ATOMIC_RELAXED);
	stamp(&a->health[reason].first, &a->health[reason].last);
}

void health_count(enum health_reason reason)
{
	health_add(reason, 1);
}

void health_note(enum health_reason reason, const char *fmt, ...)
{
	uint32_t none = 0;
	int saved = errno;
	va_list args;

	if (!session_connect())
		return;

	struct health_cell *c = &guest->arena->health[reason];

	if (__atomic_compare_exchange_n(&c->has_detail, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
		va_start(args, fmt);
		vsnprintf(c->detail, sizeof c->detail, fmt, args);
		va_end(args);
		__atomic_store_n(&c->has_detail, 2, __ATOMIC_RELEASE);
	}
	health_add(reason, 1);
	errno = saved;
}

void health_restate(enum health_reason reason, uint64_t n, const char *fmt, ...)
{
	int saved = errno;
	va_list args;

	if (!session_connect())
		return;

	struct health_cell *c = &guest->arena->health[reason];

	/* 1: readers skip the detail while it is rewritten.  The text always ends within the cell. */
	__atomic_store_n(&c->has_detail, 1, __ATOMIC_RELEASE);
	va_start(args, fmt);
	vsnprintf(c->detail, sizeof c->detail, fmt, args);
	va_end(args);
	__atomic_store_n(&c->has_detail, 2, __ATOMIC_RELEASE);
	health_add(reason, n);
	errno = saved;
}

void health_drop(unsigned kind, uint64_t n)
{
	struct drop_cell *c;

	if (!guest->arena)
		return;
	c = &guest->arena->drops[kind];
	__atomic_fetch_add(&c->count, n, __ATOMIC_RELAXED);
	stamp(&c->first, &c->last);
}

void health_cost(enum cost_place place, int64_t start)
{
	struct cost_cell *c;

	if (!guest->arena)
		return;
	c = &guest->arena->costs[place];
	__atomic_fetch_add(&c->count, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->total, clock_now() - start, __ATOMIC_RELAXED);
}
