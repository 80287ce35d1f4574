#include "inject/ranges/names.h"

#include <string.h>

#include "inject/core/intern.h"
#include "inject/core/lock.h"
#include "inject/core/memory.h"
#include "trace/rules/libraries.h"

#define GROUP  1024u
#define GROUPS 1024u
#define BUCKETS 4096u           /* hash table of domains by name */

struct name {
	uint32_t epoch, id;             /* string id in the process of that epoch */
	uint32_t described;             /* domains: epoch in which its row was written */
	uint32_t len;
	uint32_t next;                  /* domains: handle of the next domain in the bucket, 0 at the end */
	uint32_t library;               /* domains: enum library_id */
	const char *text;
};

struct names {
	uint32_t used;
	struct name *groups[GROUPS];
};

/* Kept across fork(): the program's code in the child still holds the handles. */
static struct names domains, strings;
static uint32_t domain_lock, string_lock;
static uint32_t buckets[BUCKETS];       /* handle of the newest domain of each bucket, 0: none */
static uint32_t libraries_seen;
static uint64_t string_bytes;           /* bytes of registered strings, with their struct name */
static uint32_t shared[INTERN_SHARED];  /* handles of the placeholder names (see INTERN_SHARED), 0: not registered yet */

static struct name *at(struct names *all, uint32_t i)
{
	struct name **group = &all->groups[i / GROUP], *none = NULL, *fresh;

	if (i >= GROUP * GROUPS)
		return NULL;
	if (!__atomic_load_n(group, __ATOMIC_ACQUIRE)) {
		fresh = memory_take(GROUP * sizeof(struct name));
		if (!fresh)
			return NULL;
		__atomic_compare_exchange_n(group, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	}
	return __atomic_load_n(group, __ATOMIC_ACQUIRE) + i % GROUP;
}

/* Appends a name.  Returns its index + 1, or 0 when there is no room (counted). */
static uint32_t add_name(struct names *all, const char *text, size_t n)
{
	uint32_t i = __atomic_fetch_add(&all->used, 1, __ATOMIC_RELAXED);
	struct name *name = at(all, i);
	char *copy = name ? memory_take(n + 1) : NULL;

	if (!copy) {
		health_count(HEALTH_strings_full);
		return 0;
	}
	memcpy(copy, text, n);
	name->len = (uint32_t)n;
	__atomic_store_n(&name->text, copy, __ATOMIC_RELEASE);
	return i + 1;
}

static struct name *lookup(struct names *all, const void *handle)
{
	uintptr_t i = (uintptr_t)handle - 1;
	struct name *name;

	if (i >= __atomic_load_n(&all->used, __ATOMIC_RELAXED))
		return NULL;
	name = at(all, (uint32_t)i);
	return name && __atomic_load_n(&name->text, __ATOMIC_ACQUIRE) ? name : NULL;
}

/* Returns the name's string id in this process; interns it first if this epoch has not yet. */
static uint32_t id_of(struct stream *s, struct name *name)
{
	if (unlikely(__atomic_load_n(&name->epoch, __ATOMIC_ACQUIRE) != guest->epoch)) {
		uint32_t id = intern_bytes(s, name->text, name->len);

		__atomic_store_n(&name->id, id, __ATOMIC_RELAXED);
		if (id)
			__atomic_store_n(&name->epoch, guest->epoch, __ATOMIC_RELEASE);
		return id;
	}
	return __atomic_load_n(&name->id, __ATOMIC_RELAXED);
}

/* String memory is full: returns the handle of the placeholder name for this text (counted). */
static uint32_t shared_string(const char *text, size_t n)
{
	char name[INTERN_SHARED_SIZE];
	uint32_t which = intern_shared(name, text, n);

	lock_take(&string_lock);
	if (!shared[which])
		shared[which] = add_name(&strings, name, strlen(name));
	lock_give(&string_lock);
	health_count(HEALTH_strings_full);
	return shared[which];
}

const void *names_string(struct stream *s, const char *text, size_t n)
{
	uint64_t used = __atomic_fetch_add(&string_bytes, n + sizeof(struct name), __ATOMIC_RELAXED);
	uint32_t i, known = __atomic_load_n(&strings.used, __ATOMIC_RELAXED);

	if (n > INTERN_MAX)
		n = INTERN_MAX;
	if (used < intern_limit() && known < GROUP * GROUPS - INTERN_SHARED)    /* keep room for the placeholders */
		i = add_name(&strings, text, n);
	else
		i = shared_string(text, n);
	if (i)
		id_of(s, at(&strings, i - 1));
	return (const void *)(uintptr_t)i;
}

uint32_t names_string_id(struct stream *s, const void *handle)
{
	struct name *name = lookup(&strings, handle);

	return name ? id_of(s, name) : 0;
}

static const char *text_of(const struct name *name, size_t *n)
{
	*n = name ? name->len : 0;
	return name ? name->text : "";
}

const char *names_string_text(const void *handle, size_t *n)
{
	return text_of(lookup(&strings, handle), n);
}

const char *names_domain_text(const void *handle, size_t *n)
{
	return text_of(lookup(&domains, handle), n);
}

static uint32_t *bucket_of(const char *text, size_t n)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619u;
	return &buckets[(hash ^ hash >> 16) % BUCKETS];
}

/* Returns one handle for equal names: two libraries may create the same domain, as cuBLAS and cuBLASLt do.  Caller holds domain_lock. */
static uint32_t find_or_add_domain(const char *text, size_t n)
{
	uint32_t *bucket = bucket_of(text, n), i = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
	struct name *name;

	for (; i; i = name->next) {
		name = at(&domains, i - 1);
		if (name->len == n && memcmp(name->text, text, n) == 0)
			return i;
	}
	i = add_name(&domains, text, n);
	if (!i)
		return 0;
	name = at(&domains, i - 1);
	name->library = library_of_domain(text, n);
	if (name->library < N_LIBRARIES)
		__atomic_fetch_or(&libraries_seen, 1u << name->library, __ATOMIC_RELAXED);
	name->next = *bucket;
	__atomic_store_n(bucket, i, __ATOMIC_RELEASE);
	return i;
}

bool names_domain_of_library(const void *handle)
{
	const struct name *name = handle ? lookup(&domains, handle) : NULL;

	return name && name->library < N_LIBRARIES;
}

uint32_t names_libraries_seen(void)
{
	return __atomic_load_n(&libraries_seen, __ATOMIC_RELAXED);
}

const void *names_domain(struct stream *s, const char *text, size_t n)
{
	uint32_t i;

	if (n > INTERN_MAX)
		n = INTERN_MAX;
	lock_take(&domain_lock);
	i = find_or_add_domain(text, n);
	lock_give(&domain_lock);
	names_domain_id(s, (const void *)(uintptr_t)i);
	return (const void *)(uintptr_t)i;
}

uint32_t names_domain_id(struct stream *s, const void *handle)
{
	struct name *name = handle ? lookup(&domains, handle) : NULL;
	struct domain_row *row;
	uint32_t id;

	if (!name)
		return 0;
	if (likely(__atomic_load_n(&name->described, __ATOMIC_RELAXED) == guest->epoch))
		return (uint32_t)(uintptr_t)handle;
	id = id_of(s, name);    /* before stream_reserve(): id_of() may write a row */
	row = stream_reserve(s, ROW_domain, sizeof *row);
	if (row) {
		*row = (struct domain_row){ .id = (uint32_t)(uintptr_t)handle, .name = id };
		stream_publish(s, row);
		__atomic_store_n(&name->described, guest->epoch, __ATOMIC_RELAXED);
	}
	return (uint32_t)(uintptr_t)handle;
}
