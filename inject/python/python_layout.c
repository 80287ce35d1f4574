#include "inject/python/python_layout.h"

#include <string.h>

#include "inject/core/scratch.h"
#include "inject/unwind/peek.h"

/* Offsets in str and bytes objects of builds with the GIL; up to 3.11 a str has one more pointer. */
#define OLD_OBJECTS .text_length = 16, .text_state = 32, .text_ascii = 48, .text_other = 72, \
	.bytes_size = 16, .bytes_data = 32, .object_type = 8
#define OBJECTS .text_length = 16, .text_state = 32, .text_ascii = 40, .text_other = 56, \
	.bytes_size = 16, .bytes_data = 32, .object_type = 8

/* Common to 3.8, 3.9 and 3.10. */
#define OLD_FRAMES .state_frame = 24, .state_thread = 176, .frame_previous = 24, .frame_code = 32, .frame_size = 112, \
	.code_file = 104, .code_name = 112, .code_first_line = 40, .code_lines = 120, .code_size = 128, OLD_OBJECTS, \
	.runtime_finalizing = 16, .runtime_interpreters = 32

/* From the headers of each version, on 64-bit Linux.  3.13 and later publish their own offsets, see COOKIE. */
static const struct py_layout baked[] = {
	{ .version = PY_VERSION(3, 8), .instruction = PY_LASTI_BYTES, .frame_instruction = 104, .frame_locals = 360, OLD_FRAMES },
	{ .version = PY_VERSION(3, 9), .instruction = PY_LASTI_BYTES, .frame_instruction = 104, .frame_locals = 360, OLD_FRAMES },
	{ .version = PY_VERSION(3, 10), .instruction = PY_LASTI_UNITS, .frame_instruction = 96, .state_chain = 48, .chain_previous = 8,
	  .frame_locals = 352, OLD_FRAMES },
	{ .version = PY_VERSION(3, 11), .instruction = PY_POINTER, .state_frame = 56, .cframe = 1 + 8, .state_chain = 56,
	  .chain_previous = 16, .state_thread = 152, .frame_previous = 48, .frame_code = 32, .frame_instruction = 56, .frame_owner = 69,
	  .frame_entry = 68, .frame_size = 72, .code_file = 112, .code_name = 120, .code_qualname = 128, .code_first_line = 72,
	  .code_lines = 136, .code_code = 184, .code_size = 144, OLD_OBJECTS, .runtime_finalizing = 24, .runtime_interpreters = 40,
	  .frame_locals = 72 },
	{ .version = PY_VERSION(3, 12), .instruction = PY_POINTER, .state_frame = 56, .cframe = 1 + 0, .state_thread = 136,
	  .frame_previous = 8, .frame_code = 0, .frame_instruction = 56, .frame_owner = 70, .frame_size = 72, .code_file = 112,
	  .code_name = 120, .code_qualname = 128, .code_first_line = 68, .code_lines = 136, .code_code = 192, .code_size = 144, OBJECTS,
	  .runtime_finalizing = 24, .frame_locals = 72 },
};

/*
 * _PyRuntime of 3.13 and later starts with COOKIE, the version, the free-threading flag and offsets.  The slot of each offset depends on
 * the version.
 */
#define COOKIE "xdebugpy"
#define N_SLOTS 96
#define MAX_OFFSET 4096u

enum { SLOT_VERSION = 1, SLOT_FREE_THREADED, SLOT_FINALIZING = 4, SLOT_INTERPRETERS };

struct layout_slot {
	uint16_t at;            /* offset in struct py_layout */
	uint8_t of_13, of_14;   /* slot number in 3.13, in 3.14; 0: none */
};

#define SLOT(member, of_13, of_14) { offsetof(struct py_layout, member), of_13, of_14 }

static const struct layout_slot slots[] = {
	SLOT(runtime_finalizing, SLOT_FINALIZING, SLOT_FINALIZING),
	SLOT(state_frame, 23, 26), SLOT(state_thread, 24, 27),
	SLOT(frame_previous, 29, 32), SLOT(frame_code, 30, 33), SLOT(frame_instruction, 31, 34), SLOT(frame_owner, 33, 36),
	SLOT(frame_tlbc, 0, 38), SLOT(frame_locals, 32, 35),
	SLOT(code_file, 35, 40), SLOT(code_name, 36, 41), SLOT(code_qualname, 37, 42), SLOT(code_lines, 38, 43),
	SLOT(code_first_line, 39, 44), SLOT(code_code, 43, 48), SLOT(code_tlbc, 0, 49),
	SLOT(object_type, 45, 51), SLOT(bytes_size, 65, 75), SLOT(bytes_data, 66, 76),
	SLOT(text_state, 68, 78), SLOT(text_length, 69, 79), SLOT(text_ascii, 70, 80),
};

static const char *from_table(struct py_layout *l, uint64_t *table, uint64_t runtime, uint32_t version)
{
	if (!peek(table, runtime, N_SLOTS * sizeof *table))
		return "process_vm_readv() cannot read the interpreter's memory";
	if (memcmp(table, COOKIE, 8) != 0 || table[SLOT_VERSION] >> 16 != version)
		return "unexpected header of _PyRuntime (modified build of CPython?)";
	*l = (struct py_layout){ .version = version, .instruction = PY_POINTER, .free_threaded = table[SLOT_FREE_THREADED] != 0 };
	for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
		unsigned slot = version == PY_VERSION(3, 13) ? slots[i].of_13 : slots[i].of_14;
		uint64_t value = slot ? table[slot] : 0;

		if (value > MAX_OFFSET)
			return "invalid offsets in _PyRuntime (modified build of CPython?)";
		*(uint16_t *)((char *)l + slots[i].at) = (uint16_t)value;
	}
	if (!l->free_threaded)
		l->frame_tlbc = 0;
	l->text_other = l->text_ascii + 16;
	l->frame_size = (uint16_t)(((l->frame_owner > l->frame_tlbc + 3 ? l->frame_owner : l->frame_tlbc + 3) | 7) + 1);
	l->code_size = l->code_lines + 8;
	return NULL;
}

static const char *from_slots(struct py_layout *l, uint64_t runtime, uint32_t version)
{
	uint64_t *table = scratch_push(N_SLOTS * sizeof *table);
	const char *wrong = table ? from_table(l, table, runtime, version) : "not enough memory to read the offsets in _PyRuntime";

	scratch_pop(table);
	return wrong;
}

/* Up to 3.12 _PyRuntime starts with flags that say so; later versions have a list of interpreters, which is then not empty. */
bool py_runs(const struct py_symbols *symbols, uint32_t version)
{
	uint64_t head[SLOT_INTERPRETERS + 1], first;

	if (!peek(head, symbols->runtime, sizeof head))
		return true;            /* py_layout_fill() or verify() reports the failed read */
	if (version < PY_VERSION(3, 13))
		return head[0] | head[1];
	return head[SLOT_INTERPRETERS] > MAX_OFFSET || (peek(&first, symbols->runtime + head[SLOT_INTERPRETERS], sizeof first) && first);
}

_Static_assert(PY_OLDEST == PY_VERSION(3, 8) && PY_NEWEST == PY_VERSION(3, 14), "py_layout_fill() names these versions");

const char *py_layout_fill(struct py_layout *layout, const struct py_symbols *symbols, uint32_t version)
{
	for (size_t i = 0; i < sizeof baked / sizeof *baked; i++) {
		if (baked[i].version != version)
			continue;
		*layout = baked[i];
		return NULL;
	}
	if (version < PY_OLDEST)
		return "too old, versions 3.8 to 3.14 are supported";
	if (version > PY_NEWEST)
		return "too new, versions 3.8 to 3.14 are supported";
	return from_slots(layout, symbols->runtime, version);
}

/* ---- check of the code type's tp_members, the table that getattr() uses ---- */

struct member {         /* PyMemberDef */
	uint64_t name;
	int32_t type, reserved;
	int64_t offset;
	int64_t flags;
	uint64_t doc;
};

#define TYPE_MEMBERS 240        /* offsets of PyTypeObject.tp_members and tp_basicsize with the GIL; free threading adds to them */
#define TYPE_SIZE    32
#define MAX_MEMBERS  32

/* 1: a member at that offset; 0: at another offset; -1: no such member. */
static int has_member(uint64_t table, const char *name, uint16_t offset)
{
	struct member m;
	char text[24];

	for (int i = 0; i < MAX_MEMBERS && peek(&m, table + (uint64_t)i * sizeof m, sizeof m) && m.name; i++)
		if (peek(text, m.name, strlen(name) + 1) && memcmp(text, name, strlen(name) + 1) == 0)
			return m.offset == offset;
	return -1;
}

bool py_layout_agrees(const struct py_layout *l, const struct py_symbols *symbols)
{
	const uint16_t more = l->object_type - 8;       /* bytes by which a free-threaded build's object head is longer */
	const char *lines = l->version < PY_VERSION(3, 10) ? "co_lnotab" : "co_linetable";
	uint64_t table, size;

	if (!peek(&table, symbols->code_type + TYPE_MEMBERS + more, sizeof table) ||
	    !peek(&size, symbols->code_type + TYPE_SIZE + more, sizeof size))
		return false;
	if (l->instruction == PY_POINTER && size != l->code_code)
		return false;
	return has_member(table, "co_filename", l->code_file) == 1 && has_member(table, "co_name", l->code_name) == 1 &&
	       has_member(table, "co_firstlineno", l->code_first_line) == 1 && has_member(table, lines, l->code_lines) == 1 &&
	       (!l->code_qualname || has_member(table, "co_qualname", l->code_qualname) == 1);
}
