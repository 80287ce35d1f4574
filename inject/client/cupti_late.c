#include "inject/client/cupti_late.h"

#include <string.h>

#include "inject/core/memory.h"

#define MOST ((size_t)64 << 20) /* bytes */

struct late_record {
	struct late_record *next;       /* the node stored before this one */
	size_t size;
	uint8_t record[] __attribute__((aligned(8)));
};

/* No lock: lock.h's is bounded, and two holders would damage what it guards. */
static struct late_record *newest;
static size_t total;                    /* bytes of all nodes so far: memory_take() frees nothing */

bool cupti_late_keep(const uint8_t *record, size_t size)
{
	size_t bytes = sizeof(struct late_record) + size;
	struct late_record *n;

	if (__atomic_add_fetch(&total, bytes, __ATOMIC_RELAXED) > MOST) {
		__atomic_fetch_sub(&total, bytes, __ATOMIC_RELAXED);
		return false;
	}
	n = memory_take(bytes);
	if (!n)
		return false;
	n->size = size;
	memcpy(n->record, record, size);
	n->next = __atomic_load_n(&newest, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&newest, &n->next, n, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return true;
}

static struct late_record *reversed(struct late_record *list)
{
	struct late_record *first = NULL, *next;

	for (; list; list = next) {
		next = list->next;
		list->next = first;
		first = list;
	}
	return first;
}

void cupti_late_give(void (*give)(void *arg, const uint8_t *record, size_t size), void *arg)
{
	struct late_record *n = reversed(__atomic_exchange_n(&newest, NULL, __ATOMIC_ACQUIRE));

	for (; n; n = n->next)
		give(arg, n->record, n->size);
}

void cupti_late_forget(void)
{
	newest = NULL;
	total = 0;
}
