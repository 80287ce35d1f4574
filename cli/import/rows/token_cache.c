#include "cli/import/rows/token_cache.h"

struct token *token_cache_add(struct token_cache *tokens, struct token *from, const struct token *h, const uint8_t *p, const uint8_t *end)
{
	size_t n = (size_t)(end - p);
	struct token **link = &from->next, *new;

	if (!tokens->n)
		tokens->n = 1;
	/* It may exist: token_cache_find() is not called with fewer than TOKEN_ROOM bytes available. */
	for (; *link; link = &(*link)->beside)
		if ((*link)->n == n && memcmp((*link)->bytes, p, n) == 0)
			return *link;
	if (tokens->n == MOST_TOKENS || from->n_next == MOST_NEXT || n > TOKEN_BYTES || !n)
		return NULL;
	new = &tokens->list[tokens->n];
	*new = *h;
	new->n = (uint8_t)n;
	new->n_next = 0;
	new->met = 0;
	new->number = tokens->n++;
	new->next = new->beside = NULL;
	memcpy(new->bytes, p, n);
	from->n_next++;
	return *link = new;
}
