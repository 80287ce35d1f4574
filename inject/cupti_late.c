#include "inject/cupti_late.h"

#include <string.h>

#include "inject/lock.h"
#include "inject/memory.h"

#define CHUNK (1u << 20)
#define MOST  64u               /* chunks */

struct chunk {
	struct chunk *next;
	size_t used;                    /* used part of bytes: per record its size_t size, then the record */
	uint8_t bytes[CHUNK - 2 * sizeof(size_t)];
};

static struct chunk *first, *last;
static uint32_t n, lock;

static struct chunk *with_room(size_t size)
{
	struct chunk *c = last;

	if (c && size <= sizeof c->bytes - c->used)
		return c;
	if (size > sizeof c->bytes || n == MOST || !(c = memory_map(sizeof *c)))
		return NULL;
	if (last)
		last->next = c;
	else
		first = c;
	last = c;
	n++;
	return c;
}

bool cupti_late_keep(const uint8_t *record, size_t size)
{
	struct chunk *c;

	lock_take(&lock);
	c = with_room(sizeof size + size);
	if (c) {
		memcpy(c->bytes + c->used, &size, sizeof size);
		memcpy(c->bytes + c->used + sizeof size, record, size);
		c->used += sizeof size + size;
	}
	lock_give(&lock);
	return c;
}

void cupti_late_give(void (*give)(void *arg, const uint8_t *record, size_t size), void *arg)
{
	struct chunk *c, *next;
	size_t size;

	lock_take(&lock);
	c = first;
	first = last = NULL;
	n = 0;
	lock_give(&lock);
	for (; c; c = next) {
		for (size_t at = 0; at < c->used; at += sizeof size + size) {
			memcpy(&size, c->bytes + at, sizeof size);
			give(arg, c->bytes + at + sizeof size, size);
		}
		next = c->next;
		memory_unmap(c, sizeof *c);
	}
}

void cupti_late_forget(void)
{
	first = last = NULL;
	n = lock = 0;
}
