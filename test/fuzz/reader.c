/* libFuzzer target: the input is a trace file.  It is opened, read and recovered; a recovered file must open and be complete. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/reader.h"

#define MUCH (16u << 20)                /* bytes of rows of a chunk; larger chunks are not read, which would be slow */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Corrects the checksum of everything that looks like a header.  Otherwise mutated inputs would fail at the checksums. */
static void seal(uint8_t *p, size_t size)
{
	struct file_header *file = (struct file_header *)p;
	struct file_footer *foot;

	if (size >= sizeof *file && file->version == FILE_VERSION)
		file->crc = crc32_of(0, file, offsetof(struct file_header, crc));
	for (size_t at = 0; at + sizeof(struct chunk_header) <= size; at += 8) {
		struct chunk_header *h = (struct chunk_header *)(p + at);

		if (h->magic != CHUNK_MAGIC)
			continue;
		if (h->stored <= size - at - sizeof *h)
			h->body_crc = crc32_of(0, h + 1, h->stored);
		h->crc = crc32_of(0, h, offsetof(struct chunk_header, crc));
	}
	if (size % 8 || size < sizeof *foot)
		return;
	foot = (struct file_footer *)(p + size - sizeof *foot);
	if (foot->magic == FOOTER_MAGIC)
		foot->crc = crc32_of(0, foot, offsetof(struct file_footer, crc));
}

static void read_all(struct trace *t)
{
	for (struct chunk *c = t->chunks; c < t->chunks + t->n_chunks; c++) {
		struct buf tails = { 0 };
		size_t bytes = c->record ? (size_t)c->head.rows * c->record->size : 0;
		void *rows = bytes <= MUCH ? malloc(bytes + 1) : NULL;

		if (c->record && rows)
			trace_rows(t, c, rows);
		if (c->head.raw <= MUCH)
			trace_tails(t, c, &tails);
		buf_free(&tails);
		free(rows);
	}
}

static long recover(const char *path, struct trace_error *err)
{
	err->text[0] = '\0';
	return trace_recover(path, 0, err);
}

static void run(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct trace_error err = { 0 };
	struct trace t;
	char path[40];
	long saved;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (trace_open(&t, path, 0, &err) == 0) {
		trace_check(&t);
		read_all(&t);
		trace_close(&t);
	}
	saved = recover(path, &err);
	if (saved >= 0) {
		/* the recovered file is complete, and the index names only chunks inside the file */
		if (trace_open(&t, path, 0, &err) < 0 || !t.finished || t.n_chunks != (size_t)saved)
			abort();
		for (size_t i = 0; i < t.n_chunks; i++)
			if (t.chunks[i].head.stored > t.size)
				abort();
		trace_close(&t);
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;

	run(data, size);
	copy = malloc(size + 8);
	memcpy(copy, data, size);
	seal(copy, size);
	run(copy, size);
	free(copy);
	return 0;
}
