/* Call chains of nsys.  Its frames are named, so each becomes an address with a symbol row. */
#include "cli/import/nsys/nsys_inside.h"

#include <stdio.h>
#include <string.h>

#define NAMED_ADDRESS 0x4000000000000000ull     /* a frame without an address gets this | its name's text number */

static uint64_t mixed(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

/* Id of the module's image, which is added if it is new; 0: out of memory. */
static uint32_t image_of(struct nsys_reader *in, uint32_t module)
{
	struct image_row row = { .high = UINT64_MAX, .name = module };
	uint32_t n = (uint32_t)(in->k->image.len / sizeof row);
	bool new = false;
	uint32_t *at = map_put(&in->images, module, n, &new);

	if (!at)
		return 0;
	row.id = n + 1;
	if (new)
		buf_put(&in->k->image, &row, sizeof row);
	return *at;             /* value + 1 is the id */
}

/* Makes a stack of the frames in in->chain; equal chains share one stack.  0, or -1: out of memory. */
static int end_chain(struct nsys_reader *in)
{
	size_t bytes = in->chain.len, n = in->k->stack.len / sizeof(struct stack_row), at = in->k->frames.len;
	struct stack_row row = { .id = (uint32_t)n + 1, .flags = STACK_NATIVE, .bytes = (uint32_t)bytes,
				 .depth = (uint32_t)(bytes / sizeof(struct stack_frame)) };
	const struct stack_frame *f = (const struct stack_frame *)in->chain.data;
	uint64_t key = bytes;

	if (!bytes)
		return 0;
	for (size_t i = 0; i < bytes / sizeof *f; i++)
		key = mixed(mixed(key, f[i].value), f[i].extra);
	for (;; key++) {        /* on a collision, the next key */
		bool new = false;
		uint32_t *old = map_put(&in->stacks, key, (uint32_t)n, &new);
		const struct stack_row *other;

		if (!old)
			return -1;
		if (new) {
			buf_put(&in->k->stack, &row, sizeof row);
			buf_put(&in->k->frames, f, bytes);
			buf_put(&in->stack_at, &at, sizeof at);
			break;
		}
		other = (const struct stack_row *)in->k->stack.data + (*old - 1);
		if (other->bytes == bytes &&
		    memcmp(in->k->frames.data + ((const size_t *)in->stack_at.data)[*old - 1], f, bytes) == 0) {
			row.id = other->id;
			break;
		}
	}
	in->chain.len = 0;
	return map_set(&in->chains, (uint64_t)in->chain_id, row.id) && !in->k->stack.oom && !in->k->frames.oom &&
	       !in->stack_at.oom ? 0 : -1;
}

static int on_frame(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	uint32_t name = nsys_string(in, r, 1), image = image_of(in, nsys_string(in, r, 2));
	uint64_t address = (uint64_t)row_whole(r, 3);
	struct stack_frame f = { .value = address ? address : NAMED_ADDRESS | name, .what = STACK_FRAME_NATIVE, .extra = image };
	struct symbol_row symbol = { .offset = f.value, .image = image, .name = name };
	bool new = false;

	if (!image || (row_whole(r, 0) != in->chain_id && end_chain(in) < 0))
		return -1;
	in->chain_id = row_whole(r, 0);
	if (!map_put(&in->symbols, mixed(image, f.value), 0, &new))
		return -1;
	if (new)
		buf_put(&in->k->symbol, &symbol, sizeof symbol);
	buf_put(&in->chain, &f, sizeof f);
	return in->chain.oom ? -1 : 0;
}

int nsys_chains(struct nsys_reader *in, const char *table, const char *where)
{
	map_release(&in->chains);
	in->chains = (struct map){ 0 };
	in->chain.len = 0;
	if (!sqlite_has_column(in->db, table, "id") || !sqlite_has_column(in->db, table, "stackDepth"))
		return 0;
	/* stackDepth 0 is the innermost frame.  Sorted, because the order of rows is not specified. */
	if (sqlite_each_by(in->db, table, "id, symbol, module, originalIP, stackDepth", where, "id, stackDepth", on_frame, in,
			   in->k->err) < 0)
		return -1;
	return end_chain(in) < 0 ? trace_fail(in->k->err, 0, "out of memory") : 0;
}

static int on_sample(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	int64_t start = row_whole(r, 0);
	uint32_t stack = map_get(&in->chains, (uint64_t)row_whole(r, 2));
	struct sample_row row = { .start = start, .thread = nsys_thread(in, row_whole(r, 1), start),
				  .stack = stack == MAP_NONE ? 0 : stack, .tid = (uint32_t)TID_OF(row_whole(r, 1)), .flags = SAMPLE_CPU };

	if (row.thread == NO_HOST)
		return -1;
	nsys_span(in, start, start);
	buf_put(&in->k->sample, &row, sizeof row);
	return 0;
}

int nsys_samples(struct nsys_reader *in, const char *of_threads)
{
	char where[200];

	if (!sqlite_has_column(in->db, "COMPOSITE_EVENTS", "globalTid"))
		return 0;
	snprintf(where, sizeof where, "id IN (SELECT id FROM COMPOSITE_EVENTS WHERE %s)", of_threads);
	if (nsys_chains(in, "SAMPLING_CALLCHAINS", where) < 0 ||
	    sqlite_each(in->db, "COMPOSITE_EVENTS", "start, globalTid, id", of_threads, on_sample, in, in->k->err) < 0)
		return -1;
	if (in->k->sample.len)
		kineto_fact(in->k, "sampling", "nsys");
	return 0;
}
