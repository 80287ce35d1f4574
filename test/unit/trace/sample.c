#include "test/unit/trace/sample.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/wire.h"

uint64_t random_next(struct random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

uint64_t random_value(struct random *r)
{
	uint64_t v = random_next(r);

	switch (v % 8) {
	case 0:
		return 0;
	case 1:
		return (uint64_t)INT64_MIN + v / 8 % 3 - 1;
	case 2:
		return (1ull << (v / 8 % 64)) + v / 512 % 3 - 1;
	case 3:
		return -(v / 8 % 200);
	case 4:
		return random_next(r);
	default:
		return (v >> 8) >> v / 8 % 56;
	}
}

void sample_make(struct sample *s, const struct record *r, size_t n, uint64_t seed)
{
	struct random random = { seed * 1000 + r->id };

	*s = (struct sample){ .record = r, .n = n, .rows = calloc(n + 1, r->size) };
	for (size_t i = 0; i < n; i++) {
		for (unsigned f = 0; f < r->n_fields; f++) {
			uint64_t v = random_value(&random);

			if ((int)f == r->len_field) {
				v = random_next(&random) % 40;
				for (uint64_t k = 0; k < v; k++)
					buf_put(&s->tails, &(uint8_t){ (uint8_t)(k * 7 + i) }, 1);
			}
			field_store(&r->fields[f], s->rows + i * r->size, v);
		}
	}
}

void sample_free(struct sample *s)
{
	free(s->rows);
	buf_free(&s->tails);
}

void mem_file_make(struct mem_file *f, const void *bytes, size_t n)
{
	f->fd = memfd_create("trace", MFD_CLOEXEC);
	CHECK(f->fd >= 0);
	snprintf(f->path, sizeof f->path, "/proc/self/fd/%d", f->fd);
	CHECK_EQ(pwrite(f->fd, bytes, n, 0), n);
}

void mem_file_free(struct mem_file *f)
{
	close(f->fd);
}

void slurp(int fd, struct buf *out)
{
	off_t size = lseek(fd, 0, SEEK_END);
	uint8_t *room = buf_room(out, (size_t)size + 1);

	CHECK_EQ(pread(fd, room, (size_t)size, 0), size);
	out->len += (size_t)size;
}

struct writer *writer_to(struct mem_file *f)
{
	struct file_header h = { .session = SAMPLE_SESSION, .start_real = 1000, .start_mono = 10, .host = "node1" };
	struct trace_error err = { 0 };
	struct writer *w;

	mem_file_make(f, "", 0);
	w = writer_new(dup(f->fd), &h, &err);
	CHECK_STR(err.text, "");
	return w;
}

void write_sample(struct writer *w, uint32_t process, const struct sample *s)
{
	struct trace_error err = { 0 };

	CHECK_EQ(writer_rows(w, process, CLOCK_MONO, s->record, s->rows, s->n, s->tails.data, s->tails.len, &err), 0);
	CHECK_STR(err.text, "");
}

bool chunk_holds(struct trace *t, struct chunk *c, const struct sample *s)
{
	size_t bytes = s->n * s->record->size;
	struct buf tails = { 0 };
	bool same = false;
	char *rows;

	if (c->record != s->record || c->head.rows != s->n)
		return false;
	rows = malloc(bytes + 1);
	if (trace_rows(t, c, rows) == 0 && trace_tails(t, c, &tails) == 0)
		same = memcmp(rows, s->rows, bytes) == 0 && tails.len == s->tails.len &&
		       (!tails.len || memcmp(tails.data, s->tails.data, tails.len) == 0);
	buf_free(&tails);
	free(rows);
	return same;
}
