/* A growing array: GROW() before each append.  The owner of the list frees it with free(). */
#ifndef TRACE_GROW_H
#define TRACE_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GROW_FIRST 16u          /* elements of a list that grows for the first time */

/*
 * Makes room for `need` elements in all: if (!GROW(s->list, s->n + 1, s->cap)) goto out_of_memory;
 * list: a pointer to elements, first NULL.  cap: a size_t, the elements that have room, first 0.  New elements are not initialised.
 * False: out of memory, or the size exceeds size_t; list, cap and the elements are then unchanged.
 * Lists that share one capacity grow in turn, all but the last by a copy of it:
 * size_t cap = s->cap; if (!GROW(s->a, s->n + 1, cap) || !GROW(s->b, s->n + 1, s->cap)) goto out_of_memory;
 */
#define GROW(list, need, cap) grow_array(&(list), (need), &(cap), sizeof *(list))

/* As GROW(), for elements of `size` bytes; list: the address of the pointer, of any type.  The capacity at least doubles. */
static inline bool grow_array(void *list, size_t need, size_t *cap, size_t size)
{
	size_t more = *cap ? *cap * 2 : GROW_FIRST, bytes;
	void *grown;

	if (need <= *cap)
		return true;
	if (more < need)
		more = need;
	if (__builtin_mul_overflow(more, size, &bytes))
		return false;
	memcpy(&grown, list, sizeof grown);     /* not *(void **)list: the pointer has another type */
	grown = realloc(grown, bytes);
	if (!grown)
		return false;
	memcpy(list, &grown, sizeof grown);
	*cap = more;
	return true;
}

#endif
