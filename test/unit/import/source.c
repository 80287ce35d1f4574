#include "test/unit/import/source.h"

#include <stdlib.h>
#include <string.h>

#include "cli/import/bytes/source.h"

struct source {
	uint8_t *bytes;
	const uint8_t *data;
	size_t n, step, there, gone;
	uint64_t garbage;
	const char *trouble;
};

static struct source coming;

void source_comes(const uint8_t *data, size_t n, size_t step, uint64_t garbage, const char *trouble)
{
	coming = (struct source){ .data = data, .n = n, .step = step, .garbage = garbage, .trouble = trouble };
}

static void spoil(struct source *s, size_t from, size_t to)
{
	static const char meant[16] = "\"\"}],:{[\\0159e. ";

	for (size_t i = from; i < to; i++) {
		s->garbage = s->garbage * 6364136223846793005u + 1442695040888963407u;
		s->bytes[i] = (uint8_t)meant[s->garbage >> 60];
	}
}

struct source *source_open(const char *path, struct trace_error *err)
{
	struct source *s = malloc(sizeof *s);

	*s = coming;
	if (!s->n) {
		trace_fail(err, 0, "'%s' is empty", path);
		free(s);
		return NULL;
	}
	s->bytes = malloc(s->n + SOURCE_SLACK);
	spoil(s, 0, s->n + SOURCE_SLACK);
	return s;
}

void source_close(struct source *s)
{
	if (s)
		free(s->bytes);
	free(s);
}

const uint8_t *source_base(const struct source *s)
{
	return s->bytes;
}

size_t source_wait(struct source *s, size_t have)
{
	size_t now = s->n - have < s->step ? s->n : have + s->step;

	memcpy(s->bytes + s->there, s->data + s->there, now - s->there);
	s->there = now;
	return now;
}

void source_release(struct source *s, size_t before)
{
	if (before > s->gone)
		spoil(s, s->gone, before);
	s->gone = before > s->gone ? before : s->gone;
}

const char *source_trouble(struct source *s)
{
	return s->trouble;
}

uint64_t source_file_bytes(const struct source *s)
{
	return s->n;
}
