/* For fuzz targets: imports the input.  A resulting trace must open, be complete and valid, and all its rows must be readable. */
#ifndef TEST_FUZZ_IMPORT_BYTES_H
#define TEST_FUZZ_IMPORT_BYTES_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/import/import.h"
#include "trace/reader.h"

/* Reads all rows; returns their number without clock rows, which only a file has. */
static uint64_t read_all(struct trace *t)
{
	uint64_t n = 0;

	for (struct chunk *c = t->chunks; c < t->chunks + t->n_chunks; c++) {
		void *rows = malloc((size_t)c->head.rows * c->record->size + 1);

		if (rows && trace_rows(t, c, rows) < 0)
			abort();
		n += c->head.kind == ROW_clock ? 0 : c->head.rows;
		free(rows);
	}
	return n;
}

static uint64_t read_back(const char *path)
{
	struct trace_error err = { 0 };
	struct trace t;
	uint64_t n;

	if (trace_open(&t, path, 0, &err) < 0 || !t.finished || trace_check(&t))
		abort();
	n = read_all(&t);
	trace_close(&t);
	return n;
}

/* Imports into a file and into memory; both must have the same result. */
static void import_path(const char *from)
{
	int out = memfd_create("fuzz", MFD_CLOEXEC), own = dup(out);
	struct import_file file = { 0 };
	struct trace_error err = { 0 }, again = { 0 };
	struct import im = { .paths = &from, .n = 1, .files = &file };
	struct trace t;
	char to[40];

	snprintf(to, sizeof to, "/proc/self/fd/%d", out);
	if (own < 0)
		abort();
	if (import_files(&im, own, &err) < 0) {
		/* a refused file has an error text of one line */
		if (!err.text[0] || strchr(err.text, '\n') || import_rows(&im, from, &t, &again) == 0 || strcmp(err.text, again.text) != 0)
			abort();
	} else {
		if (import_rows(&im, from, &t, &again) < 0 || read_all(&t) != read_back(to))
			abort();
		trace_close(&t);
		if (strchr(file.trouble, '\n'))
			abort();
	}
	close(out);
}

static inline void import_bytes(const uint8_t *data, size_t size)
{
	int in = memfd_create("fuzz", MFD_CLOEXEC);
	char from[40];

	snprintf(from, sizeof from, "/proc/self/fd/%d", in);
	if (in < 0 || write(in, data, size) != (ssize_t)size)
		abort();
	import_path(from);
	close(in);
}

#endif
