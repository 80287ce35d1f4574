#include "collector/drain.h"

#include <string.h>

#include "collector/clocks.h"
#include "collector/threads.h"
#include "trace/health.h"

static void damaged(struct tree_process *p, uint32_t block, uint32_t at, const char *what, unsigned number)
{
	health_counts_add(&p->health_counts, HEALTH_damaged_rows, 1, clocks_now(p->clock), "block %u, byte %u: %s (%u)",
			  block, at, what, number);
}

/* Kinds whose first two fields are start and duration on the process's own clock. */
static bool is_own_span(unsigned kind)
{
	return kind == ROW_api || kind == ROW_range;
}

static const struct record *by_kind(unsigned kind)
{
	static const struct record *table[ROW_KINDS];
	static bool made;

	if (!made) {
		for (size_t i = 0; i < n_records; i++)
			table[records[i].id] = &records[i];
		made = true;
	}
	return kind < ROW_KINDS ? table[kind] : NULL;
}

/* True for rows that a guest may write; the others only the collector can know. */
static bool is_guests(unsigned kind)
{
	switch (kind) {
	case ROW_process: case ROW_health: case ROW_drop: case ROW_clock: case ROW_cost:
		return false;
	default:
		return true;
	}
}

static bool is_gpu(unsigned kind)
{
	return (kind >= ROW_kernel && kind <= ROW_memset) || kind == ROW_graph;
}

/* A row as it was found.  Read once: the program may overwrite it at any time. */
struct parsed_row {
	struct row_head head;
	const struct record *record;
	uint32_t tail;                  /* bytes after the struct */
	const char *why;                /* why it is not a row, and the number that is wrong */
	unsigned number;
};

/* Parses the row at p, with `room` bytes left, at least 8.  False: it is not a row. */
static bool find_row(struct parsed_row *f, const uint8_t *p, uint32_t room)
{
	const struct record *r;

	memcpy(&f->head, p, sizeof f->head);
	f->record = r = by_kind(f->head.kind);
	f->tail = 0;
	f->number = f->head.kind;
	f->why = "unknown kind of row";
	if (!r || !is_guests(f->head.kind))
		return false;
	f->number = f->head.length;
	f->why = "invalid length of a row";
	if (f->head.length % 8 || f->head.length > room || f->head.length < sizeof f->head + r->size)
		return false;
	if (r->len_field < 0)
		return true;
	f->tail = f->number = (uint32_t)field_load(&r->fields[r->len_field], p + sizeof f->head);
	f->why = "a text is longer than its row";
	return f->tail <= f->head.length - sizeof f->head - r->size;
}

static void take_row(struct tree_process *p, struct block_note *note, const struct parsed_row *f, const uint8_t *at)
{
	const struct record *r = f->record;
	const uint8_t *tail = at + sizeof f->head + r->size;
	uint8_t *row = staging_put(&p->guest->staging, r, at + sizeof f->head, tail, f->tail);

	if (!row)
		return;
	if (r->len_field >= 0)          /* the program may have changed it since */
		field_store(&r->fields[r->len_field], row, f->tail);
	if (r->id == ROW_attribute)     /* the process may not know its number */
		((struct attribute_row *)row)->process = p->number;
	if (r->id == ROW_range)
		note->last_range = ((struct range_row *)row)->id;
	if (r->id == ROW_thread)
		threads_note(p->guest, (struct thread_row *)row, (const char *)tail);
}

/* Most rows have no tail and come in runs of one kind.  Takes the run that begins at `at`; returns its length in bytes. */
static uint32_t take_run(struct tree_process *p, const struct parsed_row *f, const uint8_t *at, uint32_t room)
{
	const struct record *r = f->record;
	size_t words = r->size / 8, max, n = 0;
	uint64_t *to = staging_room(&p->guest->staging, r, &max);
	uint64_t want;
	const uint64_t *from = (const uint64_t *)at;

	if (!to)
		return f->head.length;
	memcpy(&want, &f->head, sizeof want);
	do {
		for (size_t i = 0; i < words; i++)
			to[i] = from[i + 1];
		to += words;
		from += f->head.length / 8;
		room -= f->head.length;
	} while (++n < max && room >= f->head.length && *(const volatile uint64_t *)from == want);
	staging_add(&p->guest->staging, r, n);
	if (is_gpu(r->id))
		p->flags |= PROCESS_KERNELS;
	return (uint32_t)n * f->head.length;
}

/* Remembers the end of a block's last row with a time: ranges that are salvaged end at the latest of these. */
static void note_time(struct connected_guest *g, const uint8_t *p)
{
	int64_t span[2];

	memcpy(span, p + sizeof(struct row_head), sizeof span);
	if (span[0] < 0 || span[1] < 0 || span[1] > INT64_MAX - span[0])
		return;
	if (span[0] + span[1] > g->last_time)
		g->last_time = span[0] + span[1];
}

static void drain_block(struct tree_process *p, uint32_t i)
{
	struct block *b = arena_view_block(&p->guest->view, i);
	struct block_note *note = &p->guest->blocks[i];
	uint32_t used = __atomic_load_n(&b->used, __ATOMIC_ACQUIRE);
	const uint8_t *rows = (const uint8_t *)(b + 1), *last = NULL;
	uint32_t at = note->drained;

	if (at == BLOCK_BAD)
		return;
	if (used > arena_block_cap(&p->guest->view, i) || used % 8 || used < at) {
		damaged(p, i, at, "invalid fill level", used);
		note->drained = BLOCK_BAD;
		return;
	}
	while (at < used) {
		struct parsed_row f;

		if (!find_row(&f, rows + at, used - at)) {
			damaged(p, i, at, f.why, f.number);
			break;
		}
		uint32_t length = f.head.length;

		if (f.record->len_field < 0 && f.head.kind != ROW_range)
			length = take_run(p, &f, rows + at, used - at);
		else
			take_row(p, note, &f, rows + at);
		at += length;
		if (is_own_span(f.head.kind))
			last = rows + at - f.head.length;
	}
	if (last)
		note_time(p->guest, last);
	note->drained = used;
	b->drained = used;
}

/* The fill level must be 0 before the block is free: the next owner writes from there on. */
static void give_back(struct connected_guest *g, uint32_t i)
{
	struct arena *a = g->view.a;
	struct block *b = arena_view_block(&g->view, i);

	g->blocks[i] = (struct block_note){ .filled = 1 };
	g->filled = true;
	g->quiet = 0;
	b->drained = 0;
	__atomic_store_n(&b->used, 0, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&a->n_taken, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&a->block_state[i], BLOCK_FREE, __ATOMIC_RELEASE);
}

void drain(struct tree_process *p, enum drain_what what)
{
	struct connected_guest *g = p->guest;
	uint32_t n = arena_n_blocks(&g->view);
	/* Blocks in use: with hundreds of guests, most blocks are free.  Only a hint: a block may be taken and not yet counted. */
	uint32_t left = what == DRAIN_FULL ? __atomic_load_n(&g->view.a->n_taken, __ATOMIC_ACQUIRE) : n;

	for (uint32_t i = 0; i < n && left; i++) {
		uint32_t state = __atomic_load_n(&g->view.a->block_state[i], __ATOMIC_ACQUIRE);

		left -= (state != BLOCK_FREE && state != BLOCK_GONE) || what == DRAIN_ALL;
		if (state == BLOCK_FULL) {
			drain_block(p, i);
			give_back(g, i);
		} else if (state == BLOCK_OWNED && what == DRAIN_ALL) {
			drain_block(p, i);
		} else if (state > BLOCK_GONE && g->blocks[i].drained != BLOCK_BAD) {
			damaged(p, i, 0, "invalid state", state);
			g->blocks[i].drained = BLOCK_BAD;
		}
	}
}
