/* Conversion of frames to places; private to stacks*.c. */
#ifndef CLI_MODEL_STACKS_STACKS_INSIDE_H
#define CLI_MODEL_STACKS_STACKS_INSIDE_H

#include "cli/model/inside.h"
#include "cli/model/stacks/stacks.h"

/* Numbers triples of numbers, from 0. */
struct trios {
	struct map pairs, all;
};

struct code_image {
	uint64_t base;
	uint32_t name;
};

struct code {
	uint32_t name, file, first_line, version;
	const uint8_t *table;
	size_t bytes;
};

/* A function at an address.  The functions of one address are adjacent: innermost inlined first, depth 0 last. */
struct symbol {
	uint32_t name, file, line, depth, flags;
};

struct text_of {                        /* of a source file */
	const char *text;
	size_t n;
	uint32_t *lines, n_lines;       /* offset of each line; made on first use */
};

struct stacks_derived {
	struct stacks public;
	struct buf functions, places, frames, list;     /* `public` points into these */
	struct trios function_of, place_of;
	struct map stack_of;            /* process << 32 | id -> position in list */
	struct buf raw;                 /* struct stack_frame of all stacks; freed when they are resolved */
	struct buf images, codes, symbols;              /* struct code_image, struct code, struct symbol */
	struct map code_of;             /* process << 32 | id -> position in codes */
	struct map image_of;            /* process << 32 | id -> position in images */
	struct map symbol_image;        /* process << 32 | image id -> image number, from 1 */
	struct map symbol_of;           /* image number << 48 | offset -> first of its symbols */
	bool sources_read;
	struct map source_of;           /* file -> position in sources */
	struct buf sources;
};

/* Calls fn for each row of a kind with its tail; fn returns 0, or -1 to stop.  0, or -1: fn returned -1, or out of memory. */
typedef int row_fn(struct model *m, const struct part *part, const void *row, const uint8_t *tail, size_t n);
int stacks_each_row(struct model *m, unsigned kind, row_fn *fn);

/* stacks_defs.c: images, code objects, symbols.  0, or -1: out of memory. */
int stacks_load_defs(struct model *m);

/* Appends the places of one frame, innermost inlined first.  0, or -1: out of memory. */
int stacks_resolve(struct model *m, struct stacks_derived *s, uint32_t process, const struct stack_frame *f);

#endif
