#include <string.h>

#include "inject/intern.h"
#include "inject/python_state.h"

/*
 * Ids of code objects by address.  An address is used again soon after its code object is freed, so four fields that two code objects
 * hardly share are held against those that were described.  Each place is guarded by its number: odd while it is written.
 */
#define PLACES 4096u            /* a power of two */

struct known {
	uint32_t number;
	uint32_t epoch;                 /* ids are of one process */
	uint64_t code, file, name, lines;
	uint32_t first_line;
	uint32_t id;
	uint32_t library;
	uint32_t reserved;
};

static struct known places[PLACES];

static struct known *place_of(uint64_t code)
{
	return &places[code * 0x9e3779b97f4a7c15ull >> 52];
}

/* What is looked at in a code object, or in a copy of its begin: one or two cache lines. */
static void read_fields(struct known *k, uint64_t code, uint64_t from)
{
	const struct py_layout *l = &python.layout;

	k->epoch = guest->epoch;
	k->code = code;
	k->file = py_load64(from + l->code_file);
	k->name = py_load64(from + l->code_name);
	k->lines = py_load64(from + l->code_lines);
	k->first_line = py_load32(from + l->code_first_line);
}

static bool is_known(const struct known *place, struct known *k)
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

/* Where another thread is just writing, it stays as it is: described once more at the next call, with the same id. */
static void remember(struct known *place, const struct known *k)
{
	uint32_t number = __atomic_load_n(&place->number, __ATOMIC_RELAXED);

	if (number & 1 || !__atomic_compare_exchange_n(&place->number, &number, number + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	place->epoch = k->epoch;
	place->code = k->code;
	place->file = k->file;
	place->name = k->name;
	place->lines = k->lines;
	place->first_line = k->first_line;
	place->id = k->id;
	place->library = k->library;
	__atomic_store_n(&place->number, number + 2, __ATOMIC_RELEASE);
}

/* ---- strings ---- */

#define TEXT_MAX (PY_TEXT / 4)      /* characters of a path or a name; the rest is cut */

/* The state word of a string: interned 2 bits, kind 3, compact 1, ascii 1.  Free threads give the first 8 bits since 3.14. */
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
	char head[64], raw[4 * TEXT_MAX];
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
	if (!peek(raw, text + (state.ascii ? l->text_ascii : l->text_other), length * state.kind))
		return length ? -1 : 0;
	for (size_t i = 0; i < length; i++)
		n += utf8_put(out + n, character(raw + i * state.kind, state.kind));
	return (int)n;
}

/* ---- describing ---- */

#define TABLE_MAX 24000u        /* bytes of a line table: a function of some thousand lines; the rest is cut */

/* Folders of installed packages and of the standard library, and modules without a file of their own. */
static bool is_library_path(const char *path, size_t n)
{
	static const char *const folders[] = { "/site-packages/", "/dist-packages/", "/lib/python3", "/lib64/python3" };

	if (n >= 7 && memcmp(path, "<frozen", 7) == 0)
		return true;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		if (memmem(path, n, folders[i], strlen(folders[i])))
			return true;
	return false;
}

/*
 * The frame around an inlined __init__() (3.12 on) belongs to a code object that the interpreter makes: one string is its file and its
 * name.  No traceback shows it.
 */
static bool is_internal(const struct known *k, const char *name, int n)
{
	return py_has_shims(&python.layout) && k->file == k->name && n == 8 && memcmp(name, "__init__", 8) == 0;
}

/* The line table; false: it is none. */
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
	return peek(&end, *at + row->bytes, 1);         /* bytes end with a zero */
}

static void describe(struct stream *s, struct known *k)
{
	const struct py_layout *l = &python.layout;
	struct code_row row = { .first_line = k->first_line, .version = l->version };
	char text[PY_TEXT];
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

static uint32_t known_or_described(struct stream *s, struct known *k)
{
	struct known *place = place_of(k->code);

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
	struct known k;

	/* What was described was a code object; of anything else that is to be seen first. */
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
	struct known k;
	char copy[192];

	if (!peek_plausible(frame->code) || l->code_size > sizeof copy || !peek(copy, frame->code, l->code_size))
		return 0;
	memcpy(&type, copy + l->object_type, sizeof type);
	if (type != python.symbols.code_type)
		return 0;
	read_fields(&k, frame->code, (uint64_t)(uintptr_t)copy);
	return known_or_described(s, &k);
}

bool python_is_library(const struct py_frame *frame)
{
	struct known k;

	if (place_of(frame->code)->code != frame->code)
		return false;
	read_fields(&k, frame->code, frame->code);
	return is_known(place_of(frame->code), &k) && k.library;
}
