#include <string.h>

#include "inject/core/intern.h"
#include "inject/core/memory.h"
#include "inject/core/scratch.h"
#include "inject/python/python_state.h"
#include "trace/rules/pythonlib.h"

/* Cache of described code objects, by address. */
#define PLACES 4096u            /* entries; a power of two */

static struct py_known *places, only_place;        /* only_place: the cache when there is no memory for the table */

static struct py_known *place_of(uint64_t code)
{
	struct py_known *all = MEMORY_TABLE(places, PLACES);

	return likely(all != NULL) ? &all[code * 0x9e3779b97f4a7c15ull >> 52] : &only_place;
}

struct py_known *py_known_at(uint64_t code)
{
	return place_of(code);
}

/* Reads the fields that identify a code object, from the object itself or from a copy of its start: one or two cache lines. */
static void read_fields(struct py_known *k, uint64_t code, uint64_t from)
{
	const struct py_layout *l = &python.layout;

	k->epoch = py_epoch();
	k->code = code;
	k->file = py_load64(from + l->code_file);
	k->name = py_load64(from + l->code_name);
	k->lines = py_load64(from + l->code_lines);
	k->first_line = py_load32(from + l->code_first_line);
}

static bool is_known(const struct py_known *place, struct py_known *k)
{
	uint32_t number = __atomic_load_n(&place->number, __ATOMIC_ACQUIRE);

	if (number & 1 || place->code != k->code || place->file != k->file || place->name != k->name || place->lines != k->lines ||
	    place->first_line != k->first_line || place->epoch != k->epoch)
		return false;
	k->id = place->id;
	k->library = place->library;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&place->number, __ATOMIC_RELAXED) == number;
}

/* Stores k in the cache.  If another thread is writing the entry, does nothing: the code object is described again, with the same id. */
static void remember(struct py_known *place, const struct py_known *k)
{
	uint32_t writer = __atomic_load_n(&place->writer, __ATOMIC_RELAXED), self = guest->epoch, odd;

	if (writer == self || !__atomic_compare_exchange_n(&place->writer, &writer, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	odd = __atomic_load_n(&place->number, __ATOMIC_RELAXED) | 1;
	__atomic_store_n(&place->number, odd, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	place->epoch = k->epoch;
	place->code = k->code;
	place->file = k->file;
	place->name = k->name;
	place->lines = k->lines;
	place->first_line = k->first_line;
	place->id = k->id;
	place->library = k->library;
	__atomic_store_n(&place->number, odd + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&place->writer, 0, __ATOMIC_RELEASE);
}

/* ---- strings ---- */

#define TEXT_MAX (PY_TEXT / 4)      /* characters of a path or a name; longer ones are cut */

/* Bits of a str's state word: interned 2, kind 3, compact 1, ascii 1.  In free-threaded builds since 3.14, interned has 8. */
struct text_state {
	uint32_t kind;
	bool compact, ascii;
};

static struct text_state text_state(uint32_t word)
{
	const struct py_layout *l = &python.layout;
	unsigned shift = l->free_threaded && l->version >= PY_VERSION(3, 14) ? 8 : 2;

	return (struct text_state){ word >> shift & 7, word >> (shift + 3) & 1, word >> (shift + 4) & 1 };
}

static uint32_t character(const char *p, uint32_t kind)
{
	uint32_t c = 0;

	memcpy(&c, p, kind);
	return c >= 0xd800 && c < 0xe000 ? 0xfffd : c > 0x10ffff ? 0xfffd : c;
}

int py_text(char out[PY_TEXT], uint64_t text)
{
	const struct py_layout *l = &python.layout;
	char head[64], *raw;
	struct text_state state;
	uint64_t type, length;
	uint32_t word;
	size_t n = 0;

	if (!peek_plausible(text) || l->text_ascii > sizeof head || !peek(head, text, l->text_ascii))
		return -1;
	memcpy(&type, head + l->object_type, sizeof type);
	memcpy(&length, head + l->text_length, sizeof length);
	memcpy(&word, head + l->text_state, sizeof word);
	state = text_state(word);
	if (type != python.symbols.text_type || !state.compact || !(state.kind == 1 || state.kind == 2 || state.kind == 4))
		return -1;
	if (length > TEXT_MAX)
		length = TEXT_MAX;
	if (!length)
		return 0;
	if (!(raw = scratch_push(4 * TEXT_MAX)))
		return -1;
	if (peek(raw, text + (state.ascii ? l->text_ascii : l->text_other), length * state.kind))
		for (size_t i = 0; i < length; i++)
			n += utf8_put(out + n, character(raw + i * state.kind, state.kind));
	scratch_pop(raw);
	return n ? (int)n : -1;
}

/* ---- describing ---- */

#define TABLE_MAX 24000u        /* bytes of a line table, enough for some thousand lines; longer ones are cut */

/* True for installed packages, the standard library and frozen modules, which have no file. */
static bool is_library_path(const char *path, size_t n)
{
	return (n >= 7 && memcmp(path, "<frozen", 7) == 0) || pythonlib_has(path, n);
}

/*
 * The interpreter (3.12 on) puts a frame around an inlined __init__() whose code object has one str as both file and name.  Tracebacks omit
 * it.
 */
static bool is_internal(const struct py_known *k, const char *name, int n)
{
	return py_has_shims(&python.layout) && k->file == k->name && n == 8 && memcmp(name, "__init__", 8) == 0;
}

/* Finds the line table: sets row->bytes and *at, its address.  False: `lines` is not a readable bytes object. */
static bool read_table(struct code_row *row, uint64_t *at, uint64_t lines)
{
	const struct py_layout *l = &python.layout;
	uint64_t type, size;
	char end;

	if (!peek_plausible(lines) || !peek(&type, lines + l->object_type, sizeof type) || type != python.symbols.bytes_type ||
	    !peek(&size, lines + l->bytes_size, sizeof size))
		return false;
	row->bytes = (uint32_t)(size < TABLE_MAX ? size : TABLE_MAX);
	*at = lines + l->bytes_data;
	return peek(&end, *at + row->bytes, 1);         /* the terminating zero must be readable */
}

static void describe_with(struct stream *s, struct py_known *k, char text[PY_TEXT])
{
	const struct py_layout *l = &python.layout;
	struct code_row row = { .first_line = k->first_line, .version = l->version };
	uint64_t name, table;
	int n;

	k->id = 0;
	k->library = 0;
	name = k->name;
	if (l->code_qualname && !peek(&name, k->code + l->code_qualname, sizeof name))
		return;
	n = py_text(text, name);
	if (n < 0 || !read_table(&row, &table, k->lines))
		return;
	if (is_internal(k, text, n)) {
		k->id = PY_HIDDEN;
		return;
	}
	row.name = intern_bytes(s, text, (size_t)n);
	n = py_text(text, k->file);
	if (n < 0)
		return;
	k->library = is_library_path(text, (size_t)n);
	row.file = intern_bytes(s, text, (size_t)n);
	k->id = intern_code(s, &row, (const void *)(uintptr_t)table);
}

static void describe(struct stream *s, struct py_known *k)
{
	char *text = scratch_push(PY_TEXT);

	k->id = 0;
	if (text)
		describe_with(s, k, text);
	scratch_pop(text);
}

static uint32_t known_or_described(struct stream *s, struct py_known *k)
{
	struct py_known *place = place_of(k->code);

	if (likely(is_known(place, k)))
		return k->id;
	describe(s, k);
	if (k->id)
		remember(place, k);
	return k->id;
}

uint32_t python_code_id(struct stream *s, const struct py_frame *frame)
{
	uint64_t code = frame->code, type;
	struct py_known k;

	/* Addresses in the cache were code objects when described; check the type of any other address first. */
	if (unlikely(!code || place_of(code)->code != code) &&
	    (!peek_plausible(code) || !peek(&type, code + python.layout.object_type, sizeof type) || type != python.symbols.code_type))
		return 0;
	read_fields(&k, code, code);
	return known_or_described(s, &k);
}

uint32_t python_code_id_guarded(struct stream *s, const struct py_frame *frame)
{
	const struct py_layout *l = &python.layout;
	uint64_t type;
	struct py_known k;
	char copy[192];

	if (!peek_plausible(frame->code) || l->code_size > sizeof copy || !peek(copy, frame->code, l->code_size))
		return 0;
	memcpy(&type, copy + l->object_type, sizeof type);
	if (type != python.symbols.code_type)
		return 0;
	read_fields(&k, frame->code, (uint64_t)(uintptr_t)copy);
	return known_or_described(s, &k);
}

bool python_is_library(const struct py_frame *frame, uint32_t id)
{
	const struct py_known *place = place_of(frame->code);
	uint32_t number = __atomic_load_n(&place->number, __ATOMIC_ACQUIRE);
	bool library = place->code == frame->code && place->id == id && place->epoch == py_epoch() && place->library;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(number & 1) && __atomic_load_n(&place->number, __ATOMIC_RELAXED) == number && library;
}
