/* Iterates over definitions with their tails. */
#include "cli/model/inside.h"

/* Calls fn for the rows of one chunk.  0, also for a damaged chunk; -1: fn returned -1, or out of memory. */
static int chunk_each(struct model *m, const struct part *p, struct buf *tails,
		      int (*fn)(struct model *m, uint32_t process, const void *row, const uint8_t *tail, uint32_t bytes))
{
	const struct record *r = p->chunk->record;
	uint32_t n = p->chunk->head.rows;
	uint8_t *rows = malloc((size_t)n * r->size + 1);
	size_t at = 0;
	int rc = 0;

	tails->len = 0;
	if (!rows)
		return -1;
	if (trace_rows(&m->trace, p->chunk, rows) < 0 ||
	    (r->len_field >= 0 && trace_tails(&m->trace, p->chunk, tails) < 0))
		n = 0;
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		const uint8_t *row = rows + (size_t)i * r->size;
		uint32_t bytes = r->len_field < 0 ? 0 : (uint32_t)field_load(&r->fields[r->len_field], row);

		if (bytes > tails->len - at)
			break;
		rc = fn(m, p->process, row, bytes ? tails->data + at : NULL, bytes);
		at += bytes;
	}
	free(rows);
	return rc;
}

int rows_each(struct model *m, unsigned kind,
	      int (*fn)(struct model *m, uint32_t process, const void *row, const uint8_t *tail, uint32_t bytes))
{
	struct kind *k = &m->kinds[kind];
	struct buf tails = { 0 };
	int rc = strings_load(m);

	for (size_t i = 0; i < k->n_parts && rc == 0; i++)
		rc = chunk_each(m, &k->parts[i], &tails, fn);
	buf_free(&tails);
	return rc;
}

void *slab_take(struct slab **last, size_t size)
{
	struct slab *b = *last;

	size = (size + 15) & ~(size_t)15;
	if (!b || b->size - b->used < size) {
		size_t room = size > SLAB_SIZE ? size : SLAB_SIZE;

		b = malloc(sizeof *b + room);
		if (!b)
			return NULL;
		*b = (struct slab){ .before = *last, .size = room };
		*last = b;
	}
	b->used += size;
	return (char *)(b + 1) + b->used - size;
}

void slabs_free(struct slab *last)
{
	while (last) {
		struct slab *before = last->before;

		free(last);
		last = before;
	}
}
