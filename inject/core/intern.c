#include "inject/core/intern.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "inject/core/lock.h"
#include "inject/core/memory.h"
#include "inject/core/scratch.h"

#define MAX_ENTRIES (1u << 24)  /* even if string_limit would allow more */
#define FIRST_SIZE  4096u       /* hash places; doubled when half full */

struct intern_entry {
	uint64_t hash;
	uint32_t id, kind, len, reserved;
	char bytes[];
};

struct intern_table {
	uint32_t mask;
	struct intern_entry *places[];
};

#define RECENT 1024u            /* a power of two */

/* One per process, in the guest page: a forked child starts without one. */
struct intern {
	struct intern_table *table;
	uint32_t lock;
	uint32_t used;
	uint64_t bytes;                 /* of entries and grown tables; limited by setting string_limit */
	uint32_t next_string, next_config, next_code;
	/* Cache by the text's address: most names are literals.  A hit costs a strcmp(), a third of hash and lookup. */
	struct intern_entry *recent[RECENT];
};

static inline uint64_t load64(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static inline uint64_t load32(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static inline uint64_t fold(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* 16 bytes per multiplication; the last words overlap.  Names are 10 to 4000 bytes long. */
static uint64_t hash_of(const char *p, size_t n, uint64_t seed)
{
	const uint64_t k1 = 0xa0761d6478bd642full, k2 = 0xe7037ed1a0b428dbull;
	uint64_t h = seed ^ k1, a = 0, b = 0;
	size_t left = n;

	for (; left > 16; left -= 16, p += 16)
		h = fold(load64(p) ^ k2, load64(p + 8) ^ h);
	if (left >= 8) {
		a = load64(p);
		b = load64(p + left - 8);
	} else if (left >= 4) {
		a = load32(p);
		b = load32(p + left - 4);
	} else if (left > 0) {
		a = (uint64_t)(uint8_t)p[0] << 16 | (uint64_t)(uint8_t)p[left / 2] << 8 | (uint8_t)p[left - 1];
	}
	return fold(k1 ^ n, fold(a ^ k2, b ^ h));
}

static struct intern_entry *find(const struct intern_table *t, uint64_t hash, uint32_t kind, const void *bytes, size_t n)
{
	for (uint32_t i = (uint32_t)hash & t->mask;; i = (i + 1) & t->mask) {
		struct intern_entry *e = __atomic_load_n(&t->places[i], __ATOMIC_ACQUIRE);

		if (!e || (e->hash == hash && e->kind == kind && e->len == n && memcmp(e->bytes, bytes, n) == 0))
			return e;
	}
}

static void place(struct intern_table *t, struct intern_entry *e)
{
	struct intern_entry *none = NULL;

	/* By compare and swap: two threads may hold the lock (lock.h). */
	for (uint32_t i = (uint32_t)e->hash & t->mask;; i = (i + 1) & t->mask, none = NULL)
		if (__atomic_compare_exchange_n(&t->places[i], &none, e, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
}

static struct intern_table *table_new(uint32_t size)
{
	struct intern_table *t = memory_take(sizeof *t + size * sizeof t->places[0]);

	if (t)
		t->mask = size - 1;
	return t;
}

/* The old table stays: another thread may be reading it. */
static bool grow(struct intern *in)
{
	struct intern_table *old = in->table;
	struct intern_table *t = table_new((old->mask + 1) * 2);

	if (!t)
		return false;
	__atomic_fetch_add(&in->bytes, (t->mask + 1ull) * sizeof t->places[0], __ATOMIC_RELAXED);
	for (uint32_t i = 0; i <= old->mask; i++)
		if (old->places[i])
			place(t, old->places[i]);
	__atomic_store_n(&in->table, t, __ATOMIC_RELEASE);
	return true;
}

static struct intern *intern_self(void)
{
	struct intern *in = __atomic_load_n(&guest->intern, __ATOMIC_ACQUIRE);
	struct intern *fresh, *none = NULL;

	if (likely(in != NULL))
		return in;
	fresh = memory_take(sizeof *fresh);
	if (!fresh || !(fresh->table = table_new(FIRST_SIZE)))
		return NULL;
	if (__atomic_compare_exchange_n(&guest->intern, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return fresh;
	return none;
}

static bool describe_string(struct stream *s, uint32_t id, const void *bytes, size_t n)
{
	struct string_row *row = stream_reserve(s, ROW_string, stream_tail(sizeof *row, n));

	if (!row)
		return false;
	*row = (struct string_row){ .id = id, .bytes = (uint32_t)n };
	memcpy(row + 1, bytes, n);
	stream_publish(s, row);
	return true;
}

static bool describe_config(struct stream *s, uint32_t id, const void *bytes)
{
	struct config_row *row = stream_reserve(s, ROW_config, sizeof *row);

	if (!row)
		return false;
	memcpy(row, bytes, sizeof *row);
	row->id = id;
	stream_publish(s, row);
	return true;
}

/* Key of a code object (up to `table`), and its line table, which is not part of the key. */
struct code_text {
	struct code_row row;
	uint64_t hash;
	const void *table;
};

#define CODE_KEY offsetof(struct code_text, table)

static bool describe_code(struct stream *s, uint32_t id, const struct code_text *text)
{
	struct code_row *row = stream_reserve(s, ROW_code, stream_tail(sizeof *row, text->row.bytes));

	if (!row)
		return false;
	*row = text->row;
	row->id = id;
	memcpy(row + 1, text->table, text->row.bytes);
	stream_publish(s, row);
	return true;
}

static bool describe(struct stream *s, uint32_t id, uint32_t kind, const void *bytes, size_t n)
{
	switch (kind) {
	case ROW_string: return describe_string(s, id, bytes, n);
	case ROW_config: return describe_config(s, id, bytes);
	default:         return describe_code(s, id, bytes);
	}
}

static uint32_t *counter_of(struct intern *in, uint32_t kind)
{
	switch (kind) {
	case ROW_string: return &in->next_string;
	case ROW_config: return &in->next_config;
	default:         return &in->next_code;
	}
}

/* Writes the description before the entry becomes visible to other threads.  NULL when it cannot be described. */
static struct intern_entry *insert(struct stream *s, struct intern *in, uint64_t hash, uint32_t kind, const void *bytes, size_t n)
{
	struct intern_entry *e = find(in->table, hash, kind, bytes, n);
	uint32_t *next = counter_of(in, kind);
	uint32_t id;

	if (e)
		return e;
	if (in->used >= in->table->mask / 2 && !grow(in))
		return NULL;
	e = memory_take(sizeof *e + n + 1);     /* zero-terminated, for strcmp() */
	if (!e)
		return NULL;
	e->hash = hash;
	e->kind = kind;
	e->len = (uint32_t)n;
	e->id = id = __atomic_add_fetch(next, 1, __ATOMIC_RELAXED);
	memcpy(e->bytes, bytes, n);
	if (!describe(s, e->id, kind, bytes, n)) {      /* give the id back: readers index tables by id */
		__atomic_compare_exchange_n(next, &id, id - 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		return NULL;
	}
	__atomic_fetch_add(&in->used, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&in->bytes, sizeof *e + n + 1, __ATOMIC_RELAXED);
	place(in->table, e);
	return e;
}

uint64_t intern_limit(void)
{
	return guest->config.string_limit;
}

uint32_t intern_shared(char name[INTERN_SHARED_SIZE], const char *text, size_t n)
{
	uint32_t which = (uint32_t)(hash_of(text, n, ROW_string) >> 20) % INTERN_SHARED;

	snprintf(name, INTERN_SHARED_SIZE, "(one of many strings, #%u)", which);
	return which;
}

static bool is_full(const struct intern *in)
{
	return __atomic_load_n(&in->bytes, __ATOMIC_RELAXED) >= intern_limit() ||
	       __atomic_load_n(&in->used, __ATOMIC_RELAXED) >= MAX_ENTRIES;
}

static struct intern_entry *intern(struct stream *s, struct intern *in, uint32_t kind, const void *bytes, size_t n)
{
	uint64_t hash = hash_of(bytes, n, kind);
	struct intern_entry *e = find(__atomic_load_n(&in->table, __ATOMIC_ACQUIRE), hash, kind, bytes, n);
	char name[INTERN_SHARED_SIZE];

	if (likely(e != NULL))
		return e;
	if (unlikely(is_full(in))) {
		health_count(HEALTH_strings_full);
		if (kind != ROW_string)
			return NULL;
		intern_shared(name, bytes, n);
		bytes = name;
		n = strlen(name);
		hash = hash_of(bytes, n, kind);
		e = find(__atomic_load_n(&in->table, __ATOMIC_ACQUIRE), hash, kind, bytes, n);
		if (e)
			return e;
	}
	lock_take(&in->lock);
	e = insert(s, in, hash, kind, bytes, n);
	lock_give(&in->lock);
	return e;
}

static uint32_t id_of(const struct intern_entry *e)
{
	return e ? e->id : 0;
}

uint32_t intern_bytes(struct stream *s, const char *text, size_t n)
{
	struct intern *in = intern_self();

	return in ? id_of(intern(s, in, ROW_string, text, n < INTERN_MAX ? n : INTERN_MAX)) : 0;
}

uint32_t intern_text(struct stream *s, const char *text)
{
	struct intern *in = text ? intern_self() : NULL;
	struct intern_entry **recent, *e;

	if (!in)
		return 0;
	recent = &in->recent[((uintptr_t)text ^ (uintptr_t)text >> 10) % RECENT];
	e = __atomic_load_n(recent, __ATOMIC_ACQUIRE);
	if (likely(e && strcmp(e->bytes, text) == 0))
		return e->id;
	e = intern(s, in, ROW_string, text, strnlen(text, INTERN_MAX));
	if (e)
		__atomic_store_n(recent, e, __ATOMIC_RELEASE);
	return id_of(e);
}

size_t utf8_put(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

size_t utf8_of(char *out, size_t size, const wchar_t *text)
{
	size_t n = 0;

	for (; *text && n + 4 <= size; text++) {
		uint32_t c = (uint32_t)*text;

		if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			c = 0xfffd;     /* not a character */
		n += utf8_put(out + n, c);
	}
	return n;
}

#define WIDE_MAX 4096u          /* bytes; the rest is cut */

uint32_t intern_wide(struct stream *s, const wchar_t *text)
{
	char *utf8 = text ? scratch_push(WIDE_MAX) : NULL;
	uint32_t id = utf8 ? intern_bytes(s, utf8, utf8_of(utf8, WIDE_MAX, text)) : 0;

	scratch_pop(utf8);
	return id;
}

uint32_t intern_config(struct stream *s, struct config_row *config)
{
	struct intern *in = intern_self();

	config->id = 0;
	config->id = in ? id_of(intern(s, in, ROW_config, config, sizeof *config)) : 0;
	return config->id;
}

uint32_t intern_code(struct stream *s, struct code_row *code, const void *table)
{
	struct intern *in = intern_self();
	struct code_text text = { .row = *code, .table = table };

	text.row.id = 0;
	text.hash = hash_of(table, code->bytes, ROW_code);
	code->id = in ? id_of(intern(s, in, ROW_code, &text, CODE_KEY)) : 0;
	return code->id;
}

#define ATTRIBUTE_MAX 1024

static void write_attribute(struct stream *s, const char *text, int n)
{
	struct attribute_row *row;

	if (n < 0)
		return;
	if (n >= ATTRIBUTE_MAX)
		n = ATTRIBUTE_MAX - 1;
	row = stream_reserve(s, ROW_attribute, stream_tail(sizeof *row, (size_t)n));
	if (!row)
		return;
	*row = (struct attribute_row){ .process = guest->process, .bytes = (uint32_t)n };
	memcpy(row + 1, text, (size_t)n);
	stream_publish(s, row);
}

void intern_attribute(struct stream *s, const char *key, const char *value)
{
	char *text = scratch_push(ATTRIBUTE_MAX);

	if (text)
		write_attribute(s, text, snprintf(text, ATTRIBUTE_MAX, "%s=%s", key, value));
	scratch_pop(text);
}
