/* Imports a file and hashes the result, so that two imports can be compared: rows and their order, counts and messages. */
#ifndef TEST_UNIT_IMPORT_ROWS_H
#define TEST_UNIT_IMPORT_ROWS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/import.h"
#include "trace/reader.h"

struct imported {
	uint64_t rows, hash;
	struct import_file file;
	struct trace_error err;
};

static inline uint64_t rows_mix(uint64_t h, const void *p, size_t n)
{
	const uint8_t *b = p;

	for (; n; n--)
		h = (h ^ *b++) * 0x100000001b3u;
	return h;
}

/* Imports the file.  `path` is also in the hash: the trace stores it as a fact. */
static inline struct imported rows_of(const char *path)
{
	struct imported all = { .hash = 0xcbf29ce484222325u };
	struct import im = { .paths = &path, .n = 1, .files = &all.file };
	struct trace t;

	if (import_rows(&im, "in memory", &t, &all.err) < 0)
		return all;
	for (struct chunk *c = t.chunks; c < t.chunks + t.n_chunks; c++) {
		size_t bytes = (size_t)c->head.rows * c->record->size;
		struct buf tails = { 0 };
		void *rows = malloc(bytes + 1);

		if (!rows || trace_rows(&t, c, rows) < 0 || trace_tails(&t, c, &tails) < 0)
			abort();
		all.rows += c->head.rows;
		all.hash = rows_mix(all.hash, &(uint32_t[]){ c->head.kind, c->head.process, c->head.rows }, 12);
		all.hash = rows_mix(rows_mix(all.hash, rows, bytes), tails.data, tails.len);
		buf_free(&tails);
		free(rows);
	}
	trace_close(&t);
	return all;
}

/* Returns NULL, or the name of the first difference. */
static inline const char *rows_differ(const struct imported *a, const struct imported *b)
{
	if (strcmp(a->err.text, b->err.text) != 0)
		return "what was said";
	if (strcmp(a->file.trouble, b->file.trouble) != 0)
		return "what was not understood";
	if (a->file.events != b->file.events || a->file.rank != b->file.rank || a->file.world != b->file.world)
		return "events, rank or world";
	if (a->rows != b->rows)
		return "the number of rows";
	return a->hash != b->hash ? "the rows" : NULL;
}

#endif
