#include "cli/model/stacks/symbols.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/model/inside.h"
#include "cli/symbols/symbols.h"
#include "trace/grow.h"

/* Functions at one address. */
struct set {
	struct source_frame *frames;
	uint32_t n;
};

struct mapped_image {
	struct image_row row;
	uint32_t process, name;         /* name: string id of the model */
	const uint8_t *build_id;
	struct symbol_file *object;          /* NULL: not searched yet, or not found */
	struct map sets;                /* offset -> set, from the trace or looked up in files */
};

struct symbol_tables {
	struct mapped_image *images;    /* by process, then id; each process has an image 0 for code in no file */
	size_t n_images;
	struct set *sets;
	size_t n_sets, cap;
	struct map by_id;               /* process << 32 | id -> image */
	struct source_frame pending[MOST_PLACES]; /* rows of a set whose last row was not read yet */
	uint32_t n_pending;
	uint32_t last_image;
	uint64_t last_offset;
	struct address *addresses;
	size_t n_addresses, cap_addresses;
	struct map seen;                /* addresses of seen_process already added */
	uint32_t seen_process;
	struct symbols *files;
	bool trace_only;
	struct slab *memory;
	bool failed;
};

/* ---- sets ---- */

/* Adds a set; returns its number, or MAP_NONE: out of memory. */
static uint32_t add_set(struct symbol_tables *t, const struct source_frame *frames, uint32_t n)
{
	struct source_frame *copy = slab_take(&t->memory, n * sizeof *frames);

	if (!GROW(t->sets, t->n_sets + 1, t->cap))
		return MAP_NONE;
	if (!copy)
		return MAP_NONE;
	memcpy(copy, frames, n * sizeof *frames);
	t->sets[t->n_sets] = (struct set){ copy, n };
	return (uint32_t)t->n_sets++;
}

static const struct source_frame *set_frames(const struct symbol_tables *t, uint32_t set, size_t *n)
{
	*n = set == MAP_NONE ? 0 : t->sets[set].n;
	return set == MAP_NONE ? NULL : t->sets[set].frames;
}

/* ---- images ---- */

static uint64_t key_of(uint32_t process, uint32_t id)
{
	return (uint64_t)process << 32 | id;
}

static int put_image(struct symbol_tables *t, const struct mapped_image *i)
{
	bool new;
	uint32_t *at = map_put(&t->by_id, key_of(i->process, i->row.id), (uint32_t)t->n_images, &new);

	if (!at)
		return -1;
	t->images[*at - 1] = *i;
	t->n_images += new;
	return 0;
}

static int add_image(struct model *m, uint32_t process, const void *row, const uint8_t *tail, uint32_t bytes)
{
	struct symbol_tables *t = m->symbols;
	struct mapped_image i = { .process = process };
	uint8_t *id = slab_take(&t->memory, bytes + 1);

	memcpy(&i.row, row, sizeof i.row);
	if (!id)
		return -1;
	if (bytes)
		memcpy(id, tail, bytes);
	i.build_id = id;
	i.name = string_id(m, process, i.row.name);
	return i.row.id ? put_image(t, &i) : 0;
}

static struct mapped_image *image_by_id(struct symbol_tables *t, uint32_t process, uint32_t id)
{
	uint32_t at = map_get(&t->by_id, key_of(process, id));

	return at == MAP_NONE ? NULL : &t->images[at];
}

/* String id of "[libcuda.so.1+0x1234]". */
static uint32_t unknown(struct model *m, const struct mapped_image *i, uint64_t offset)
{
	const char *path = model_string(m, i->name), *slash = strrchr(path, '/');
	char text[512];

	if (i->row.id)
		snprintf(text, sizeof text, "[%.400s+0x%llx]", slash ? slash + 1 : path, (unsigned long long)offset);
	else
		snprintf(text, sizeof text, "[0x%llx]", (unsigned long long)offset);
	return model_intern(m, text);
}

/* Reads a symbol row.  A set ends with depth 0; of several sets for an address the last one is used. */
static int add_symbol(struct model *m, uint32_t process, const void *row, const uint8_t *tail, uint32_t bytes)
{
	const struct symbol_row *r = row;
	struct symbol_tables *t = m->symbols;
	struct mapped_image *i = image_by_id(t, process, r->image);
	uint32_t set;

	(void)tail;
	(void)bytes;
	if (r->image != t->last_image || r->offset != t->last_offset)
		t->n_pending = 0;       /* drop an incomplete set: rows before this one are damaged */
	t->last_image = r->image;
	t->last_offset = r->offset;
	if (!i || t->n_pending == MOST_PLACES)
		return 0;
	t->pending[t->n_pending++] = (struct source_frame){
		.function = r->name ? string_id(m, process, r->name) : unknown(m, i, r->offset),
		.file = string_id(m, process, r->file),
		.line = r->line,
		.module = i->name,
		.flags = (r->depth ? FRAME_INLINED : 0) | (r->name ? 0 : FRAME_UNKNOWN) |
			 (r->flags & SYMBOL_UNNAMED ? FRAME_UNNAMED : 0),
	};
	if (r->depth)
		return 0;
	set = add_set(t, t->pending, t->n_pending);
	t->n_pending = 0;
	return set != MAP_NONE && map_set(&i->sets, r->offset, set) ? 0 : -1;
}

static int by_process(const void *a, const void *b)
{
	const struct mapped_image *i = a, *j = b;

	return i->process != j->process ? (i->process < j->process ? -1 : 1) :
	       i->row.id < j->row.id ? -1 : i->row.id > j->row.id;
}

static int load_images(struct model *m, struct symbol_tables *t)
{
	t->images = malloc((m->kinds[ROW_image].n_rows + m->n_processes) * sizeof *t->images);
	if (!t->images)
		return -1;
	for (uint32_t p = 0; p < m->n_processes; p++)
		if (put_image(t, &(struct mapped_image){ .process = p }) < 0)
			return -1;
	if (rows_each(m, ROW_image, add_image) < 0)
		return -1;
	qsort(t->images, t->n_images, sizeof *t->images, by_process);
	for (size_t i = 0; i < t->n_images; i++)
		if (!map_set(&t->by_id, key_of(t->images[i].process, t->images[i].row.id), (uint32_t)i))
			return -1;
	return 0;
}

bool model_ran_here(const struct model *m)
{
	char host[sizeof m->trace.header.host] = "";

	return gethostname(host, sizeof host - 1) == 0 && strcmp(host, m->trace.header.host) == 0;
}

static struct symbol_tables *load(struct model *m)
{
	struct symbol_tables *t = m->symbols;

	if (!t && model_look_in(m, &(struct lookup){ 0 }) < 0)
		return NULL;
	t = m->symbols;
	if (!t->images)
		t->failed = load_images(m, t) < 0 || rows_each(m, ROW_symbol, add_symbol) < 0;
	return t->failed ? NULL : t;
}

static void symbol_tables_free(struct symbol_tables *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_images; i++)
		map_release(&t->images[i].sets);
	free(t->images);
	free(t->sets);
	free(t->addresses);
	map_release(&t->seen);
	map_release(&t->by_id);
	symbols_free(t->files);
	slabs_free(t->memory);
	free(t);
}

static void symbols_release(struct model *m, bool rows_only)
{
	if (rows_only)
		return;
	symbol_tables_free(m->symbols);
	m->symbols = NULL;
}

int model_look_in(struct model *m, const struct lookup *where)
{
	struct symbol_tables *t = calloc(1, sizeof *t);

	symbol_tables_free(m->symbols);
	m->symbols = t;
	m->release[FROM_SYMBOLS] = symbols_release;
	if (!t)
		return -1;
	t->trace_only = where->trace_only;
	t->files = symbols_new(where->symfs, model_ran_here(m));
	if (!t->files)
		return -1;
	symbols_deadline(t->files, where->deadline);
	return 0;
}

/* ---- looking up ---- */

static bool holds(const struct mapped_image *i, uint64_t address)
{
	return i->row.id && address >= i->row.low && address < i->row.high;
}

/* The image mapped at an address at a time; else the last one mapped there at any time; else the process's image 0. */
static struct mapped_image *image_at(struct symbol_tables *t, uint32_t process, uint64_t address, int64_t when)
{
	struct mapped_image *own = image_by_id(t, process, 0), *best = NULL, *end = t->images + t->n_images;

	for (struct mapped_image *i = own; i < end && i->process == process; i++) {
		if (!holds(i, address))
			continue;
		if (when && i->row.start <= when && (!i->row.end || when < i->row.end))
			return i;
		if (!best || i->row.start >= best->row.start)
			best = i;
	}
	return best ? best : own;
}

/* Looks an offset of an image up in files; returns the number of functions, 0: none. */
static size_t look_up_address(struct model *m, struct mapped_image *i, uint64_t offset, bool lines, struct spot *out)
{
	struct symbols *files = m->symbols->files;
	const struct process *p = &m->processes[i->process];

	if (!i->row.id) {
		out[0] = (struct spot){ .function = symbols_made(files, p->pid, p->start / 1000000000, offset) };
		return out[0].function ? 1 : 0;
	}
	if (!i->object)
		i->object = symbols_object(files, model_string(m, i->name), i->build_id, i->row.bytes,
					   i->row.start / 1000000000);
	return i->object ? object_at(i->object, offset, lines, out) : 0;
}

/* Looks an offset up and adds the result as a set; returns its number, or MAP_NONE: out of memory. */
static uint32_t look_up(struct model *m, struct mapped_image *i, uint64_t offset)
{
	struct symbol_tables *t = m->symbols;
	struct source_frame frames[MOST_PLACES];
	struct spot places[MOST_PLACES];
	size_t n = t->trace_only ? 0 : look_up_address(m, i, offset, true, places);
	uint32_t set;

	for (size_t k = 0; k < n; k++)
		frames[k] = (struct source_frame){
			.function = places[k].function ? model_intern(m, places[k].function) : unknown(m, i, offset),
			.file = places[k].file ? model_intern(m, places[k].file) : STRING_NONE,
			.line = places[k].line,
			.module = i->name,
			.flags = (k + 1 < n ? FRAME_INLINED : 0) | (places[k].function ? 0 : FRAME_UNKNOWN) |
				 (places[k].unnamed ? FRAME_UNNAMED : 0),
		};
	if (!n)
		frames[n++] = (struct source_frame){ .function = unknown(m, i, offset), .module = i->name,
					      .flags = FRAME_UNKNOWN };
	set = add_set(t, frames, (uint32_t)n);
	return set != MAP_NONE && map_set(&i->sets, offset, set) ? set : MAP_NONE;
}

const struct source_frame *model_frames(struct model *m, uint32_t process, const struct stack_frame *f, int64_t when,
					size_t *n)
{
	struct symbol_tables *t = load(m);
	struct mapped_image *i;
	uint64_t offset;
	uint32_t set;

	*n = 0;
	if (!t || process >= m->n_processes || f->what != STACK_FRAME_NATIVE)
		return NULL;
	i = f->extra ? image_by_id(t, process, f->extra) : image_at(t, process, f->value, when);
	if (!i)
		i = image_by_id(t, process, 0);
	offset = f->value - i->row.base;
	set = map_get(&i->sets, offset);
	if (set == MAP_NONE)
		set = look_up(m, i, offset);
	return set_frames(t, set, n);
}

/* ---- all addresses ---- */

static int by_address(const void *a, const void *b)
{
	const struct address *p = a, *q = b;

	if (p->place != q->place)       /* images are sorted by process and id */
		return p->place < q->place ? -1 : 1;
	return p->offset < q->offset ? -1 : p->offset > q->offset;
}

/* False: out of memory. */
static bool add_address(struct symbol_tables *t, const struct mapped_image *in, uint64_t value)
{
	if (!GROW(t->addresses, t->n_addresses + 1, t->cap_addresses))
		return false;
	t->addresses[t->n_addresses++] = (struct address){
		.process = in->process, .image = in->row.id, .offset = value - in->row.base,
		.place = (size_t)(in - t->images),
	};
	return true;
}

/* Adds the address of a frame.  Without an image, it is added for every image ever mapped there, because stacks have no time. */
static bool add_frame(struct symbol_tables *t, uint32_t process, const struct stack_frame *f)
{
	struct mapped_image *own = image_by_id(t, process, 0), *end = t->images + t->n_images;
	struct mapped_image *in = f->extra ? image_by_id(t, process, f->extra) : NULL;
	size_t before = t->n_addresses;

	if (in)
		return add_address(t, in, f->value);
	for (struct mapped_image *i = own; i < end && i->process == process; i++)
		if (holds(i, f->value) && !add_address(t, i, f->value))
			return false;
	return t->n_addresses > before || add_address(t, own, f->value);
}

static int add_stack(struct model *m, uint32_t process, const void *row, const uint8_t *tail, uint32_t bytes)
{
	struct symbol_tables *t = m->symbols;
	struct stack_frame f;
	bool new;

	(void)row;
	if (process != t->seen_process)
		map_release(&t->seen);          /* avoids repeated addresses of one process */
	t->seen_process = process;
	for (uint32_t at = 0; at + sizeof f <= bytes; at += sizeof f) {
		memcpy(&f, tail + at, sizeof f);
		if (f.what != STACK_FRAME_NATIVE)
			continue;
		/* The same address in another image is a different address. */
		if (!map_put(&t->seen, f.value ^ (uint64_t)f.extra << 48, 0, &new))
			return -1;
		if (new && !add_frame(t, process, &f))
			return -1;
	}
	return 0;
}

/* Sorts the addresses, removes duplicates and sets what the trace knows of each. */
static void tidy(struct symbol_tables *t)
{
	size_t n = 0;

	qsort(t->addresses, t->n_addresses, sizeof *t->addresses, by_address);
	for (size_t i = 0; i < t->n_addresses; i++) {
		struct address *a = &t->addresses[i];
		uint32_t set = map_get(&t->images[a->place].sets, a->offset);

		if (n && by_address(&t->addresses[n - 1], a) == 0)
			continue;
		a->unnamed = set != MAP_NONE && t->sets[set].frames[t->sets[set].n - 1].flags & FRAME_UNNAMED;
		a->known = set != MAP_NONE && !a->unnamed;
		a->lined = a->known && t->sets[set].frames[0].line;
		t->addresses[n++] = *a;
	}
	t->n_addresses = n;
}

const struct address *model_addresses(struct model *m, size_t *n)
{
	struct symbol_tables *t = load(m);

	*n = 0;
	if (!t)
		return NULL;
	if (!t->addresses) {
		if (rows_each(m, ROW_stack, add_stack) < 0 || !t->n_addresses)
			return NULL;
		tidy(t);
	}
	*n = t->n_addresses;
	return t->addresses;
}

size_t model_look_up(struct model *m, const struct address *a, bool lines, struct spot *out)
{
	return look_up_address(m, &m->symbols->images[a->place], a->offset, lines, out);
}
