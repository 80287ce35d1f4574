/* Definitions: rows that define an id.  A later definition of an id replaces an earlier one. */
#include "cli/model/inside.h"

static uint64_t key_of(uint32_t process, uint32_t id)
{
	return (uint64_t)process << 32 | id;
}

/* Position of a record's id field. */
static unsigned id_field(unsigned kind)
{
	switch (kind) {
	case ROW_thread:   return COL_thread_id;
	case ROW_device:   return COL_device_id;
	case ROW_category: return COL_category_id;
	default:           return 0;
	}
}

static int put_row(struct model *m, struct defs *d, const struct record *r, uint32_t process, uint8_t *row,
		   uint32_t number)
{
	uint64_t key;

	for (unsigned f = 0; f < r->n_fields; f++)
		if (r->fields[f].unit == UNIT_STRING)
			field_store(&r->fields[f], row,
				    string_id(m, process, (uint32_t)field_load(&r->fields[f], row)));
	key = key_of(process, (uint32_t)field_load(&r->fields[id_field(r->id)], row));
	if (r->id == ROW_category) {
		/* Category ids are per domain: number the pair of process and domain first. */
		uint64_t pair = key_of(process, (uint32_t)field_load(&r->fields[COL_category_domain], row));
		uint32_t id = (uint32_t)key;
		bool new;
		uint32_t *at = map_put(&m->domain_pairs, pair, (uint32_t)m->domain_pairs.n, &new);

		if (!at)
			return -1;
		key = key_of(*at - 1, id);
	}
	return map_set(&d->index, key, number) ? 0 : -1;
}

/* Reads all definitions of a kind, with string ids of the model.  NULL: out of memory. */
static struct defs *defs_load(struct model *m, unsigned kind)
{
	struct defs *d = &m->defs[kind];
	struct kind *k = &m->kinds[kind];
	const struct record *r = record_by_kind(kind);

	if (d->loaded)
		return d;
	if (strings_load(m) < 0)
		return NULL;
	free(d->rows);          /* of an earlier attempt that ran out of memory */
	d->n = 0;
	d->rows = malloc(k->n_rows * r->size + 1);
	if (!d->rows)
		return NULL;
	for (size_t i = 0; i < k->n_parts; i++) {
		struct part *p = &k->parts[i];

		if (trace_rows(&m->trace, p->chunk, d->rows + d->n * r->size) < 0)
			continue;
		for (uint32_t row = 0; row < p->chunk->head.rows; row++, d->n++)
			if (put_row(m, d, r, p->process, d->rows + d->n * r->size, (uint32_t)d->n) < 0)
				return NULL;
	}
	d->loaded = true;
	return d;
}

static const void *def(struct model *m, unsigned kind, uint64_t key)
{
	const struct defs *d = defs_load(m, kind);
	uint32_t row = d ? map_get(&d->index, key) : MAP_NONE;

	return row == MAP_NONE ? NULL : d->rows + (size_t)row * record_by_kind(kind)->size;
}

const struct config_row *model_config(struct model *m, uint32_t process, uint32_t id)
{
	return def(m, ROW_config, key_of(process, id));
}

const struct device_row *model_device(struct model *m, uint32_t process, uint32_t id)
{
	return def(m, ROW_device, key_of(process, id));
}

static int by_process_and_id(const void *a, const void *b)
{
	const struct device *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

struct device *model_devices(struct model *m, size_t *n)
{
	const uint32_t *process = model_row_process(m, ROW_device), *id = MODEL_U32(m, device, id);
	size_t rows = model_rows(m, ROW_device);
	struct device *list = malloc(rows * sizeof *list + 1);

	*n = 0;
	if (!process || !id || !list) {
		free(list);
		return NULL;
	}
	for (size_t i = 0; i < rows; i++)
		list[i] = (struct device){ process[i], id[i] };
	qsort(list, rows, sizeof *list, by_process_and_id);
	for (size_t i = 0; i < rows; i++)
		if (!i || by_process_and_id(&list[i], &list[i - 1]) != 0)
			list[(*n)++] = list[i];
	return list;
}

const struct context_row *model_context(struct model *m, uint32_t process, uint32_t id)
{
	return def(m, ROW_context, key_of(process, id));
}

const struct stream_row *model_stream(struct model *m, uint32_t process, uint32_t id)
{
	return def(m, ROW_stream, key_of(process, id));
}

uint32_t model_domain(struct model *m, uint32_t process, uint32_t id)
{
	const struct domain_row *d = def(m, ROW_domain, key_of(process, id));

	return !id ? STRING_NONE : d ? d->name : STRING_LOST | id;
}

const char *model_category(struct model *m, uint32_t process, uint32_t domain, uint32_t id)
{
	const struct category_row *c;
	uint32_t pair;

	if (!defs_load(m, ROW_category))
		return NULL;
	pair = map_get(&m->domain_pairs, key_of(process, domain));
	c = pair == MAP_NONE ? NULL : def(m, ROW_category, key_of(pair, id));
	return c ? model_string(m, c->name) : NULL;
}

/* ---- threads, whose tail is the name ---- */

static int chunk_threads(struct model *m, const struct part *p, struct defs *d, struct buf *tails)
{
	uint32_t rows = p->chunk->head.rows;
	struct thread_row *row = malloc(rows * sizeof *row + 1);
	size_t at = 0;
	int rc = -1;

	tails->len = 0;
	if (!row)
		return -1;
	if (trace_rows(&m->trace, p->chunk, row) < 0 || trace_tails(&m->trace, p->chunk, tails) < 0) {
		free(row);
		return 0;       /* damaged: model_damage() lists it */
	}
	for (uint32_t i = 0; i < rows && row[i].bytes <= tails->len - at; at += row[i++].bytes) {
		const char *name = strings_keep(m, row[i].bytes ? (char *)tails->data + at : "", row[i].bytes);
		bool new;
		uint32_t *place = map_put(&d->index, key_of(p->process, row[i].id), (uint32_t)m->n_threads, &new);

		if (!name || !place)
			goto out;
		m->threads[*place - 1] = (struct thread){ row[i], p->process, name };
		m->n_threads += new;
	}
	rc = 0;
out:
	free(row);
	return rc;
}

static struct defs *threads_load(struct model *m)
{
	struct defs *d = &m->defs[ROW_thread];
	struct kind *k = &m->kinds[ROW_thread];
	struct buf tails = { 0 };
	int rc = 0;

	if (d->loaded)
		return d;
	free(m->threads);
	m->n_threads = 0;
	m->threads = malloc(k->n_rows * sizeof *m->threads + 1);
	for (size_t i = 0; m->threads && i < k->n_parts && rc == 0; i++)
		rc = chunk_threads(m, &k->parts[i], d, &tails);
	buf_free(&tails);
	d->loaded = m->threads && rc == 0;
	return d->loaded ? d : NULL;
}

const struct thread *model_thread(struct model *m, uint32_t process, uint32_t id)
{
	const struct defs *d = threads_load(m);
	uint32_t at = d ? map_get(&d->index, key_of(process, id)) : MAP_NONE;

	return at == MAP_NONE ? NULL : &m->threads[at];
}

const struct thread *model_threads(struct model *m, size_t *n)
{
	*n = threads_load(m) ? m->n_threads : 0;
	return m->threads;
}

void defs_release(struct model *m)
{
	for (size_t i = 0; i < sizeof m->defs / sizeof *m->defs; i++) {
		free(m->defs[i].rows);
		map_release(&m->defs[i].index);
	}
	map_release(&m->domain_pairs);
	free(m->threads);
}
