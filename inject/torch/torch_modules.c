#include "inject/torch/torch_modules.h"

#include <stdio.h>
#include <string.h>

#include "inject/core/intern.h"
#include "inject/core/memory.h"
#include "inject/core/scratch.h"
#include "inject/python/python_state.h"
#include "inject/torch/torch_objects.h"
#include "inject/torch/torch_paths.h"
#include "trace/clock.h"

#define MODULES_MOST 48u        /* most modules of a nesting; outer ones are left out */
#define FRAMES_MOST  1024u      /* most frames that are searched */
#define TEXT_MOST    3072u      /* bytes of all names together */
#define NAME_MOST    96u

/* A Python object that should be an nn.Module. */
struct module_object {
	uint64_t address, type;
};

/* ---- frames that call a module ---- */

/* A cache of code addresses, with IS_CALL set for functions that call a module. */
#define KINDS   2048u           /* a power of two */
#define IS_CALL 1u
static uint64_t kinds[KINDS];

static bool text_ends(uint64_t text, const char *end)
{
	char *found = scratch_push(PY_TEXT);
	int n = found ? py_text(found, text) : -1, m = (int)strlen(end);
	bool ends = n >= m && memcmp(found + n - m, end, (size_t)m) == 0;

	scratch_pop(found);
	return ends;
}

/* Up to PyTorch 2.0 only _call_impl() calls a module; later _wrapped_call_impl() calls _call_impl(). */
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

/* Returns the frame's first variable.  If an inner function uses the variable too, it is in a cell; up to 3.10 it is then not found. */
static struct module_object first_variable(const struct py_layout *l, uint64_t frame, bool guarded)
{
	const struct module_object none = { 0 };
	struct module_object o;

	if (!py_read64(&o.address, frame + l->frame_locals, guarded) || !peek_plausible(o.address &= PY_UNTAG) ||
	    !py_read64(&o.type, o.address + l->object_type, guarded))
		return none;
	if (!python.symbols.cell_type || o.type != python.symbols.cell_type)
		return o;
	if (!py_read64(&o.address, o.address + l->object_type + 8, guarded) || !peek_plausible(o.address &= PY_UNTAG) ||
	    !py_read64(&o.type, o.address + l->object_type, guarded))
		return none;
	return o;
}

static inline uint64_t mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/*
 * Objects are freed, and others of the same class reuse their addresses, often those of the same model built again: the nesting then looks
 * known, but its paths may be wrong.  So every AGAIN_NS the current nesting is described again.  If the result differs, all cached ones are
 * dropped, at most once in ANEW_NS.
 */
#define AGAIN_NS 50000000        /* a description takes 20 to 200 us */
#define ANEW_NS  1000000000

static struct {
	uint64_t generation;            /* part of each hash */
	int64_t since;
} anew;

/* Reads a frame: its code object (0: none) and the next frame. */
static inline __attribute__((always_inline)) bool read_frame(const struct py_layout *l, uint64_t frame, bool guarded, uint64_t *code,
							     uint64_t *next)
{
	struct py_view v;

	if (!py_view(&v, l, frame, guarded))
		return false;
	*next = py_view64(&v, l->frame_previous);
	*code = py_has_shims(l) && (uint8_t)v.at[l->frame_owner] >= PY_OWNER_C ? 0 : py_view64(&v, l->frame_code) & PY_UNTAG;
	return true;
}

static inline __attribute__((always_inline)) uint32_t collect_from(uint64_t frame, struct module_object out[MODULES_MOST], uint64_t *hash,
								   bool guarded)
{
	const struct py_layout *l = &python.layout;
	uint64_t code, next;
	uint32_t n = 0;

	for (uint32_t i = 0; i < FRAMES_MOST && n < MODULES_MOST && read_frame(l, frame, guarded, &code, &next); i++, frame = next) {
		struct module_object o = { 0 };

		if (likely(peek_plausible(code)) && unlikely(is_call(code)))
			o = first_variable(l, frame, guarded);
		if (o.address && !(n && out[n - 1].address == o.address)) {
			out[n++] = o;
			*hash = mix(*hash ^ o.address, o.type ^ 0xa0761d6478bd642full);
		}
	}
	return n;
}

/* Collects the modules that the thread is in, innermost first; returns their number.  *hash identifies the nesting. */
static uint32_t collect(struct module_object out[MODULES_MOST], uint64_t *hash)
{
	uint64_t state = python_thread_state(), frame;
	bool guarded = state && !python_is_safe(state);

	*hash = 0xe7037ed1a0b428dbull ^ py_epoch() ^ anew.generation << 32;
	if (!state || !py_first_frame(&frame, &python.layout, state, guarded))
		return 0;
	return guarded ? collect_from(frame, out, hash, true) : collect_from(frame, out, hash, false);
}

/* ---- their names ---- */

/* Reads the class's name without its module; "?"  if it cannot be read. */
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
			*p = '_';       /* '>' separates two classes */
	if (!*out)
		strcpy(out, "?");
}

struct description {
	char text[TEXT_MOST], paths[TORCH_PATHS], name[NAME_MOST];
	uint32_t known[MODULES_MOST];
};

static uint64_t write_description(struct stream *s, struct description *d, const struct module_object *objects, uint32_t n)
{
	uint32_t kept = 0;
	size_t used = 0, paths_used;
	uint64_t id;

	if (!torch_objects_open())
		return 0;
	for (; n-- > 0 && used < sizeof d->text - NAME_MOST - 16; kept++) {
		uint32_t number;

		d->known[kept] = torch_object_at(objects[n].address, objects[n].type, false);
		number = torch_object_number(d->known[kept]);
		read_class(d->name, objects[n].type);
		used += (size_t)snprintf(d->text + used, sizeof d->text - used, number == TORCH_NONE ? "%s%s_?" : "%s%s_%u",
					 used ? TORCH_BETWEEN : "", d->name, number);
	}
	paths_used = torch_paths_write(d->paths, d->known, kept);
	torch_objects_close();
	id = intern_bytes(s, d->text, used);
	return id && paths_used ? id | (uint64_t)intern_bytes(s, d->paths, paths_used) << 32 : id;
}

/* Returns the string ids of a nesting: names, and paths << 32.  0: none. */
static uint64_t describe(struct stream *s, const struct module_object *objects, uint32_t n)
{
	struct description *d = scratch_push(sizeof *d);
	uint64_t id = d ? write_description(s, d, objects, n) : 0;

	scratch_pop(d);
	return id;
}

/* ---- known nestings ---- */

#define PLACES 8192u            /* a power of two */

/* key is hash ^ ids: a pair that two threads wrote at the same time matches no hash. */
static struct cached_modules {
	uint64_t key, ids;
} *places, only_place;                  /* only_place replaces the table when there is no memory */

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

static uint64_t ids_of(struct stream *s, const struct module_object *objects, uint32_t n, uint64_t hash)
{
	struct cached_modules *all = MEMORY_TABLE(places, PLACES), *place = likely(all != NULL) ? &all[hash >> 51] : &only_place;
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

/* The outermost operator that is open on this thread, and its index among the open ranges. */
static __thread struct {
	uint64_t range;
	uint32_t depth;
} outermost __attribute__((tls_model("initial-exec")));

struct torch_module_stack torch_modules_look(struct stream *s)
{
	const struct torch_module_stack inside = { .modules = TORCH_INSIDE };
	const struct slot *slot = s->slot;
	struct module_object *objects;
	uint64_t hash, ids;
	uint32_t n;

	if (!slot)
		return inside;
	if (outermost.depth < slot->depth && slot->stack[outermost.depth].id == outermost.range)
		return inside;
	if (!python.layout.frame_locals || !python_ready())
		return (struct torch_module_stack){ 0 };
	if (!(objects = scratch_push(MODULES_MOST * sizeof *objects)))
		return (struct torch_module_stack){ 0 };
	n = collect(objects, &hash);
	ids = n ? ids_of(s, objects, n, hash) : 0;
	scratch_pop(objects);
	return (struct torch_module_stack){ .modules = (uint32_t)ids, .paths = (uint32_t)(ids >> 32) };
}

void torch_modules_note(struct stream *s, struct torch_module_stack in, uint64_t range)
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
