#include "inject/torch/torch_objects.h"

#include <string.h>

#include "inject/core/lock.h"
#include "inject/core/memory.h"

#define BUCKETS (sizeof torch_objects->index / sizeof *torch_objects->index)
#define CLASSES (sizeof torch_objects->classes / sizeof *torch_objects->classes)

struct torch_objects *torch_objects;

static uint32_t hash(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * (0x9e3779b97f4a7c15ull ^ b);

	return (uint32_t)((uint64_t)product ^ (uint64_t)(product >> 64));
}

bool torch_objects_open(void)
{
	if (!MEMORY_TABLE(torch_objects, 1))
		return false;
	lock_take(&torch_objects->lock);
	if (torch_objects->epoch == guest->epoch)
		return true;
	torch_objects->epoch = guest->epoch;
	torch_objects->n = 0;
	memset(torch_objects->index, 0, sizeof torch_objects->index);
	memset(torch_objects->classes, 0, sizeof torch_objects->classes);
	return true;
}

void torch_objects_close(void)
{
	lock_give(&torch_objects->lock);
}

uint32_t torch_object_at(uint64_t address, uint64_t type, bool found)
{
	uint32_t at = hash(address, type) % BUCKETS, n, tries = 0, known;

	/*
	 * Two threads may hold the lock (lock.h) and fill or clear the index during this loop: read each word once, and end after BUCKETS
	 * steps.
	 */
	for (; (known = __atomic_load_n(&torch_objects->index[at], __ATOMIC_RELAXED)); at = (at + 1) % BUCKETS) {
		const struct torch_object *o = &torch_objects->list[known - 1];

		if (o->address == address && o->type == type)
			return known - 1;
		if (++tries == BUCKETS)
			return TORCH_NONE;
	}
	n = torch_objects->n;
	if (n >= (found ? TORCH_OBJECTS / 3 * 2 : TORCH_OBJECTS))
		return TORCH_NONE;
	torch_objects->n = n + 1;
	torch_objects->list[n] = (struct torch_object){ .address = address, .type = type, .number = TORCH_NONE };
	torch_objects->index[at] = (uint16_t)(n + 1);
	return n;
}

static uint32_t next_of_class(uint64_t type)
{
	for (uint32_t i = 0; i < CLASSES; i++) {
		uint32_t at = (uint32_t)((type * 0x9e3779b97f4a7c15ull >> 54) + i) % CLASSES;

		if (!torch_objects->classes[at].type)
			torch_objects->classes[at].type = type;
		if (torch_objects->classes[at].type == type)
			return torch_objects->classes[at].next++;
	}
	return TORCH_NONE;
}

uint32_t torch_object_number(uint32_t object)
{
	struct torch_object *o = object == TORCH_NONE ? NULL : &torch_objects->list[object];

	if (!o)
		return TORCH_NONE;
	if (!o->met)
		o->number = next_of_class(o->type);
	o->met = 1;
	return o->number;
}
