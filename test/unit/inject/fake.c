#include "test/unit/inject/fake.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "inject/capture/windows.h"

static void *map(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void order_to(struct arena *a, uint32_t mask, int64_t real)
{
	a->orders[a->n_orders % ORDERS] = (struct order){ .mask = mask, .window = 1, .time = clock_ns(CLOCK_MONOTONIC),
							  .real = real };
	__atomic_store_n(&a->n_orders, a->n_orders + 1, __ATOMIC_RELEASE);
}

struct stream *fake_stepped(const char *steps, const char *schedule)
{
	struct stream *s;

	fake_session(8, 8);
	snprintf(guest->config.steps, sizeof guest->config.steps, "%s", steps);
	snprintf(guest->config.schedule, sizeof guest->config.schedule, "%s", schedule);
	s = stream_enter();
	gate_now();
	return s;
}

bool fake_call(struct stream *s, uint32_t corr)
{
	uint32_t gate = gate_now();

	if (gate & GATE_EDGE)
		windows_call(s, corr);
	return gate & GATE_CUDA;
}

void fake_order(uint32_t mask)
{
	order_to(guest->arena, mask, clock_ns(CLOCK_REALTIME));
}

void fake_order_at(uint32_t mask, int64_t real)
{
	order_to(guest->arena, mask, real);
	gate_now();
}

void fake_session(uint32_t n_small, uint32_t n_large)
{
	static uint32_t epoch;
	uint64_t blocks = (sizeof(struct arena) + 4095) & ~4095ull;
	uint64_t size = blocks + (uint64_t)n_small * SMALL_BLOCK + (uint64_t)n_large * LARGE_BLOCK;
	struct arena *a = map(size);

	*a = (struct arena){ .magic = ARENA_MAGIC, .size = size, .blocks = blocks, .version = WIRE_VERSION,
			     .n_small = n_small, .n_large = n_large, .clock = CLOCK_MONO };
	order_to(a, ORDER_ALL, clock_ns(CLOCK_REALTIME));
	memset(guest, 0, sizeof *guest);
	guest->arena = a;
	guest->bell = map(4096);
	guest->clock = CLOCK_MONO;
	guest->epoch = ++epoch;
	guest->process = 1;
	config_init(&guest->config);
	guest->state = SESSION_UP;
}

void fake_rows(void (*visit)(const struct row_head *head, const void *row, void *arg), void *arg)
{
	struct arena *a = guest->arena;

	for (uint32_t i = 0; i < a->n_small + a->n_large; i++) {
		struct block *b = arena_block(a, i);

		if (a->block_state[i] == BLOCK_FREE)
			continue;
		for (uint32_t at = 0; at < b->used;) {
			const struct row_head *head = (const struct row_head *)((char *)(b + 1) + at);

			visit(head, head + 1, arg);
			at += head->length;
		}
	}
}

struct search {
	unsigned kind;
	size_t n, want;
	const void *found;
};

static void look(const struct row_head *head, const void *row, void *arg)
{
	struct search *s = arg;

	if (head->kind != s->kind)
		return;
	if (s->n++ == s->want)
		s->found = row;
}

size_t fake_count(unsigned kind)
{
	struct search s = { .kind = kind, .want = (size_t)-1 };

	fake_rows(look, &s);
	return s.n;
}

const void *fake_row(unsigned kind, size_t i)
{
	struct search s = { .kind = kind, .want = i };

	fake_rows(look, &s);
	return s.found;
}

const char *fake_string(uint32_t id)
{
	static char text[INT16_MAX * 2];
	size_t n = fake_count(ROW_string);

	for (size_t i = 0; i < n; i++) {
		const struct string_row *row = fake_row(ROW_string, i);

		if (row->id == id) {
			snprintf(text, sizeof text, "%.*s", (int)row->bytes, (const char *)(row + 1));
			return text;
		}
	}
	return NULL;
}
