#include "inject/torch/torch_paths.h"

#include <string.h>

#include "inject/core/health.h"
#include "inject/core/scratch.h"
#include "inject/python/python_dict.h"
#include "inject/python/python_state.h"
#include "inject/torch/torch_objects.h"

#define DEEP_MOST    64u        /* most steps from a module up to the outermost one */
#define ENTRIES_MOST 65536u     /* most dict entries of one search */
#define SEARCH_MOST  16384u     /* most modules to search at once, about 2 us each */
#define SEARCH_NS    250000     /* time in which the budget grows by one module: costs less than 1 % */
#define AROUND_MOST  64u
#define KEY_MOST     1000u

static struct py_name modules_name = { .text = "_modules" };

/* ---- reads of the interpreter's memory ---- */

/* Classes that were read for this answer, and entries of the current dict. */
struct module_search {
	struct py_class classes[8];
	uint32_t n;
	struct py_entry entries[PY_ENTRIES];
};

static struct py_class *class_of(struct module_search *k, uint64_t type)
{
	struct py_class *class;

	for (uint32_t i = 0; i < 8 && i < k->n; i++)
		if (k->classes[i].type == type)
			return &k->classes[i];
	class = &k->classes[k->n % 8];
	if (!py_class_read(class, type)) {
		class->type = 0;
		return NULL;
	}
	k->n++;
	return class;
}

/* Opens the dict of a module's children and sets the trail to it.  False: there is no such dict, or the module is gone. */
static bool open_children(struct module_search *k, struct py_dict *d, const struct torch_object *o, struct py_trail *t)
{
	struct py_instance instance;
	struct py_class *class;
	uint64_t children;

	return py_instance_read(&instance, o->address) && instance.type == o->type && (class = class_of(k, o->type)) &&
	       py_attribute(&instance, class, &modules_name, &children, t) && py_dict_open(d, children, t);
}

/* Only str keys can be attribute names. */
static bool is_key(uint64_t key)
{
	uint64_t type;

	return peek_plausible(key) && peek(&type, key + python.layout.object_type, sizeof type) && type == python.symbols.text_type;
}

static void link_child(uint32_t child, uint32_t parent, const struct py_trail *t, const struct py_dict *d, uint32_t i, const struct py_entry *e)
{
	struct torch_object *o = &torch_objects->list[child];

	o->parent = parent;
	o->key = e->key;
	o->trail = *t;
	py_trail_entry(&o->trail, d, i, e);
	o->lost = 0;
}

/* True if the parent that it remembers still holds it. */
static bool still_linked(const struct torch_object *o)
{
	return o->key && py_trail_holds(&o->trail);
}

/* Looks for the child among the children of the parent; remembers the parent if found. */
static bool find_among(struct module_search *k, uint32_t child, uint32_t parent)
{
	struct py_entry *e = k->entries;
	struct py_trail t;
	struct py_dict d;

	if (!open_children(k, &d, &torch_objects->list[parent], &t))
		return false;
	for (uint32_t from = 0, n; from < ENTRIES_MOST && (n = py_dict_read(&d, from, e)) > 0; from += n) {
		for (uint32_t i = 0; i < n; i++) {
			if (e[i].value != torch_objects->list[child].address || !is_key(e[i].key))
				continue;
			link_child(child, parent, &t, &d, from + i, &e[i]);
			return true;
		}
	}
	return false;
}

/* ---- the search ---- */

static struct {
	uint32_t number;
	uint32_t left;                  /* modules that may be searched now */
	uint32_t epoch;
	int64_t since;
} search;

static void refill(void)
{
	int64_t now = clock_ns(CLOCK_MONOTONIC_COARSE), more = (now - search.since) / SEARCH_NS;

	if (search.epoch != guest->epoch)
		search.left = SEARCH_MOST;
	else if (more > 0)
		search.left = more > SEARCH_MOST - search.left ? SEARCH_MOST : search.left + (uint32_t)more;
	if (search.epoch != guest->epoch || more > 0)
		search.since = now;
	search.epoch = guest->epoch;
}

/* Appends a module's children to the queue; returns the queue's new end. */
static uint32_t expand(struct module_search *k, uint32_t parent, uint32_t end, uint32_t *entries)
{
	struct py_entry *e = k->entries;
	struct py_trail t;
	struct py_dict d;
	uint64_t type;

	if (!open_children(k, &d, &torch_objects->list[parent], &t))
		return end;
	for (uint32_t from = 0, n; *entries && (n = py_dict_read(&d, from, e)) > 0; from += n) {
		for (uint32_t i = 0; i < n && *entries; i++, --*entries) {
			uint32_t child;

			if (!peek_plausible(e[i].value) || !is_key(e[i].key) ||
			    !peek(&type, e[i].value + python.layout.object_type, sizeof type) || !class_of(k, type))
				continue;
			child = torch_object_at(e[i].value, type, true);
			if (child == TORCH_NONE || torch_objects->list[child].search == search.number || end >= TORCH_OBJECTS)
				continue;
			torch_objects->list[child].search = search.number;
			link_child(child, parent, &t, &d, from + i, &e[i]);
			torch_objects->queue[end++] = (uint16_t)child;
		}
	}
	return end;
}

/* Searches breadth-first all modules below root.  False: too many for the current budget. */
static bool search_below(struct module_search *k, uint32_t root)
{
	uint32_t end = 1, entries = ENTRIES_MOST;

	refill();
	torch_objects->list[root].search = ++search.number;
	torch_objects->queue[0] = (uint16_t)root;
	for (uint32_t i = 0; i < end; i++) {
		if (!search.left || !entries)
			return false;
		search.left--;
		end = expand(k, torch_objects->queue[i], end, &entries);
	}
	return true;
}

/* ---- paths ---- */

/* The modules around the current one, outermost first, with their paths as written. */
struct around {
	const uint32_t *objects;
	uint32_t n;
	char *text;
	size_t used;
	uint16_t at[AROUND_MOST], length[AROUND_MOST];
	bool known[AROUND_MOST];
};

/* The way up from a module: the keys, and where it ends. */
struct way {
	uint64_t keys[DEEP_MOST];
	uint32_t n;
	uint32_t top;                   /* index in `around`; TORCH_NONE: it ends at a module without a known parent */
};

static uint32_t which(const struct around *a, uint32_t object)
{
	for (uint32_t i = a->n; i-- > 0;)
		if (a->objects[i] == object && a->known[i])
			return i;
	return TORCH_NONE;
}

/* Follows the parents up to a module of `around`, or to one without a parent.  False: too many steps. */
static bool climb(const struct around *a, uint32_t object, struct way *w)
{
	for (w->n = 0; w->n < DEEP_MOST; object = torch_objects->list[object].parent) {
		const struct torch_object *o = &torch_objects->list[object];

		w->top = which(a, object);
		if (w->top != TORCH_NONE || !still_linked(o))
			return true;
		w->keys[w->n++] = o->key;
	}
	return false;
}

static bool reaches(const struct around *a, uint32_t object, struct way *w)
{
	return climb(a, object, w) && w->top != TORCH_NONE;
}

/*
 * Finds the way up from a module to its caller or a module further out.  A module that several modules hold is named by its caller, if that
 * is one of them.
 */
static bool find_way(struct module_search *k, const struct around *a, uint32_t object, struct way *w)
{
	struct torch_object *o = &torch_objects->list[object];
	uint32_t caller = a->objects[a->n - 1];

	if (caller != TORCH_NONE && !(o->parent == caller && still_linked(o)))
		find_among(k, object, caller);
	if (reaches(a, object, w))
		return true;
	if (o->lost)
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		if (a->objects[i] == TORCH_NONE || !a->known[i] || (i && i != a->n - 1))
			continue;
		if (!search_below(k, a->objects[i]))
			return reaches(a, object, w);
		if (reaches(a, object, w))
			return true;
	}
	o->lost = 1;
	health_count(HEALTH_torch_paths);
	return false;
}

/* The way up from the outermost module: if it was called inside another module before, as part of that one. */
static bool find_way_up(const struct around *a, uint32_t object, struct way *w)
{
	struct torch_object *o = &torch_objects->list[object];

	w->n = 0;
	w->top = TORCH_NONE;
	if (!o->key)
		o->root = 1;
	return o->root || climb(a, object, w);
}

static bool put_text(struct around *a, const char *text, size_t n)
{
	if (a->used + n > TORCH_PATHS - 2 * AROUND_MOST * sizeof TORCH_BETWEEN)
		return false;
	memcpy(a->text + a->used, text, n);
	a->used += n;
	return true;
}

static bool put_key(struct around *a, uint64_t key)
{
	char *text = scratch_push(PY_TEXT);
	int n = text ? py_text(text, key) : -1;
	bool fits = n > 0 && n <= (int)KEY_MOST;

	for (int i = 0; fits && i < n; i++)
		if (text[i] == '>' || (unsigned char)text[i] < ' ')
			text[i] = '_';          /* '>' separates two modules */
	fits = fits && put_text(a, text, (size_t)n);
	scratch_pop(text);
	return fits;
}

static bool is_outermost(const struct around *a, uint32_t i)
{
	return a->length[i] == 1 && a->text[a->at[i]] == '.';
}

static bool put_way(struct around *a, const struct way *w)
{
	size_t begin = a->used;

	if (w->top != TORCH_NONE && !is_outermost(a, w->top) && !put_text(a, a->text + a->at[w->top], a->length[w->top]))
		return false;
	if (!w->n)
		return put_text(a, ".", 1);
	for (uint32_t i = w->n; i-- > 0;)
		if ((a->used > begin && !put_text(a, ".", 1)) || !put_key(a, w->keys[i]))
			return false;
	return true;
}

static void put_object(struct module_search *k, struct around *a, struct way *w, uint32_t object)
{
	size_t begin;

	if (a->n) {
		memcpy(a->text + a->used, TORCH_BETWEEN, sizeof TORCH_BETWEEN - 1);
		a->used += sizeof TORCH_BETWEEN - 1;
	}
	begin = a->used;
	a->at[a->n] = (uint16_t)begin;
	a->known[a->n] = object != TORCH_NONE && (a->n ? find_way(k, a, object, w) : find_way_up(a, object, w)) && put_way(a, w);
	if (!a->known[a->n]) {
		a->used = begin;
		a->text[a->used++] = '?';
	}
	a->length[a->n++] = (uint16_t)(a->used - begin);
}

/* Checks the layout of classes, once. */
static bool is_ready(void)
{
	static uint32_t state;          /* 1: as expected, 2: not */

	if (likely(state))
		return state == 1;
	state = py_classes_ready() ? 1 : 2;
	if (state == 2)
		health_note(HEALTH_torch_paths, "Python %u.%u: unexpected layout of classes (modified build of CPython?)",
			    python.layout.version >> 8, python.layout.version & 0xff);
	return state == 1;
}

size_t torch_paths_write(char out[TORCH_PATHS], const uint32_t *objects, uint32_t n)
{
	struct {
		struct around around;
		struct module_search look;
		struct way way;
	} *room;
	size_t used;

	if (!is_ready() || !(room = scratch_push(sizeof *room)))
		return 0;
	room->around = (struct around){ .objects = objects, .text = out };
	room->look.n = 0;
	for (uint32_t i = 0; i < n && i < AROUND_MOST; i++)
		put_object(&room->look, &room->around, &room->way, objects[i]);
	used = room->around.used;
	scratch_pop(room);
	return used;
}
