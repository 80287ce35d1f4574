#include "inject/python/python_dict.h"

#include <string.h>

#include "inject/core/scratch.h"
#include "inject/python/python_state.h"

/*
 * Layouts from each version's headers (cpython/object.h, cpython/dictobject.h, internal/pycore_object.h, internal/pycore_dict.h; up to
 * 3.10 Objects/dict-common.h), on 64-bit Linux.  Free-threaded builds have a longer object head (python_layout.h), added to these offsets.
 *
 *   PyTypeObject        tp_flags 168, tp_dictoffset 288.  PyHeapTypeObject: ht_cached_keys 872 (3.11), 880 (3.12 on)
 *   instance            where the pointer to its dict is (NULL before the dict exists):
 *                         up to 3.10, and for classes without a managed dict   at tp_dictoffset
 *                         3.11           3 words before the object; if NULL, the values are 4 words before it
 *                         3.12           3 words before; if bit 0 is set, it is the address of the values, less 1
 *                         3.13, 3.14     3 words before (free-threaded: 1); if NULL, the values follow the head, if `valid`
 *   values              up to 3.12 pointers; from 3.13 on bytes capacity, size, embedded, valid, and pointers from offset 8 on
 *   PyDictObject        after the head: ma_used, version, ma_keys, ma_values
 *   PyDictKeysObject    3.8 to 3.10: refcnt, size, lookup, usable, nentries, indices of 1, 2 or 4 bytes by size; entries are hash, key, value
 *                       3.11 on: refcnt, bytes log2_size, log2_index_bytes, kind, u32 version at 12, usable, nentries, indices; entries are
 *                       key, value; in a table of kind 0 (keys of any type) hash, key, value; kind 2 is shared by several instances
 */
#define TYPE_FLAGS   168
#define TYPE_DICT    288
#define TYPE_KEYS_11 872
#define TYPE_KEYS    880

#define FLAG_INLINE  (1ull << 2)
#define FLAG_MANAGED (1ull << 4)
#define FLAG_HEAP    (1ull << 9)
#define FLAG_BYTES   (1ull << 27)
#define FLAG_TEXT    (1ull << 28)
#define FLAG_DICT    (1ull << 29)

#define SHARED_MOST  30u                /* most keys that the instances of a class share, 3.11 on */
#define NAMES_MOST   1024u              /* most entries that are searched for a name */

enum kind { KIND_GENERAL, KIND_TEXT, KIND_SHARED };

static bool is_version(unsigned minor)
{
	return python.layout.version >= PY_VERSION(3, minor);
}

/* Bytes by which the object head of a free-threaded build is longer. */
static uint64_t more(void)
{
	return (uint64_t)python.layout.object_type - 8;
}

static uint64_t head_size(void)
{
	return python.layout.object_type + 8ull;
}

static bool flags_of(uint64_t type, uint64_t *flags)
{
	return peek_plausible(type) && peek(flags, type + TYPE_FLAGS + more(), sizeof *flags);
}

bool py_classes_ready(void)
{
	const struct py_symbols *p = &python.symbols;
	const uint64_t kinds = FLAG_HEAP | FLAG_BYTES | FLAG_TEXT | FLAG_DICT;
	const struct py_layout *l = &python.layout;
	uint64_t text, bytes, code;

	/* From 3.13 on these offsets come from the interpreter's own table: check that they fit the reads below. */
	if (l->object_type != (l->free_threaded ? 24 : 8) || l->text_length + 8u > l->text_ascii)
		return false;
	return flags_of(p->text_type, &text) && flags_of(p->bytes_type, &bytes) && flags_of(p->code_type, &code) &&
	       (text & kinds) == FLAG_TEXT && (bytes & kinds) == FLAG_BYTES && !(code & kinds);
}

bool py_class_read(struct py_class *class, uint64_t type)
{
	uint64_t keys = type + (is_version(12) ? TYPE_KEYS : TYPE_KEYS_11) + more();
	char at[TYPE_DICT - TYPE_FLAGS + 8];

	*class = (struct py_class){ .type = type };
	if (!peek_plausible(type) || !peek(at, type + TYPE_FLAGS + more(), sizeof at))
		return false;
	memcpy(&class->flags, at, 8);
	memcpy(&class->dict, at + sizeof at - 8, 8);
	if (!(class->flags & FLAG_HEAP))
		return false;
	return !is_version(11) || !(class->flags & FLAG_MANAGED) || peek(&class->keys, keys, sizeof class->keys);
}

/* ---- the trail ---- */

static void step(struct py_trail *t, uint64_t at, uint64_t word)
{
	if (t->n < PY_TRAIL) {
		t->at[t->n] = at;
		t->word[t->n++] = word;
	} else {
		t->n = PY_TRAIL + 1;
	}
}

void py_trail_entry(struct py_trail *t, const struct py_dict *d, uint32_t i, const struct py_entry *e)
{
	uint64_t entry = d->entries + (uint64_t)i * d->size;

	step(t, entry + d->key, e->key);
	step(t, d->values ? d->values + 8ull * i : entry + d->value, e->value);
}

bool py_trail_holds(const struct py_trail *t)
{
	uint64_t words[PY_TRAIL];

	return t->n && t->n <= PY_TRAIL && peek_words(words, t->at, t->n) && memcmp(words, t->word, 8ull * t->n) == 0;
}

/* ---- tables of keys ---- */

static bool open_old_keys(struct py_dict *d, uint64_t keys, const uint64_t head[5])
{
	uint64_t size = head[1], index = size <= 0xff ? 1 : size <= 0xffff ? 2 : 4;

	if (!size || size & (size - 1) || size > 1u << 30 || head[4] > size)
		return false;
	*d = (struct py_dict){ .entries = keys + 40 + size * index, .n = (uint32_t)head[4], .size = 24, .key = 8, .value = 16 };
	return true;
}

static bool open_keys(struct py_dict *d, uint64_t keys, bool shared)
{
	uint64_t head[5], n;
	uint8_t size, index, kind;

	if (!peek_plausible(keys) || !peek(head, keys, sizeof head))
		return false;
	if (!is_version(11))
		return open_old_keys(d, keys, head);
	size = (uint8_t)head[1];
	index = (uint8_t)(head[1] >> 8);
	kind = (uint8_t)(head[1] >> 16);
	n = head[3];
	if (size > 30 || index < size || index > size + 3 || kind > KIND_SHARED || (kind == KIND_SHARED) != shared || n > 1ull << size ||
	    (shared && n > SHARED_MOST))
		return false;
	*d = (struct py_dict){ .entries = keys + 32 + (1ull << index), .n = (uint32_t)n, .size = 16, .value = 8 };
	if (kind == KIND_GENERAL) {
		d->size = 24;
		d->key = 8;
		d->value = 16;
	}
	return true;
}

/* Sets d->values.  From 3.13 on, the values start with a header word; before: that word if it was read with the instance, NULL: read it. */
static bool put_values(struct py_dict *d, uint64_t values, const uint64_t *before)
{
	uint64_t word;

	if (!peek_plausible(values))
		return false;
	d->values = values;
	if (!is_version(13))
		return true;
	if (!before && !peek(&word, values, sizeof word))
		return false;
	word = before ? *before : word;
	if (d->n > (word & 0xff))
		d->n = (uint32_t)(word & 0xff);         /* capacity */
	d->values += 8;
	return true;
}

static bool is_dict(uint64_t type)
{
	static uint64_t known[2];       /* dict and OrderedDict, which are never freed */
	uint64_t flags;

	if (type == __atomic_load_n(&known[0], __ATOMIC_RELAXED) || type == __atomic_load_n(&known[1], __ATOMIC_RELAXED))
		return true;
	if (!flags_of(type, &flags) || !(flags & FLAG_DICT))
		return false;
	if (!(flags & FLAG_HEAP))
		__atomic_store_n(&known[__atomic_load_n(&known[0], __ATOMIC_RELAXED) != 0], type, __ATOMIC_RELAXED);
	return true;
}

bool py_dict_open(struct py_dict *d, uint64_t dict, struct py_trail *t)
{
	uint64_t at[8], used, keys, values, type, head = head_size() / 8;

	if (!peek_plausible(dict) || !peek(at, dict, (head + 4) * 8))
		return false;
	type = at[head - 1];
	used = at[head];
	keys = at[head + 2];
	values = at[head + 3];
	if (!peek_plausible(type) || !is_dict(type))
		return false;
	step(t, dict + (head + 2) * 8, keys);
	if (values)
		step(t, dict + (head + 3) * 8, values);
	*d = (struct py_dict){ .n = 0 };
	if (!used)
		return true;
	return open_keys(d, keys, values != 0) && (!values || put_values(d, values, NULL));
}

/* ---- instances ---- */

/* Word of an instance at a distance in bytes from its address, -32 and up. */
#define WORD(i, distance) ((i)->words[4 + (distance) / 8])

bool py_instance_read(struct py_instance *i, uint64_t object)
{
	i->object = object;
	if (!peek_plausible(object) || !peek(i->words, object - 32, sizeof i->words))
		return false;
	i->type = WORD(i, python.layout.object_type);
	return peek_plausible(i->type);
}

/*
 * Returns the dict that holds the attributes, 0 if there is none.  *values: address of the values if the instance has values with shared
 * keys instead, which may be inside the instance.
 */
static uint64_t dict_of(const struct py_instance *i, const struct py_class *class, uint64_t *values, struct py_trail *t)
{
	const int before = is_version(13) && python.layout.free_threaded ? -8 : -24;
	uint64_t dict;

	*values = 0;
	if (!is_version(11) || !(class->flags & FLAG_MANAGED)) {
		if (class->dict <= 0 || class->dict >= 1 << 16 || !peek(&dict, i->object + (uint64_t)class->dict, sizeof dict))
			return 0;
		step(t, i->object + (uint64_t)class->dict, dict);
		return dict;
	}
	dict = WORD(i, before);
	step(t, i->object + (uint64_t)(int64_t)before, dict);
	if (is_version(13)) {
		if (!dict && class->flags & FLAG_INLINE && (WORD(i, (int)head_size()) >> 24 & 0xff) == 1)
			*values = i->object + head_size();      /* the byte `valid` is 1 */
		return dict;
	}
	if (is_version(12)) {
		*values = dict & 1 ? dict + 1 : 0;
		return dict & 1 ? 0 : dict;
	}
	if (dict)
		return dict;
	*values = WORD(i, -32);
	step(t, i->object - 32, *values);
	return 0;
}

/* ---- entries ---- */

#define ENTRY_MOST 24u                  /* largest entry, in bytes */

static uint32_t read_entries(const struct py_dict *d, uint32_t from, struct py_entry *out, uint32_t n, char *raw)
{
	if (!peek(raw, d->entries + (uint64_t)from * d->size, (size_t)n * d->size))
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		memcpy(&out[i].key, raw + i * d->size + d->key, 8);
		memcpy(&out[i].value, raw + i * d->size + d->value, 8);
	}
	if (!d->values)
		return n;
	if (!peek(raw, d->values + 8ull * from, 8ull * n))
		return 0;
	for (uint32_t i = 0; i < n; i++)
		memcpy(&out[i].value, raw + 8 * i, 8);
	return n;
}

uint32_t py_dict_read(const struct py_dict *d, uint32_t from, struct py_entry out[PY_ENTRIES])
{
	uint32_t n = from < d->n ? d->n - from : 0, got;
	char *raw;

	n = n < PY_ENTRIES ? n : PY_ENTRIES;
	if (!n || !(raw = scratch_push(PY_ENTRIES * ENTRY_MOST)))
		return 0;
	got = read_entries(d, from, out, n, raw);
	scratch_pop(raw);
	return got;
}

/* Compares a str with ASCII text.  Only compact ASCII strs match, which attribute names are. */
static bool is_name(uint64_t object, const char *text)
{
	const struct py_layout *l = &python.layout;
	size_t n = strlen(text);
	char at[128];
	uint64_t type, length;

	if (!peek_plausible(object) || l->text_ascii + n > sizeof at || !peek(at, object, l->text_ascii + n))
		return false;
	memcpy(&type, at + l->object_type, sizeof type);
	memcpy(&length, at + l->text_length, sizeof length);
	return type == python.symbols.text_type && length == n && memcmp(at + l->text_ascii, text, n) == 0;
}

/*
 * Returns the entry's position, d->n if there is none.  Compares with the str object found last before it compares text: a name in code is
 * one object as long as the code exists.
 */
static uint32_t find_in(const struct py_dict *d, struct py_name *name, struct py_entry *found, struct py_entry *e)
{
	uint32_t n = d->n < NAMES_MOST ? d->n : NAMES_MOST, got;

	for (int by_text = !name->object; by_text < 2; by_text++) {
		for (uint32_t from = 0; from < n && (got = py_dict_read(d, from, e)) > 0; from += got) {
			for (uint32_t i = 0; i < got; i++) {
				if (by_text ? !is_name(e[i].key, name->text) : e[i].key != name->object)
					continue;
				name->object = e[i].key;
				*found = e[i];
				return from + i;
			}
		}
	}
	return d->n;
}

static uint32_t find_name(const struct py_dict *d, struct py_name *name, struct py_entry *found)
{
	struct py_entry *e = scratch_push(PY_ENTRIES * sizeof *e);
	uint32_t at = e ? find_in(d, name, found, e) : d->n;

	scratch_pop(e);
	return at;
}

static bool find_shared(const struct py_instance *i, struct py_class *class, uint64_t values, struct py_name *name, struct py_entry *found,
			struct py_trail *t)
{
	const uint64_t *before = is_version(13) ? &WORD(i, (int)head_size()) : NULL;
	struct py_dict d;

	if (!class->shared.size && !open_keys(&class->shared, class->keys, true))
		return false;
	d = class->shared;
	if (!put_values(&d, values, before))
		return false;
	if (class->name != name) {
		class->at = find_name(&d, name, found);
		class->name = class->at < d.n ? name : NULL;
		if (!class->name)
			return false;
	} else if (class->at >= d.n || !peek(&found->value, d.values + 8ull * class->at, 8)) {
		return false;
	}
	step(t, d.values + 8ull * class->at, found->value);
	return true;
}

bool py_attribute(const struct py_instance *i, struct py_class *class, struct py_name *name, uint64_t *value, struct py_trail *t)
{
	struct py_entry found = { 0 };
	uint64_t dict, values;
	struct py_dict d;
	uint32_t at;

	t->n = 0;
	step(t, i->object + python.layout.object_type, i->type);
	dict = dict_of(i, class, &values, t);
	if (values) {
		if (!find_shared(i, class, values, name, &found, t))
			return false;
	} else {
		if (!dict || !py_dict_open(&d, dict, t))
			return false;
		at = find_name(&d, name, &found);
		if (at >= d.n)
			return false;
		py_trail_entry(t, &d, at, &found);
	}
	*value = found.value;
	return *value;
}
