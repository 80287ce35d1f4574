#include "inject/cupti/cupti_primary.h"

#include <stddef.h>
#include <string.h>

#include "inject/cupti/cupti_flush.h"

#define DEVICES 64

static struct primary {
	const void *context;            /* NULL: unknown */
	uint32_t held;                  /* retains seen, less releases seen */
	uint32_t unseen;                /* 1: it outlived its last known release, so a holder exists whose retain was not seen */
} primaries[DEVICES];

static struct primary *of(int device)
{
	return device >= 0 && device < DEVICES ? &primaries[device] : NULL;
}

static void forget(struct primary *p)
{
	__atomic_store_n(&p->held, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->unseen, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->context, NULL, __ATOMIC_RELAXED);
}

void cupti_primary_retained(const struct cupti_retain_params *params)
{
	struct primary *p = params ? of(params->device) : NULL;
	const void *context;

	if (!p || !params->context)
		return;
	context = *params->context;
	if (context != __atomic_load_n(&p->context, __ATOMIC_RELAXED))
		forget(p);      /* a new context: the end of the old one was not reported */
	__atomic_store_n(&p->context, context, __ATOMIC_RELAXED);
	__atomic_fetch_add(&p->held, 1, __ATOMIC_RELAXED);
}

void cupti_primary_released(const struct cupti_release_params *params)
{
	struct primary *p = params ? of(params->device) : NULL;
	uint32_t held = p ? __atomic_load_n(&p->held, __ATOMIC_RELAXED) : 0;

	if (!p)
		return;
	while (held && !__atomic_compare_exchange_n(&p->held, &held, held - 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	if (held == 1 && __atomic_load_n(&p->context, __ATOMIC_RELAXED))
		__atomic_store_n(&p->unseen, 1, __ATOMIC_RELAXED);
}

bool cupti_primary_ends(const struct cupti_release_params *params)
{
	const struct primary *p = params ? of(params->device) : NULL;

	if (p && __atomic_load_n(&p->held, __ATOMIC_RELAXED) > 1)
		return false;
	if (!p || !__atomic_load_n(&p->unseen, __ATOMIC_RELAXED))
		return true;
	cupti_flush_hurry(FLUSH_SOON);
	return false;
}

void cupti_primary_destroyed(const void *context)
{
	for (int i = 0; context && i < DEVICES; i++)
		if (__atomic_load_n(&primaries[i].context, __ATOMIC_RELAXED) == context)
			forget(&primaries[i]);
}

void cupti_primary_forget(void)
{
	memset(primaries, 0, sizeof primaries);
}
