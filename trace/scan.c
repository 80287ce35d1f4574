/* Finds the chunks of a file: from its index, or by walking from chunk to chunk, with a search after damage. */
#include "trace/reader_parts.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "trace/grow.h"

static pthread_mutex_t damage_lock = PTHREAD_MUTEX_INITIALIZER;

void trace_damaged(struct trace *t, uint64_t offset, uint64_t bytes, uint64_t rows, const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&damage_lock);
	if (GROW(t->damage, t->n_damage + 1, t->cap_damage)) {
		struct damage *d = &t->damage[t->n_damage++];

		*d = (struct damage){ .offset = offset, .bytes = bytes, .rows = rows };
		va_start(ap, fmt);
		vsnprintf(d->text, sizeof d->text, fmt, ap);
		va_end(ap);
	}
	pthread_mutex_unlock(&damage_lock);
}

const char *part_name(const struct chunk_header *head, char *text, size_t size)
{
	const struct record *r = record_by_kind(head->kind);

	if (r)
		snprintf(text, size, "chunk of %u %s rows of process %u", head->rows, r->name, head->process);
	else
		snprintf(text, size, "chunk of %u rows of unknown kind %u of process %u", head->rows, head->kind,
			 head->process);
	return text;
}

static uint64_t align8(uint64_t n)
{
	return (n + 7) & ~(uint64_t)7;
}

uint64_t part_end(uint64_t offset, const struct chunk_header *head)
{
	return align8(offset + sizeof *head + head->stored);
}

/* Whether sizes are possible: no writer exceeds CHUNK_RAW_MAX, and a row has at least 8 bytes.  Other headers are damaged or hostile. */
static bool head_sane(const struct chunk_header *head)
{
	if (head->kind == ROW_INDEX)
		return head->stored == (uint64_t)head->rows * sizeof(struct index_entry);
	return head->raw <= CHUNK_RAW_MAX && head->rows <= head->raw / 8;
}

static bool head_whole(const struct chunk_header *head)
{
	return head->magic == CHUNK_MAGIC && head->crc == crc32_of(0, head, offsetof(struct chunk_header, crc)) &&
	       head_sane(head);
}

enum part part_at(const struct trace *t, uint64_t offset, bool any_session, struct chunk_header *head)
{
	if (t->size < sizeof *head || offset > t->size - sizeof *head)
		return PART_NONE;
	memcpy(head, t->map + offset, sizeof *head);
	if (!head_whole(head) || (!any_session && head->session != t->header.session))
		return PART_NONE;
	return head->stored > t->size - offset - sizeof *head ? PART_CUT : PART_WHOLE;
}

uint64_t part_find(const struct trace *t, uint64_t from, uint64_t end, bool any_session, struct chunk_header *head)
{
	uint64_t magic;

	for (; from + sizeof *head <= end; from += 8) {
		memcpy(&magic, t->map + from, sizeof magic);
		if (magic == CHUNK_MAGIC && part_at(t, from, any_session, head) == PART_WHOLE)
			return from;
	}
	return end;
}

static int add_chunk(struct trace *t, uint64_t offset, const struct chunk_header *head)
{
	if (!GROW(t->chunks, t->n_chunks + 1, t->cap_chunks))
		return -1;
	t->chunks[t->n_chunks++] = (struct chunk){
		.offset = offset, .head = *head, .record = head->version == 1 ? record_by_kind(head->kind) : NULL,
	};
	return 0;
}

/* Reports the bytes between two chunks as damage. */
static void lost(struct trace *t, uint64_t from, uint64_t to)
{
	struct chunk_header head;
	char name[96];

	switch (part_at(t, from, false, &head)) {
	case PART_WHOLE:
		if (head.kind == ROW_INDEX)
			trace_damaged(t, from, to - from, 0, "an index that is no longer used");
		else
			trace_damaged(t, from, to - from, head.rows, "%s", part_name(&head, name, sizeof name));
		break;
	case PART_CUT:
		if (head.kind == ROW_INDEX)
			trace_damaged(t, from, to - from, 0, "the index, cut off (every chunk was found without it)");
		else
			trace_damaged(t, from, to - from, head.rows, "%s, cut off after %llu of its %llu bytes",
				      part_name(&head, name, sizeof name), (unsigned long long)(to - from),
				      (unsigned long long)(sizeof head + head.stored));
		break;
	case PART_NONE:
		trace_damaged(t, from, to - from, 0, "%llu bytes", (unsigned long long)(to - from));
	}
}

bool footer_at_end(const struct trace *t, struct file_footer *foot)
{
	if (t->size < sizeof(struct file_header) + sizeof *foot)
		return false;
	memcpy(foot, t->map + t->size - sizeof *foot, sizeof *foot);
	return foot->magic == FOOTER_MAGIC && foot->crc == crc32_of(0, foot, offsetof(struct file_footer, crc));
}

/* Lists the chunks by walking through the file; skips an index.  0, or -1: out of memory. */
static int walk(struct trace *t)
{
	uint64_t at = sizeof(struct file_header), next;
	bool after_index = false;
	struct chunk_header head;
	struct file_footer foot;

	while (at < t->size) {
		if (part_at(t, at, false, &head) == PART_WHOLE) {
			after_index = head.kind == ROW_INDEX;
			if (!after_index && add_chunk(t, at, &head) < 0)
				return -1;
			if (after_index && crc32_of(0, t->map + at + sizeof head, head.stored) != head.body_crc)
				trace_damaged(t, at, part_end(at, &head) - at, 0,
					      "the index (every chunk was found without it)");
			at = part_end(at, &head);
			continue;
		}
		if (t->size - at == sizeof foot && footer_at_end(t, &foot))
			break;
		next = part_find(t, at + 8, t->size, false, &head);
		if (footer_at_end(t, &foot) && foot.index == at)
			trace_damaged(t, at, next - at, 0, "the index (every chunk was found without it)");
		else if (after_index && next == t->size && next - at <= sizeof foot)
			trace_damaged(t, at, next - at, 0, "the footer (every chunk was found without it)");
		else
			lost(t, at, next);
		at = next;
	}
	return 0;
}

/* Entry i of an index's body, with the magic of its header restored. */
static struct index_entry entry_at(const uint8_t *entries, uint32_t i)
{
	struct index_entry e;

	memcpy(&e, entries + i * sizeof e, sizeof e);
	e.head.magic = e.head.magic ? 0 : CHUNK_MAGIC;
	return e;
}

static bool entry_sane(const struct trace *t, const struct index_entry *e, uint64_t from, uint64_t to)
{
	return e->offset % 8 == 0 && e->offset >= from && e->offset < to && to - e->offset >= sizeof e->head &&
	       head_whole(&e->head) && e->head.kind != ROW_INDEX && e->head.session == t->header.session &&
	       e->head.stored <= to - e->offset - sizeof e->head;
}

/* Lists the chunks from the index and reports gaps between them.  1: done; 0: no valid index; -1: out of memory. */
static int list_by_index(struct trace *t)
{
	uint64_t from = sizeof(struct file_header);
	struct chunk_header head;
	struct file_footer foot;
	const uint8_t *entries;

	if (!footer_at_end(t, &foot) || foot.index % 8 || part_at(t, foot.index, false, &head) != PART_WHOLE ||
	    head.kind != ROW_INDEX || head.rows != foot.chunks || part_end(foot.index, &head) + sizeof foot != t->size)
		return 0;
	entries = t->map + foot.index + sizeof head;
	if (crc32_of(0, entries, head.stored) != head.body_crc)
		return 0;
	for (uint32_t i = 0; i < head.rows; i++) {
		struct index_entry e = entry_at(entries, i);

		if (!entry_sane(t, &e, from, foot.index))
			return 0;
		from = part_end(e.offset, &e.head);
	}
	if (!GROW(t->chunks, head.rows + 1u, t->cap_chunks))
		return -1;
	from = sizeof(struct file_header);
	for (uint32_t i = 0; i < head.rows; i++) {
		struct index_entry e = entry_at(entries, i);

		if (e.offset > from)
			lost(t, from, e.offset);
		add_chunk(t, e.offset, &e.head);
		from = part_end(e.offset, &e.head);
	}
	if (foot.index > from)
		lost(t, from, foot.index);
	return 1;
}

int trace_list(struct trace *t, struct trace_error *err)
{
	int rc = list_by_index(t);

	t->finished = rc == 1;
	if (rc == 0) {
		t->chunks = malloc(sizeof *t->chunks);  /* never NULL: callers iterate from chunks to chunks + n_chunks */
		rc = t->chunks ? walk(t) : -1;
	}
	return rc < 0 ? trace_fail(err, 0, "cannot read '%s': out of memory", t->path) : 0;
}

/* Bytes of memory for the rows and tails of all readable chunks. */
static uint64_t unpacked(const struct trace *t)
{
	uint64_t sum = 0;

	for (const struct chunk *c = t->chunks; c < t->chunks + t->n_chunks; c++) {
		uint64_t rows = c->record ? (uint64_t)c->head.rows * c->record->size : 0;

		sum += !c->record ? 0 : rows > c->head.raw ? rows : c->head.raw;
	}
	return sum;
}

int trace_sized(const struct trace *t, struct trace_error *err)
{
	uint64_t sum = unpacked(t);

	if (sum <= TRACE_UNPACK_FREE || sum / TRACE_UNPACK_RATIO <= t->size)
		return 0;
	return trace_fail(err, 0, "'%s' has %llu kB, but its rows would take %llu MB of memory; --no-unpack-limit reads it, "
			  "if you trust where it comes from", t->path, (unsigned long long)(t->size + 999) / 1000,
			  (unsigned long long)sum / 1000000);
}
