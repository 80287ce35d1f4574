/* For fuzzers: bytes as a file that is imported.  What comes of it opens, whole and undamaged, and each of its rows can be read. */
#ifndef TEST_FUZZ_IMPORT_BYTES_H
#define TEST_FUZZ_IMPORT_BYTES_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/import/import.h"
#include "trace/reader.h"

static void read_back(const char *path)
{
	struct trace_error err = { 0 };
	struct trace t;

	if (trace_open(&t, path, 0, &err) < 0 || !t.finished || trace_check(&t))
		abort();
	for (struct chunk *c = t.chunks; c < t.chunks + t.n_chunks; c++) {
		void *rows = malloc((size_t)c->head.rows * c->record->size + 1);

		if (rows && trace_rows(&t, c, rows) < 0)
			abort();
		free(rows);
	}
	trace_close(&t);
}

static void import_path(const char *from)
{
	int out = memfd_create("fuzz", MFD_CLOEXEC), own = dup(out);
	struct import_file file = { 0 };
	struct trace_error err = { 0 };
	struct import im = { .paths = &from, .n = 1, .files = &file };
	char to[40];

	snprintf(to, sizeof to, "/proc/self/fd/%d", out);
	if (own < 0)
		abort();
	if (import_files(&im, own, &err) == 0)
		read_back(to);
	else if (!err.text[0] || strchr(err.text, '\n'))
		abort();        /* whoever is refused is told why, in one line */
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
