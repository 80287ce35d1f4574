/*
 * libFuzzer target: any bytes as a Kineto file, plain or packed.  What is imported opens, whole and undamaged, and each of
 * its rows can be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/import/import.h"
#include "trace/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int in = memfd_create("fuzz", MFD_CLOEXEC), out = memfd_create("fuzz", MFD_CLOEXEC), own = dup(out);
	struct import_file file = { 0 };
	struct trace_error err = { 0 };
	char from[40], to[40];
	const char *paths[] = { from };
	struct import im = { .paths = paths, .n = 1, .files = &file };

	snprintf(from, sizeof from, "/proc/self/fd/%d", in);
	snprintf(to, sizeof to, "/proc/self/fd/%d", out);
	if (in < 0 || own < 0 || write(in, data, size) != (ssize_t)size)
		abort();
	if (import_files(&im, own, &err) == 0)
		read_back(to);
	else if (!err.text[0])
		abort();        /* whoever is refused is told why */
	close(in);
	close(out);
	return 0;
}
