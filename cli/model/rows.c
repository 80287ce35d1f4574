#include "cli/model/rows.h"

#include "cli/model/inside.h"

void rows_begin(struct rows *r, struct model *m, unsigned kind, uint32_t process)
{
	const struct record *record = record_by_kind(kind);
	size_t low = 0, high = m->kinds[kind].n_parts;

	*r = (struct rows){ .m = m, .kind = kind, .process = process, .size = record ? record->size : 0 };
	if (strings_load(m) < 0) {
		r->failed = true;
		return;
	}
	r->ids = m->strings.ids[process].dense;
	r->n_ids = m->strings.ids[process].n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->kinds[kind].parts[middle].process < process)
			low = middle + 1;
		else
			high = middle;
	}
	r->part = low;
}

int rows_end(struct rows *r)
{
	free(r->scratch);
	r->scratch = NULL;
	r->next = r->end = NULL;
	return r->failed ? -1 : 0;
}

/* Moves the rows that the model has to the front. */
static void compact(const struct part *p, char *rows, size_t size)
{
	char *to = rows;

	for (size_t i = 0; i < p->chunk->head.rows; i++)
		if (p->keep[i]) {
			memmove(to, rows + i * size, size);
			to += size;
		}
}

/* The rows of a part; NULL: damaged, or out of memory. */
static const char *rows_of(struct rows *r, const struct part *p)
{
	void *scratch;

	if (p->chunk->rows && !p->keep)
		return (const char *)p->chunk->rows;
	scratch = realloc(r->scratch, p->chunk->head.rows * r->size + 1);
	if (!scratch) {
		r->failed = true;
		return NULL;
	}
	r->scratch = scratch;
	if (trace_rows(&r->m->trace, p->chunk, scratch) < 0) {
		r->failed |= !p->chunk->bad;
		return NULL;
	}
	if (p->keep)
		compact(p, scratch, r->size);
	return scratch;
}

const void *rows_more(struct rows *r)
{
	const struct kind *kind = &r->m->kinds[r->kind];

	for (; !r->failed && r->part < kind->n_parts && kind->parts[r->part].process == r->process; r->part++) {
		const struct part *p = &kind->parts[r->part];
		const char *rows = p->rows && !p->chunk->bad ? rows_of(r, p) : NULL;

		if (!rows)
			continue;
		r->part++;
		r->next = rows + r->size;
		r->end = rows + p->rows * r->size;
		return rows;
	}
	r->next = r->end;
	return NULL;
}

uint32_t rows_far_string(const struct rows *r, uint32_t id)
{
	return r->failed ? STRING_NONE : string_id(r->m, r->process, id);
}
