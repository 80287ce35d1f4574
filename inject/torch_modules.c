#include "inject/torch_modules.h"

#include <stdio.h>
#include <string.h>

#include "inject/intern.h"
#include "inject/python_state.h"
#include "inject/torch_objects.h"
#include "inject/torch_paths.h"
#include "trace/clock.h"

#define MODULES_MOST 48u        /* around each other; further out they are left out */
#define FRAMES_MOST  1024u      /* that are searched */
#define TEXT_MOST    3072u      /* of all names together */
#define NAME_MOST    96u

/* An nn.Module as the interpreter holds it. */
struct object {
	uint64_t address, type;
};

/* ---- frames of a module's call ---- */

/* Code addresses, with IS_CALL set for those that call a module. */
#define KINDS   2048u           /* a power of two */
#define IS_CALL 1u
static uint64_t kinds[KINDS];

static bool text_ends(uint64_t text, const char *end)
{
	char found[PY_TEXT];
	int n = py_text(found, text), m = (int)strlen(end);

	return n >= m && memcmp(found + n - m, end, (size_t)m) == 0;
}

/* Up to PyTorch 2.0 there is _call_impl() alone, later on one inside the other. */
static bool calls_module(uint64_t code)
{
	const struct py_layout *l = &python.layout;
	uint64_t type, name, file;

	return peek(&type, code + l->object_type, sizeof type) && type == python.symbols.code_type &&
	       peek(&name, code + l->code_name, sizeof name) && peek(&file, code + l->code_file, sizeof file) &&
	       text_ends(name, "_call_impl") && text_ends(file, "/torch/nn/modules/module.py");
}

static bool is_call(uint64_t code)
{
	uint64_t *kind = &kinds[code * 0x9e3779b97f4a7c15ull >> 53], known = __atomic_load_n(kind, __ATOMIC_RELAXED);

	if (likely((known & ~(uint64_t)IS_CALL) == code))
		return known & IS_CALL;
	known = code | (calls_module(code) ? IS_CALL : 0);
	__atomic_store_n(kind, known, __ATOMIC_RELAXED);
	return known & IS_CALL;
}

/* The frame's first variable.  It may be in a cell, for a function inside that uses it too; up to 3.10 the variable is then empty. */
static struct object first_variable(const struct py_layout *l, uint64_t frame)
{
	struct object o = { .address = py_load64(frame + l->frame_locals) & PY_UNTAG };

	if (!peek_plausible(o.address))
		return (struct object){ 0 };
	o.type = py_load64(o.address + l->object_type);
	if (!python.symbols.cell_type || o.type != python.symbols.cell_type)
		return o;
	o.address = py_load64(o.address + l->object_type + 8) & PY_UNTAG;
	if (!peek_plausible(o.address))
		return (struct object){ 0 };
	o.type = py_load64(o.address + l->object_type);
	return o;
}

static inline uint64_t mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/*
 * Objects die, and others of their class take their place, often those of the same model built again: then the nesting is one that is
 * known, and a path may be wrong.  So every now and then the nesting at hand is described anew, and where it has changed, all are.
 */
#define AGAIN_NS 50000000        /* of 20 to 200 us each */
#define ANEW_NS  1000000000

static struct {
	uint64_t generation;            /* part of each hash */
	int64_t since;
} anew;

/* Innermost first.  *hash tells them from others. */
static uint32_t collect(struct object out[MODULES_MOST], uint64_t *hash)
{
	const struct py_layout *l = &python.layout;
	const bool shims = py_has_shims(l);
	uint64_t state = python_thread_state(), frame = state ? py_first_frame(l, state) : 0;
	uint32_t n = 0;

	*hash = 0xe7037ed1a0b428dbull ^ guest->epoch ^ anew.generation << 32;
	for (uint32_t i = 0; i < FRAMES_MOST && n < MODULES_MOST && peek_plausible(frame); i++) {
		uint64_t code = py_load64(frame + l->frame_code) & PY_UNTAG;
		bool shim = shims && *(const uint8_t *)(uintptr_t)(frame + l->frame_owner) >= PY_OWNER_C;
		struct object o = { 0 };

		if (!shim && likely(peek_plausible(code)) && unlikely(is_call(code)))
			o = first_variable(l, frame);
		if (o.address && !(n && out[n - 1].address == o.address)) {
			out[n++] = o;
			*hash = mix(*hash ^ o.address, o.type ^ 0xa0761d6478bd642full);
		}
		frame = py_load64(frame + l->frame_previous);
	}
	return n;
}

/* ---- their names ---- */

/* The class's name, without its module; "?" if it cannot be read. */
static void read_class(char out[NAME_MOST], uint64_t type)
{
	const uint64_t at = type + 24 + python.layout.object_type - 8;  /* PyTypeObject: tp_name */
	uint64_t name;
	const char *dot;
	uint32_t n = 0;

	if (peek_plausible(type) && peek(&name, at, sizeof name) && name) {
		if (peek(out, name, NAME_MOST - 1))
			n = (uint32_t)strnlen(out, NAME_MOST - 1);
		else
			while (n < NAME_MOST - 1 && peek(&out[n], name + n, 1) && out[n])
				n++;
	}
	out[n] = '\0';
	dot = strrchr(out, '.');
	if (dot)
		memmove(out, dot + 1, strlen(dot));
	for (char *p = out; *p; p++)
		if (*p == '>' || (unsigned char)*p < ' ')
			*p = '_';       /* what stands between two classes */
	if (!*out)
		strcpy(out, "?");
}

/* What the collector knows a nesting by. */
static uint64_t describe(struct stream *s, const struct object *objects, uint32_t n)
{
	char text[TEXT_MOST], paths[TORCH_PATHS], name[NAME_MOST];
	uint32_t known[MODULES_MOST], kept = 0;
	size_t used = 0, paths_used;
	uint64_t id;

	torch_objects_open();
	for (; n-- > 0 && used < sizeof text - NAME_MOST - 16; kept++) {
		uint32_t number;

		known[kept] = torch_object_at(objects[n].address, objects[n].type, false);
		number = torch_object_number(known[kept]);
		read_class(name, objects[n].type);
		used += (size_t)snprintf(text + used, sizeof text - used, number == TORCH_NONE ? "%s%s_?" : "%s%s_%u",
					 used ? TORCH_BETWEEN : "", name, number);
	}
	paths_used = torch_paths_write(paths, known, kept);
	torch_objects_close();
	id = intern_bytes(s, text, used);
	return id && paths_used ? id | (uint64_t)intern_bytes(s, paths, paths_used) << 32 : id;
}

/* ---- known nestings ---- */

#define PLACES 8192u            /* a power of two */

/* hash ^ ids, ids: a pair that two threads wrote at once fits no hash. */
static struct place {
	uint64_t key, ids;
} places[PLACES];

static __thread int64_t looked __attribute__((tls_model("initial-exec")));

static bool is_due(void)
{
	int64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);

	if (likely(now - looked < AGAIN_NS))
		return false;
	looked = now;
	return true;
}

static void forget(void)
{
	int64_t since = __atomic_load_n(&anew.since, __ATOMIC_RELAXED);

	if (looked - since < ANEW_NS)
		return;
	__atomic_store_n(&anew.since, looked, __ATOMIC_RELAXED);
	__atomic_fetch_add(&anew.generation, 1, __ATOMIC_RELAXED);
}

static uint64_t ids_of(struct stream *s, const struct object *objects, uint32_t n, uint64_t hash)
{
	struct place *place = &places[hash >> 51];
	uint64_t ids = __atomic_load_n(&place->ids, __ATOMIC_RELAXED), old = 0;

	if (likely((__atomic_load_n(&place->key, __ATOMIC_RELAXED) ^ ids) == hash)) {
		if (likely(!is_due()))
			return ids;
		old = ids;
	}
	ids = describe(s, objects, n);
	if (old && ids && ids != old)
		forget();
	if (ids) {
		__atomic_store_n(&place->ids, ids, __ATOMIC_RELAXED);
		__atomic_store_n(&place->key, hash ^ ids, __ATOMIC_RELAXED);
	}
	return ids;
}

/* The outermost operator that is open on this thread, and its place among the open ranges. */
static __thread struct {
	uint64_t range;
	uint32_t depth;
} outermost __attribute__((tls_model("initial-exec")));

struct torch_nesting torch_modules_look(struct stream *s)
{
	const struct torch_nesting inside = { .modules = TORCH_INSIDE };
	const struct slot *slot = s->slot;
	struct object objects[MODULES_MOST];
	uint64_t hash, ids;
	uint32_t n;

	if (!slot)
		return inside;
	if (outermost.depth < slot->depth && slot->stack[outermost.depth].id == outermost.range)
		return inside;
	if (!python.layout.frame_locals || !python_ready())
		return (struct torch_nesting){ 0 };
	n = collect(objects, &hash);
	ids = n ? ids_of(s, objects, n, hash) : 0;
	return (struct torch_nesting){ .modules = (uint32_t)ids, .paths = (uint32_t)(ids >> 32) };
}

void torch_modules_note(struct stream *s, struct torch_nesting in, uint64_t range)
{
	struct modules_row *row;

	if (s->slot && s->slot->depth && s->slot->stack[s->slot->depth - 1].id == range) {
		outermost.range = range;
		outermost.depth = s->slot->depth - 1;
	}
	row = in.modules ? stream_reserve(s, ROW_modules, sizeof *row) : NULL;
	if (!row)
		return;
	*row = (struct modules_row){ .range = range, .modules = in.modules, .paths = in.paths };
	stream_publish(s, row);
}
