/*
 * libFuzzer target: the collector reads frames from a pipe and writes a trace.  The input describes frames: kind, flags, place and so on in
 * few bytes, from which heads with valid checksums are made.  A body is bytes of the input, or rows with a valid kind and length whose
 * fields are bytes of the input.  The byte NONE makes a head with a wrong checksum.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/drain.h"
#include "collector/arena_replica.h"
#include "collector/pipe.h"
#include "collector/salvage.h"
#include "trace/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *p, *end;
};

static uint32_t take(struct input *in, unsigned n)
{
	uint32_t v = 0;

	while (n-- && in->p < in->end)
		v = v << 8 | *in->p++;
	return v;
}

static bool use(void *arg, const struct frame *f, const void *body)
{
	return arena_replica_apply(arg, f, body);
}

enum { ROWS = 1, PART = 2, LAST = 4, ANY_PLACE = 8, ANY_START = 16, ANY_THREAD = 32, SKIPS = 64, SHAPED = 128, NONE = 255 };

/* Copies n bytes of the input to `to`; zeros after the input's end. */
static void take_bytes(struct input *in, uint8_t *to, size_t n)
{
	size_t there = (size_t)(in->end - in->p);

	there = there < n ? there : n;
	memset(to, 0, n);
	memcpy(to, in->p, there);
	in->p += there;
}

/* Makes rows as a guest writes them; returns their length in bytes. */
static uint32_t make_rows(struct input *in, uint8_t *to)
{
	uint32_t n = 0;

	for (uint32_t left = take(in, 1) % 32 + 1; left && in->p < in->end; left--) {
		const struct record *r = &records[take(in, 1) % n_records];
		uint32_t tail = r->len_field < 0 ? 0 : take(in, 1);
		struct row_head head = { r->id, 0, (uint32_t)(sizeof head + r->size + ((tail + 7) & ~7u)) };

		if (n + head.length > FRAME_ROOM)
			break;
		memcpy(to + n, &head, sizeof head);
		take_bytes(in, to + n + sizeof head, head.length - sizeof head);
		if (r->len_field >= 0)
			field_store(&r->fields[r->len_field], to + n + sizeof head, tail);
		n += head.length;
	}
	return n;
}

/* Offset of a field that a guest writes in the head of its arena. */
static uint32_t cell(uint32_t i)
{
	static const size_t places[] = {
		offsetof(struct arena, life), offsetof(struct arena, last_time), offsetof(struct arena, names_seen),
		offsetof(struct arena, exit_status), offsetof(struct arena, costs), offsetof(struct arena, health),
		offsetof(struct arena, health[3]), offsetof(struct arena, drops), offsetof(struct arena, started),
		offsetof(struct arena, steps), offsetof(struct arena, windows), offsetof(struct arena, slots),
		offsetof(struct arena, slots[1]), offsetof(struct arena, slots[0].stack),
	};

	return (uint32_t)places[i % (sizeof places / sizeof *places)];
}

/* Makes the next frame from the input; returns its length. */
static uint32_t make(struct input *in, uint32_t *sequence, uint32_t *at, uint8_t *to)
{
	uint32_t how = take(in, 1), n;
	struct frame f = { .magic = FRAME_MAGIC, .process = 1, .kind = how & ROWS ? FRAME_ROWS : FRAME_CELLS,
			   .flags = (uint8_t)((how & PART ? FRAME_PART : 0) | (how & LAST ? FRAME_LAST : 0)) };

	if (how & ANY_PLACE)
		f.place = take(in, 4);
	else
		f.place = how & ROWS ? take(in, 1) % 8 : cell(take(in, 1));
	f.at = how & ANY_START || !(how & ROWS) ? take(in, 2) : at[f.place % 8];
	f.thread = how & ANY_THREAD ? take(in, 4) : 3;
	*sequence += how & SKIPS ? take(in, 1) : 1;
	f.sequence = *sequence;
	if (how & ROWS && how & SHAPED) {
		n = make_rows(in, to + sizeof f);
	} else {
		n = take(in, 2) % (FRAME_ROOM / 8 + 1) * 8;
		take_bytes(in, to + sizeof f, n);
	}
	at[f.place % 8] = how & LAST ? 0 : f.at + n;
	f.length = (uint16_t)(sizeof f + n);
	f.check = frame_check(&f) ^ (how == NONE);
	memcpy(to, &f, sizeof f);
	return f.length;
}

/* Whatever the input, the trace is complete and valid. */
static void look(int fd)
{
	struct trace_error err = { 0 };
	struct trace t;
	char path[40];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (trace_open(&t, path, 0, &err) < 0 || !t.finished || trace_check(&t))
		abort();
	trace_close(&t);
}

static void hear(struct tree_process *p, const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	struct pipe pipe = { .fd = -1, .size = 64 << 10 };
	struct frame_user user = { use, p };
	uint8_t frame[FRAME_MAX];
	uint32_t sequence = 0, at[8] = { 0 };

	pipe.text = malloc(pipe.size + FRAME_MAX);
	while (in.p < in.end)
		pipe_take(&pipe, frame, make(&in, &sequence, at, frame), &user);
	salvage(p, false);
	pipe_close(&pipe);
}

static char folder[] = "/tmp/gprof-fuzz-XXXXXX";

static void remove_folder(void)
{
	rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct orders_given on = { .n_orders = 1, .orders = { { .order = { .mask = ORDER_ALL, .window = 1 } } } };
	const struct file_header head = { .session = 1 };
	struct output out = OUTPUT_INIT;
	struct trace_error err = { 0 };
	struct tree_process *p = process_new(CLOCK_MONO);
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (!strchr(folder, 'X') || (mkdtemp(folder) && atexit(remove_folder) == 0))
		out.writer = writer_new(dup(fd), &head, &err);
	p->number = 1;
	if (!out.writer || guest_new(p, &out, folder, 5 << 20, &on, NULL) < 0)
		abort();
	hear(p, data, size);
	staging_write(&p->guest->staging);
	if (writer_finish(out.writer, &err) < 0)
		abort();
	look(fd);
	guest_free(p);
	health_counts_release(&p->health_counts);
	free(p);
	close(fd);
	return 0;
}
