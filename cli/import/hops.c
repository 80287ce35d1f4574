#include "cli/import/hops.h"

const struct hop *hop_learn(struct hops *hops, const struct hop *from, const struct hop *h, const uint8_t *p, const uint8_t *end)
{
	struct hop *before = &hops->list[from - hops->list], *new;
	uint16_t *link = &before->next;

	if (!hops->n)
		hops->n = 1;
	while (*link) {
		const struct hop *old = &hops->list[*link];

		/* It was not found where the file's bytes are at their end for now. */
		if (old->n == (size_t)(end - p) && memcmp(old->bytes, p, old->n) == 0)
			return old;
		link = &hops->list[*link].beside;
	}
	if (hops->n == MOST_HOPS || before->n_next == MOST_NEXT || (size_t)(end - p) > HOP_BYTES || p == end)
		return NULL;
	new = &hops->list[hops->n];
	*new = *h;
	new->n = (uint32_t)(end - p);
	new->next = new->beside = new->n_next = 0;
	memcpy(new->bytes, p, new->n);
	before->n_next++;
	*link = hops->n++;
	return new;
}
