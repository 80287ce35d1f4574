/*
 * imported and imported_arg rows are final when their event was read, so they are encoded as columns as soon as there are
 * enough for a chunk.  The memory of the rows is then used again, while it is still in the CPU caches.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/import/rows/kineto.h"
#include "trace/columns.h"
#include "trace/file.h"
#include "trace/wire.h"

/* A chunk of encoded rows. */
struct packed {
	const struct record *record;
	size_t rows, at, bytes;         /* at: offset in early.bodies */
	unsigned columns;
};

static void pack(struct kineto *k, unsigned kind, struct buf *rows, size_t least)
{
	struct early *p = &k->early;
	const struct record *r = record_by_kind(kind);
	struct packed one = { .record = r, .rows = rows->len / r->size, .at = p->bodies.len };
	int columns;

	if (rows->oom || one.rows < least)
		return;
	if (!p->packer)
		p->packer = packer_new();
	columns = p->packer ? columns_encode(p->packer, &p->bodies, r, rows->data, one.rows, NULL, 0) : -1;
	if (columns < 0)
		rows->oom = true;
	one.columns = (unsigned)columns;
	one.bytes = p->bodies.len - one.at;
	buf_put(&p->list, &one, sizeof one);
	rows->oom |= p->list.oom;
	rows->len = 0;
}

void kineto_pack(struct kineto *k)
{
	if (!k->early.wanted)
		return;
	pack(k, ROW_imported, &k->imported, PACK_ROWS);
	pack(k, ROW_imported_arg, &k->args, PACK_ROWS);
}

void kineto_pack_end(struct kineto *k)
{
	if (k->early.list.len) {      /* nothing was encoded: leave the few rows to the writer */
		pack(k, ROW_imported, &k->imported, 1);
		pack(k, ROW_imported_arg, &k->args, 1);
		free(k->imported.data);
		free(k->args.data);
		k->imported = (struct buf){ .oom = k->imported.oom };
		k->args = (struct buf){ .oom = k->args.oom };
	}
	packer_free(k->early.packer);
	k->early.packer = NULL;
}

static int unpack(const struct early *p, const struct packed *one, char *to)
{
	uint64_t *values = malloc(one->rows * sizeof *values);
	int rc = values ? 0 : -1;

	for (unsigned f = 0; f < one->record->n_fields && rc == 0; f++) {
		const struct field *field = &one->record->fields[f];

		rc = column_decode(p->bodies.data + one->at, one->bytes, one->columns, one->record, f, values, one->rows);
		for (size_t i = 0; i < one->rows && rc == 0; i++)
			memcpy(to + i * one->record->size + field->offset, (char *)values + i * field->size, field->size);
	}
	free(values);
	return rc;
}

/* Decodes all chunks of a kind, in order, and appends the rows that were not encoded. */
static int unpack_all(struct kineto *k, unsigned kind, struct buf *rows)
{
	const struct packed *list = (const struct packed *)k->early.list.data;
	size_t n = k->early.list.len / sizeof *list;
	struct buf all = { 0 };
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct packed *one = &list[i];
		size_t bytes = one->rows * one->record->size;
		uint8_t *room = one->record->id == kind ? buf_room(&all, bytes) : NULL;

		if (!room)
			continue;
		rc = unpack(&k->early, one, (char *)room);
		all.len += bytes;
	}
	buf_put(&all, rows->data, rows->len);
	buf_free(rows);
	*rows = all;
	return rc < 0 || all.oom ? -1 : 0;
}

int kineto_unpack(struct kineto *k)
{
	int rc = 0;

	if (k->early.list.len)
		rc = unpack_all(k, ROW_imported, &k->imported) < 0 || unpack_all(k, ROW_imported_arg, &k->args) < 0 ? -1 : 0;
	k->early.list.len = 0;
	return rc;
}

int kineto_put_packed(const struct kineto *k, struct writer *w, uint32_t process, unsigned kind)
{
	const struct packed *one = (const struct packed *)k->early.list.data;

	for (size_t n = k->early.list.len / sizeof *one; n; n--, one++)
		if (one->record->id == kind && writer_packed(w, process, CLOCK_MONO, one->record, one->rows, one->columns,
							     k->early.bodies.data + one->at, one->bytes, k->err) < 0)
			return -1;
	return 0;
}
