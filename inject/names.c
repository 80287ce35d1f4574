#include "inject/names.h"

#include <string.h>

#include "inject/intern.h"
#include "inject/lock.h"
#include "inject/memory.h"

#define GROUP  1024u
#define GROUPS 1024u

struct name {
	uint32_t epoch, id;             /* string id in the process of that epoch */
	uint32_t described;             /* domains: epoch in which its row was written */
	uint32_t len;
	const char *text;
};

struct names {
	uint32_t used;
	struct name *groups[GROUPS];
};

/* Kept across a fork on purpose: the child's code still holds the handles. */
static struct names domains, strings;
static uint32_t domain_lock;

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

/* Index + 1 of a new name; 0 when there is no room. */
static uint32_t add(struct names *all, const char *text, size_t n)
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

/* The string's id in this process. */
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

const void *names_string(struct stream *s, const char *text, size_t n)
{
	uint32_t i = add(&strings, text, n < INTERN_MAX ? n : INTERN_MAX);

	if (i)
		id_of(s, at(&strings, i - 1));
	return (const void *)(uintptr_t)i;
}

uint32_t names_string_id(struct stream *s, const void *handle)
{
	struct name *name = lookup(&strings, handle);

	return name ? id_of(s, name) : 0;
}

const char *names_string_text(const void *handle, size_t *n)
{
	const struct name *name = lookup(&strings, handle);

	*n = name ? name->len : 0;
	return name ? name->text : "";
}

/* Two libraries may create the same domain (cuBLAS and cuBLASLt do): one handle for both. */
static uint32_t find_domain(const char *text, size_t n)
{
	uint32_t used = __atomic_load_n(&domains.used, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < used; i++) {
		struct name *name = lookup(&domains, (const void *)(uintptr_t)(i + 1));

		if (name && name->len == n && memcmp(name->text, text, n) == 0)
			return i + 1;
	}
	return 0;
}

const void *names_domain(struct stream *s, const char *text, size_t n)
{
	uint32_t i;

	if (n > INTERN_MAX)
		n = INTERN_MAX;
	lock_take(&domain_lock);
	i = find_domain(text, n);
	if (!i)
		i = add(&domains, text, n);
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
	id = id_of(s, name);    /* before the reserve: it writes a row of its own */
	row = stream_reserve(s, ROW_domain, sizeof *row);
	if (row) {
		*row = (struct domain_row){ .id = (uint32_t)(uintptr_t)handle, .name = id };
		stream_publish(s, row);
		__atomic_store_n(&name->described, guest->epoch, __ATOMIC_RELAXED);
	}
	return (uint32_t)(uintptr_t)handle;
}
