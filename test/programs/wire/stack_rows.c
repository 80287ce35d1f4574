/*
 * Prints the call stacks of calls and ranges of a trace, one per line, innermost frame first:
 *
 *	api NAME FLAGS DEPTH FILE+OFFSET FILE+OFFSET ...	FILE: last part of the image's path, OFFSET: address in the file, hex
 *	range NAME FLAGS DEPTH ...			a Python frame: LINE:NAME:FILE, FILE its last part
 *	image NAME mapped|unmapped BUILD-ID		all of them, at the end
 *	stacks N
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/pyline.h"
#include "trace/reader.h"

#define MOST 65536

static char *strings[MOST];
static struct image_row images[MOST];
static char ids[MOST][65];
static struct stack_row stacks[MOST];
static struct code_row codes[MOST];
static uint8_t *tables[MOST];
static struct stack_frame *frames[MOST];
static struct { uint64_t id; uint32_t name; } ranges[MOST];
static size_t n_ranges;

static const char *base(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "?";
}

static void define(unsigned kind, const void *row, const char *tail, size_t n)
{
	const struct string_row *string = row;
	const struct image_row *image = row;
	const struct stack_row *stack = row;
	const struct range_row *range = row;
	const struct code_row *code = row;

	if (kind == ROW_string && string->id < MOST) {
		strings[string->id] = strndup(tail, n);
	} else if (kind == ROW_image && image->id < MOST) {
		images[image->id] = *image;
		for (size_t i = 0; i < n && i < 32; i++)
			sprintf(ids[image->id] + 2 * i, "%02x", (unsigned char)tail[i]);
	} else if (kind == ROW_stack && stack->id < MOST) {
		stacks[0].id++;
		stacks[stack->id] = *stack;
		frames[stack->id] = malloc(n + 1);
		memcpy(frames[stack->id], tail, n);
	} else if (kind == ROW_code && code->id < MOST) {
		codes[code->id] = *code;
		tables[code->id] = malloc(n + 1);
		memcpy(tables[code->id], tail, n);
	} else if (kind == ROW_range && n_ranges < MOST) {
		ranges[n_ranges].id = range->id;
		ranges[n_ranges++].name = range->name;
	}
}

static const char *text(uint32_t id)
{
	return id < MOST && strings[id] ? strings[id] : "?";
}

static void tell_python(const struct stack_frame *f)
{
	const struct code_row *code = &codes[f->value % MOST];
	const struct pyline p = { code->version, code->first_line, tables[f->value % MOST], code->bytes };

	printf(" %" PRId64 ":%s:%s", pyline_of(&p, f->extra), text(code->name), base(text(code->file)));
}

static void tell_stack(const char *what, uint32_t name, uint32_t id)
{
	const struct stack_row *k = &stacks[id % MOST];

	printf("%s %s %u %u", what, text(name), id ? k->flags : 0, id ? k->depth : 0);
	for (uint32_t i = 0; id && i < k->depth; i++) {
		const struct stack_frame *f = &frames[id % MOST][i];
		const struct image_row *image = &images[f->extra % MOST];

		if (f->what == STACK_FRAME_PYTHON)
			tell_python(f);
		else
			printf(" %s+%" PRIx64, f->extra ? base(text(image->name)) : "-", f->value - (f->extra ? image->base : 0));
	}
	putchar('\n');
}

static void tell(unsigned kind, const void *row, const char *tail, size_t n)
{
	const struct range_stack_row *where = row;
	const struct api_row *api = row;

	(void)tail, (void)n;
	if (kind == ROW_api)
		tell_stack("api", api->name, api->stack);
	for (size_t i = 0; kind == ROW_range_stack && i < n_ranges; i++)
		if (ranges[i].id == where->range)
			tell_stack("range", ranges[i].name, where->stack);
}

static void each(struct trace *t, void (*visit)(unsigned kind, const void *row, const char *tail, size_t n))
{
	for (size_t c = 0; c < t->n_chunks; c++) {
		const struct record *r = t->chunks[c].record;
		struct buf tails = { 0 };
		size_t at = 0;
		char *rows;

		if (!r)
			continue;
		rows = malloc((size_t)t->chunks[c].head.rows * r->size + 1);
		if (trace_rows(t, &t->chunks[c], rows) == 0 && (r->len_field < 0 || trace_tails(t, &t->chunks[c], &tails) == 0)) {
			for (uint32_t i = 0; i < t->chunks[c].head.rows; i++) {
				const char *row = rows + (size_t)i * r->size;
				size_t n = r->len_field >= 0 ? field_load(&r->fields[r->len_field], row) : 0;

				visit(r->id, row, (const char *)tails.data + at, n);
				at += n;
			}
		}
		buf_free(&tails);
		free(rows);
	}
}

int main(int argc, char **argv)
{
	struct trace t = TRACE_INIT;
	struct trace_error err = { 0 };

	if (argc != 2 || trace_open(&t, argv[1], 0, &err) < 0) {
		fprintf(stderr, "stack_rows: cannot read a trace of one process\n");
		return 1;
	}
	each(&t, define);
	each(&t, tell);
	for (uint32_t i = 1; i < MOST; i++)
		if (images[i].id)
			printf("image %s %s %s\n", base(text(images[i].name)), images[i].end ? "unmapped" : "mapped", ids[i]);
	printf("stacks %u\n", stacks[0].id);
	trace_close(&t);
	return 0;
}
