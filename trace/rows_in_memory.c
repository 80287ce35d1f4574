/* Traces in memory, without a file. */
#include "trace/grow.h"
#include "trace/reader.h"
#include "trace/wire.h"

int trace_begin(struct trace *t, const char *path, const struct file_header *h)
{
	*t = (struct trace)TRACE_INIT;
	t->header = *h;
	t->header.version = FILE_VERSION;
	t->header.host[sizeof t->header.host - 1] = '\0';
	t->finished = true;
	t->path = strdup(path);
	return t->path ? 0 : -1;
}

int trace_add(struct trace *t, uint32_t process, const struct record *r, const void *rows, size_t n, const uint8_t *tails,
	      size_t tail_bytes)
{
	struct chunk *c;

	if (!n)
		return 0;
	if (!GROW(t->chunks, t->n_chunks + 1, t->cap_chunks))
		return -1;
	c = &t->chunks[t->n_chunks];
	*c = (struct chunk){
		.offset = t->n_chunks, .record = r, .checked = true, .head_checked = true, .rows = rows, .tails = tails,
		.tail_bytes = tail_bytes,
		.head = { .kind = r->id, .clock = CLOCK_MONO, .process = process, .rows = (uint32_t)n },
	};
	c->head.stored = c->head.raw = (uint32_t)(n * r->size + tail_bytes);
	chunk_times(&c->head, r, rows, n);
	t->n_chunks++;
	return 0;
}

int trace_keep(struct trace *t, void *memory)
{
	if (!memory)
		return 0;
	if (!GROW(t->kept, t->n_kept + 1, t->cap_kept))
		return -1;
	t->kept[t->n_kept++] = memory;
	return 0;
}
