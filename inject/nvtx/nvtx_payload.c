#include "inject/nvtx/nvtx_payload.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "inject/core/intern.h"
#include "inject/core/memory.h"
#include "inject/core/scratch.h"
#include "inject/core/seccomp.h"
#include "inject/ranges/names.h"
#include "trace/payload.h"

#define BUCKETS     1024u       /* of schemas by domain and id */
#define MAX_ENTRIES 1024u
#define MAX_BYTES   (16u << 20) /* of all schemas with their texts, which are never freed: some programs register one for each event */
#define MAX_DATA    16u         /* payloads of one event */
#define MAX_TEXTS   16u         /* strings that one payload points to */

struct entry_text {
	const char *name, *description;
};

/* Kept across fork(); the child describes it to the collector again. */
struct schema {
	struct schema *next;
	uint64_t id, size, flags;
	const void *domain;             /* handle */
	const char *name;
	struct payload_entry *entries;
	struct entry_text *texts;
	uint32_t n, type, pack, described; /* described: epoch in which its rows were written */
	struct payload_shape shape;
	bool points;                    /* an entry is the address of a string */
};

/* Kept across fork(): the program's code in the child still uses the ids. */
static struct schema *buckets[BUCKETS];
static uint32_t n_dynamic;
static uint64_t n_bytes;

static struct schema **bucket(const void *domain, uint64_t id)
{
	return &buckets[(id * 0x9e3779b97f4a7c15ull >> 32 ^ (uintptr_t)domain * 31) % BUCKETS];
}

static struct schema *find(const void *domain, uint64_t id)
{
	struct schema *sc = __atomic_load_n(bucket(domain, id), __ATOMIC_ACQUIRE);

	while (sc && (sc->id != id || sc->domain != domain))
		sc = sc->next;
	return sc;
}

/* Puts the schema first in its bucket, so that find() returns the newest: registering an id again replaces the layout. */
static void put_schema(struct schema *sc)
{
	struct schema **b = bucket(sc->domain, sc->id);

	sc->next = __atomic_load_n(b, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(b, &sc->next, sc, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
}

static void *take_memory(size_t size)
{
	void *p = __atomic_add_fetch(&n_bytes, size, __ATOMIC_RELAXED) <= MAX_BYTES ? memory_take(size) : NULL;

	if (!p)
		__atomic_fetch_sub(&n_bytes, size, __ATOMIC_RELAXED);
	return p;
}

static const char *keep(const char *text)
{
	size_t n = text ? strnlen(text, 4096) : 0;
	char *copy = n ? take_memory(n + 1) : NULL;

	if (copy)
		memcpy(copy, text, n);
	return copy;
}

static struct payload_shape shape(void *domain, uint64_t id)
{
	const struct schema *sc = find(domain, id);

	return sc ? sc->shape : (struct payload_shape){ 0, 0 };
}

static struct payload_layout layout(const struct schema *sc)
{
	return (struct payload_layout){ sc->entries, sc->n, sc->pack, shape, (void *)(uintptr_t)sc->domain };
}

/* ---- registration ---- */

static struct schema *schema_new(const void *domain, uint64_t id, const char *name, size_t n)
{
	struct schema *sc = n > MAX_ENTRIES ? NULL : take_memory(sizeof *sc + n * (sizeof *sc->entries + sizeof *sc->texts));

	if (!sc) {
		health_drop(ROW_schema, 1);
		return NULL;
	}
	sc->entries = (struct payload_entry *)(sc + 1);
	sc->texts = (struct entry_text *)(sc->entries + n);
	sc->domain = domain;
	sc->id = id ? id : PAYLOAD_DYNAMIC_ID + __atomic_fetch_add(&n_dynamic, 1, __ATOMIC_RELAXED);
	sc->name = keep(name);
	sc->n = (uint32_t)n;
	return sc;
}

static void describe(struct stream *s, struct schema *sc)
{
	uint32_t domain = names_domain_id(s, sc->domain), name = intern_text(s, sc->name);
	struct schema_row *row = stream_reserve(s, ROW_schema, sizeof *row);
	bool all = row != NULL;

	if (row) {
		*row = (struct schema_row){
			.id = sc->id, .size = sc->size, .domain = domain, .name = name, .type = sc->type,
			.pack = sc->pack, .entries = sc->n, .flags = (uint32_t)sc->flags,
		};
		stream_publish(s, row);
	}
	for (uint32_t i = 0; i < sc->n && all; i++) {
		const struct payload_entry *e = &sc->entries[i];
		uint32_t called = intern_text(s, sc->texts[i].name), said = intern_text(s, sc->texts[i].description);
		struct schema_entry_row *entry = stream_reserve(s, ROW_schema_entry, sizeof *entry);

		if (entry) {
			*entry = (struct schema_entry_row){
				.schema = sc->id, .type = e->type, .flags = e->flags, .detail = e->detail,
				.offset = e->offset, .domain = domain, .position = i, .name = called,
				.description = said,
			};
			stream_publish(s, entry);
		}
		all = entry != NULL;
	}
	if (all)
		__atomic_store_n(&sc->described, guest->epoch, __ATOMIC_RELAXED);
}

static void note_pointer(void *arg, const struct payload_value *v)
{
	*(bool *)arg |= v->pointer;
}

static bool has(uint64_t mask, unsigned bit)
{
	return mask >> bit & 1;
}

uint64_t payload_schema(struct stream *s, const void *domain, const struct nvtx_schema *a)
{
	uint64_t id = has(a->mask, NVTX_SCHEMA_ID) ? a->id : 0;
	struct payload_layout l;
	struct schema *sc;

	if (!has(a->mask, NVTX_SCHEMA_ENTRIES) || !a->entries || !has(a->mask, NVTX_SCHEMA_COUNT))
		return 0;
	sc = schema_new(domain, id, has(a->mask, NVTX_SCHEMA_NAME) ? a->name : NULL, a->n);
	if (!sc)
		return id;
	sc->type = has(a->mask, NVTX_SCHEMA_TYPE) ? (uint32_t)a->type : PAYLOAD_IS_STATIC;
	sc->flags = has(a->mask, NVTX_SCHEMA_FLAGS) ? a->flags : 0;
	sc->size = has(a->mask, NVTX_SCHEMA_SIZE) ? a->size : 0;
	sc->pack = has(a->mask, NVTX_SCHEMA_ALIGN) ? (uint32_t)a->align : 0;
	for (uint32_t i = 0; i < sc->n; i++) {
		const struct nvtx_schema_entry *e = &a->entries[i];

		sc->entries[i] = (struct payload_entry){ e->flags, e->type, e->detail, e->offset };
		sc->texts[i] = (struct entry_text){ keep(e->name), keep(e->description) };
	}
	l = layout(sc);
	sc->shape = payload_shape_of(&l);
	if (sc->size)
		sc->shape.size = (uint32_t)sc->size;
	payload_walk(&l, (const uint8_t[PAYLOAD_MAX]){ 0 }, PAYLOAD_MAX, note_pointer, &sc->points);
	put_schema(sc);
	describe(s, sc);
	return sc->id;
}

uint64_t payload_enum(struct stream *s, const void *domain, const struct nvtx_enum *a)
{
	uint64_t id = has(a->mask, NVTX_ENUM_ID) ? a->id : 0;
	struct schema *sc;

	if (!has(a->mask, NVTX_ENUM_ENTRIES) || !a->entries || !has(a->mask, NVTX_ENUM_COUNT))
		return 0;
	sc = schema_new(domain, id, has(a->mask, NVTX_ENUM_NAME) ? a->name : NULL, a->n);
	if (!sc)
		return id;
	sc->type = PAYLOAD_IS_ENUM;
	sc->size = has(a->mask, NVTX_ENUM_SIZE) ? a->size : sizeof(int);
	sc->shape = (struct payload_shape){ (uint32_t)sc->size, (uint32_t)sc->size };
	for (uint32_t i = 0; i < sc->n; i++) {
		sc->entries[i] = (struct payload_entry){ .type = a->entries[i].value,
			.flags = a->entries[i].is_flag != 0 };
		sc->texts[i].name = keep(a->entries[i].name);
	}
	put_schema(sc);
	describe(s, sc);
	return sc->id;
}

/* ---- strings behind pointers ---- */

#define PAGE 4096u

/*
 * Copies a string from the program's address.  The kernel reads it, so that a bad address cannot crash the program.  Read as two pieces,
 * split at the page boundary: the next page may not be mapped.  Returns its length, 0 if unreadable.
 */
static size_t read_text(char *to, size_t size, uint64_t from)
{
	size_t first = PAGE - from % PAGE < size ? PAGE - from % PAGE : size;
	struct iovec here = { to, size };
	struct iovec there[2] = {
		{ (void *)(uintptr_t)from, first }, { (void *)(uintptr_t)(from + first), size - first },
	};
	int saved = errno;
	bool may = from && seccomp_allows(SECCOMP_PEEK);
	ssize_t n = may ? process_vm_readv(session_real_pid(), &here, 1, there, first < size ? 2 : 1, 0) : 0;

	errno = saved;
	return n > 0 ? strnlen(to, (size_t)n) : 0;
}

struct schema_texts {
	struct stream *s;
	const struct schema *schema;
	const uint8_t *data;
	char *at, *end;                 /* room for the texts */
	unsigned n;
	uint32_t message;               /* string id of the entry that is the event's message */
	bool only_message;
};

static size_t text_of(struct schema_texts *t, const struct payload_entry *e, const struct payload_value *v, char *to,
		      size_t size)
{
	uint64_t address;
	size_t n;

	memcpy(&address, t->data + v->offset, sizeof address);
	if (e->type == PAYLOAD_REGISTERED) {
		const char *text = names_string_text((const void *)(uintptr_t)address, &n);

		n = n < size ? n : size;
		memcpy(to, text, n);
		return n;
	}
	if (e->type == PAYLOAD_CSTRING || e->type == PAYLOAD_UTF8)
		return read_text(to, size, address);
	return 0;
}

static void take_text(void *arg, const struct payload_value *v)
{
	struct schema_texts *t = arg;
	const struct payload_entry *e = &t->schema->entries[v->entry];
	char text[PAYLOAD_TEXT_MAX + 1];
	size_t n;

	if (t->only_message) {
		if (!(e->flags & PAYLOAD_MESSAGE) || t->message)
			return;
		if (v->pointer) {
			n = text_of(t, e, v, text, PAYLOAD_TEXT_MAX);
			t->message = n ? intern_bytes(t->s, text, n) : 0;
		} else {
			n = strnlen((const char *)t->data + v->offset, v->count * v->size);
			t->message = n ? intern_bytes(t->s, (const char *)t->data + v->offset, n) : 0;
		}
		return;
	}
	if (!v->pointer || t->n == MAX_TEXTS || t->end - t->at < PAYLOAD_TEXT_MAX + 1)
		return;
	t->n++;
	t->at += text_of(t, e, v, t->at, PAYLOAD_TEXT_MAX);
	*t->at++ = '\0';
}

/* ---- events ---- */

/* Returns the payload's size in bytes; SIZE_MAX means the length of the string, or the size in its schema. */
static size_t size_of(const struct nvtx_payload *p, const struct schema *sc)
{
	if (!p->data)
		return 0;
	if (p->size != SIZE_MAX)
		return p->size;
	if (sc)
		return sc->shape.size;
	if (p->schema == PAYLOAD_CSTRING || p->schema == PAYLOAD_UTF8)
		return strnlen(p->data, PAYLOAD_MAX);
	return payload_predefined(p->schema).size;
}

uint32_t payload_name(struct stream *s, const void *domain, const struct nvtx_payload *data, size_t n)
{
	uint32_t name = 0;

	for (size_t i = 0; i < n && i < MAX_DATA; i++) {
		struct schema *sc = find(domain, data[i].schema);
		size_t size = size_of(&data[i], sc);
		struct schema_texts t = { .s = s, .schema = sc, .data = data[i].data, .only_message = true };

		if (!sc || sc->type == PAYLOAD_IS_ENUM)
			continue;

		struct payload_layout l = layout(sc);

		payload_walk(&l, t.data, size < PAYLOAD_MAX ? size : PAYLOAD_MAX, take_text, &t);
		if (t.message)
			return t.message;
		if (!name && sc->name)
			name = intern_text(s, sc->name);
	}
	return name;
}

#define ROOM_BYTES (MAX_TEXTS * (PAYLOAD_TEXT_MAX + 1))

static void put_row_with(struct stream *s, const void *domain, struct payload_row *head, const struct nvtx_payload *p,
			 char room[ROOM_BYTES])
{
	struct schema *sc = find(domain, p->schema);
	struct schema_texts t = { .s = s, .schema = sc, .data = p->data, .at = room, .end = room + ROOM_BYTES };
	size_t size = size_of(p, sc), kept = size < PAYLOAD_MAX ? size : PAYLOAD_MAX;
	struct payload_row *row;

	if (sc && unlikely(__atomic_load_n(&sc->described, __ATOMIC_RELAXED) != guest->epoch))
		describe(s, sc);
	if (sc && sc->points && sc->type != PAYLOAD_IS_ENUM) {
		struct payload_layout l = layout(sc);

		payload_walk(&l, t.data, kept, take_text, &t);
	}
	head->schema = p->schema;
	head->size = size;
	head->kept = (uint32_t)kept;
	head->bytes = (uint32_t)(kept + (size_t)(t.at - room));
	row = stream_reserve(s, ROW_payload, stream_tail(sizeof *row, head->bytes));
	if (!row)
		return;
	*row = *head;
	memcpy(row + 1, p->data ? p->data : room, kept);
	memcpy((char *)(row + 1) + kept, room, (size_t)(t.at - room));
	stream_publish(s, row);
}

static void put_row(struct stream *s, const void *domain, struct payload_row *head, const struct nvtx_payload *p)
{
	char *room = scratch_push(ROOM_BYTES);

	if (room)
		put_row_with(s, domain, head, p, room);
	else
		health_drop(ROW_payload, 1);
	scratch_pop(room);
}

void payload_rows(struct stream *s, const void *domain, enum payload_place place, uint64_t range, int64_t when,
		  const struct nvtx_payload *data, size_t n)
{
	struct payload_row head = { .start = when, .range = range, .thread = s->thread, .place = place };

	if (!capture_nvtx() || !data)
		return;
	head.domain = names_domain_id(s, domain);
	for (size_t i = 0; i < n; i++) {
		if (data[i].schema == PAYLOAD_REFERENCED)
			continue;       /* data for other payloads to point to: no row of its own */
		if (i >= MAX_DATA)
			health_drop(ROW_payload, 1);
		else
			put_row(s, domain, &head, &data[i]);
	}
}
