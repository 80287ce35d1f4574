/* Converts frames to places, with images, symbols and code objects. */
#include "cli/model/stacks/stacks_inside.h"

#include "cli/model/stacks/symbols.h"
#include "trace/pyline.h"

#include <stdio.h>

#define OFFSET_BITS 48          /* user addresses have 47 bits; a larger offset is damage */

int stacks_each_row(struct model *m, unsigned kind, row_fn *fn)
{
	const struct kind *k = &m->kinds[kind];
	const struct record *r = record_by_kind(kind);
	struct buf tails = { 0 };
	int rc = strings_load(m);

	for (size_t i = 0; i < k->n_parts && rc == 0; i++) {
		const struct part *p = &k->parts[i];
		char *rows = malloc((size_t)p->chunk->head.rows * r->size + 1), *row = rows;
		size_t at = 0;

		tails.len = 0;
		if (!rows)
			rc = -1;
		else if (trace_rows(&m->trace, p->chunk, rows) == 0 &&
			 (r->len_field < 0 || trace_tails(&m->trace, p->chunk, &tails) == 0))
			for (uint32_t j = 0; j < p->chunk->head.rows && rc == 0; j++, row += r->size) {
				size_t n = r->len_field < 0 ? 0 : field_load(&r->fields[r->len_field], row);

				if (n > tails.len - at)
					n = tails.len - at;
				rc = fn(m, p, row, tails.data ? tails.data + at : NULL, n);
				at += n;
			}
		free(rows);
	}
	buf_free(&tails);
	return rc;
}

static struct stacks_derived *made(struct model *m)
{
	return m->stacks;
}

static uint64_t key_of(uint32_t process, uint32_t id)
{
	return (uint64_t)process << 32 | id;
}

/* ---- definitions ---- */

static int take_image(struct model *m, const struct part *part, const void *row, const uint8_t *tail, size_t n)
{
	const struct image_row *r = row;
	struct stacks_derived *s = made(m);
	struct code_image image = { r->base, string_id(m, part->process, r->name) };

	(void)tail;
	(void)n;
	if (!map_set(&s->image_of, key_of(part->process, r->id), (uint32_t)(s->images.len / sizeof image)))
		return -1;
	buf_put(&s->images, &image, sizeof image);
	return s->images.oom ? -1 : 0;
}

static int take_code(struct model *m, const struct part *part, const void *row, const uint8_t *tail, size_t n)
{
	const struct code_row *r = row;
	struct stacks_derived *s = made(m);
	struct code code = { string_id(m, part->process, r->name), string_id(m, part->process, r->file), r->first_line,
			     r->version, NULL, n };

	code.table = (const uint8_t *)strings_keep(m, tail ? (const char *)tail : "", n);
	if (!code.table || !map_set(&s->code_of, key_of(part->process, r->id),
				    (uint32_t)(s->codes.len / sizeof code)))
		return -1;
	buf_put(&s->codes, &code, sizeof code);
	return s->codes.oom ? -1 : 0;
}

/* Key of an address: image number << 48 | offset; 0: the offset is too large, or the image has no number.  make: number a new image. */
static uint64_t address_key(struct stacks_derived *s, uint32_t process, uint32_t image, uint64_t offset, bool make)
{
	bool new;
	uint32_t n, *at;

	if (offset >> OFFSET_BITS)
		return 0;
	if (make) {
		at = map_put(&s->symbol_image, key_of(process, image), (uint32_t)s->symbol_image.n + 1, &new);
		n = at ? *at - 1 : 0;
	} else {
		n = map_get(&s->symbol_image, key_of(process, image));
	}
	return n && n < 1u << (64 - OFFSET_BITS) ? (uint64_t)n << OFFSET_BITS | offset : 0;
}

/* Reads a symbol row.  A set of functions ends with depth 0; of several sets for an address the last one is used. */
static int take_symbol(struct model *m, const struct part *part, const void *row, const uint8_t *tail, size_t n)
{
	const struct symbol_row *r = row;
	struct stacks_derived *s = made(m);
	struct symbol symbol = { string_id(m, part->process, r->name), string_id(m, part->process, r->file), r->line,
				 r->depth, r->flags };
	size_t at = s->symbols.len / sizeof symbol;
	const struct symbol *list;
	uint64_t key;

	(void)tail;
	(void)n;
	buf_put(&s->symbols, &symbol, sizeof symbol);
	if (s->symbols.oom)
		return -1;
	if (r->depth)
		return 0;
	list = (const struct symbol *)s->symbols.data;
	while (at > 0 && list[at - 1].depth == list[at].depth + 1)
		at--;
	key = address_key(s, part->process, r->image, r->offset, true);
	return !key || map_set(&s->symbol_of, key, (uint32_t)at) ? 0 : -1;
}

int stacks_load_defs(struct model *m)
{
	return stacks_each_row(m, ROW_image, take_image) < 0 || stacks_each_row(m, ROW_code, take_code) < 0 ||
	       stacks_each_row(m, ROW_symbol, take_symbol) < 0 ? -1 : 0;
}

/* ---- places ---- */

/* Number of a triple, new if *new; MAP_NONE: out of memory. */
static uint32_t trio(struct trios *t, uint32_t a, uint32_t b, uint32_t c, bool *new)
{
	uint32_t *pair = map_put(&t->pairs, (uint64_t)a << 32 | b, (uint32_t)t->pairs.n, new);
	uint32_t *all = pair ? map_put(&t->all, (uint64_t)(*pair - 1) << 32 | c, (uint32_t)t->all.n, new) : NULL;

	return all ? *all - 1 : MAP_NONE;
}

/* Appends a place (function and line) to the current stack.  0, or -1: out of memory. */
static int put_place(struct stacks_derived *s, const struct function *f, uint32_t file, uint32_t line)
{
	bool new;
	uint32_t function = trio(&s->function_of, f->name, f->python ? f->file : f->image, f->line << 1 | f->python, &new),
		 place;

	if (function == MAP_NONE)
		return -1;
	if (new)
		buf_put(&s->functions, f, sizeof *f);
	place = trio(&s->place_of, function, file, line, &new);
	if (place == MAP_NONE)
		return -1;
	if (new)
		buf_put(&s->places, &(struct place){ function, file, line }, sizeof(struct place));
	buf_put(&s->frames, &place, sizeof place);
	return s->functions.oom || s->places.oom || s->frames.oom ? -1 : 0;
}

static int put_python(struct stacks_derived *s, struct model *m, uint32_t process, const struct stack_frame *f)
{
	uint32_t at = f->value <= UINT32_MAX ? map_get(&s->code_of, key_of(process, (uint32_t)f->value)) : MAP_NONE;
	struct function lost = { .python = true };
	const struct code *code;
	int64_t line;
	char text[40];

	if (at == MAP_NONE) {
		snprintf(text, sizeof text, "code %llu", (unsigned long long)f->value);
		lost.name = model_intern(m, text);
		return lost.name == MAP_NONE ? -1 : put_place(s, &lost, STRING_NONE, 0);
	}
	code = (const struct code *)s->codes.data + at;
	line = pyline_of(&(struct pyline){ code->version, code->first_line, code->table, code->bytes }, f->extra);
	return put_place(s, &(struct function){ code->name, code->file, code->first_line, STRING_NONE, true, true },
			 code->file, line > 0 ? (uint32_t)line : code->first_line);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

int stacks_resolve(struct model *m, struct stacks_derived *s, uint32_t process, const struct stack_frame *f)
{
	const struct source_frame *found;
	const struct code_image *image;
	uint64_t offset, key;
	uint32_t at;
	size_t n;
	char text[300];

	if (f->what == STACK_FRAME_PYTHON)
		return put_python(s, m, process, f);
	at = f->extra ? map_get(&s->image_of, key_of(process, f->extra)) : MAP_NONE;
	image = at == MAP_NONE ? NULL : (const struct code_image *)s->images.data + at;
	offset = image ? f->value - image->base : f->value;
	key = address_key(s, process, image ? f->extra : 0, offset, false);
	at = key ? map_get(&s->symbol_of, key) : MAP_NONE;
	if (at != MAP_NONE) {
		const struct symbol *y = (const struct symbol *)s->symbols.data + at;

		for (;; y++) {
			struct function named = { y->name, y->file, 0, image ? image->name : STRING_NONE, false,
						  !(y->flags & SYMBOL_UNNAMED) };

			if (put_place(s, &named, y->file, y->line) < 0)
				return -1;
			if (!y->depth)
				return 0;
		}
	}
	found = model_frames(m, process, f, 0, &n);
	if (found && !(found[n - 1].flags & FRAME_UNKNOWN)) {
		for (size_t i = 0; i < n; i++) {
			struct function named = { found[i].function, found[i].file, 0, found[i].module, false,
						  !(found[i].flags & FRAME_UNNAMED) };

			if (put_place(s, &named, found[i].file, found[i].line) < 0)
				return -1;
		}
		return 0;
	}
	if (image)
		snprintf(text, sizeof text, "%.200s+0x%llx", base_name(model_string(m, image->name)),
			 (unsigned long long)offset);
	else
		snprintf(text, sizeof text, "0x%llx", (unsigned long long)offset);
	struct function unnamed = { model_intern(m, text), STRING_NONE, 0, image ? image->name : STRING_NONE, false, false };

	return unnamed.name == MAP_NONE ? -1 : put_place(s, &unnamed, STRING_NONE, 0);
}
