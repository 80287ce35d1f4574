#include "cli/import/rows/hops.h"

struct hop *hop_learn(struct hops *hops, struct hop *from, const struct hop *h, const uint8_t *p, const uint8_t *end)
{
	size_t n = (size_t)(end - p);
	struct hop **link = &from->next, *new;

	if (!hops->n)
		hops->n = 1;
	/* It may exist: hop_find() is not called with fewer than HOP_ROOM bytes available. */
	for (; *link; link = &(*link)->beside)
		if ((*link)->n == n && memcmp((*link)->bytes, p, n) == 0)
			return *link;
	if (hops->n == MOST_HOPS || from->n_next == MOST_NEXT || n > HOP_BYTES || !n)
		return NULL;
	new = &hops->list[hops->n];
	*new = *h;
	new->n = (uint8_t)n;
	new->n_next = 0;
	new->met = 0;
	new->number = hops->n++;
	new->next = new->beside = NULL;
	memcpy(new->bytes, p, n);
	from->n_next++;
	return *link = new;
}
