#include "collector/late.h"

#include <string.h>

#include "collector/describe.h"
#include "collector/log.h"
#include "collector/arena_replica.h"

static struct tree_process **bucket(struct tree *t, uint32_t number)
{
	return &t->late[number % TREE_LATE];
}

struct tree_process *late_find(const struct tree *t, uint32_t number)
{
	struct tree_process *p = t->late[number % TREE_LATE];

	while (p && (p->late != number || !p->guest))
		p = p->late_next;
	return p;
}

/* Before any row of the process: a reader of the unfinished file needs this to assign them. */
static void introduce(struct tree *t, struct tree_process *p)
{
	p->flags |= PROCESS_CONNECTED;
	if (!p->end)
		describe_process(t->rows, p, t->config);
	tree_put_row(t, p);
	staging_write(t->rows);
}

void late_adopt(struct tree *t, struct tree_process *p, uint64_t size, int memory)
{
	tree_forget_arena(t, p);
	if (guest_adopt(p, t->out, size, &t->capture, memory) < 0) {
		tree_refused(t, p, fail_text());
		return;
	}
	introduce(t, p);
	if (p->end)
		tree_bury(t, p);
}

/* If the collector did answer the process, it already has a guest: takes its rows first. */
static void take_pipe(struct tree *t, struct tree_process *p, const struct frame *f, uint64_t size)
{
	uint32_t number = f->process;

	tree_forget_guest(t, p);
	if (!p->late) {
		p->late = number;
		p->late_next = *bucket(t, number);
		*bucket(t, number) = p;
	}
	if (guest_new(p, t->out, t->folder, size, &t->capture, NULL) < 0) {
		tree_refused(t, p, fail_text());
		return;
	}
	p->guest->replica->sequence = f->sequence;
	staging_attribute(t->rows, p->number, "transport", "pipe");
	process_note_pipe(p, t->config->transport == TRANSPORT_PIPE ? PIPE_REQUESTED : "the collector did not answer in time");
	introduce(t, p);
}

/* True if an arena can have this size, and it is not larger than the collector's own ones. */
static bool may_be_size(const struct tree *t, uint64_t size)
{
	return size == arena_lay_out(size).size && (size <= t->config->arena_size || size <= arena_lay_out(0).size);
}

bool late_hello(struct tree *t, const struct frame *f, const void *body)
{
	struct frame_hello h;
	struct tree_process *p;

	if (f->length != sizeof *f + sizeof h || !(f->process & WIRE_LATE))
		return false;
	memcpy(&h, body, sizeof h);
	if (h.hello.version != WIRE_VERSION || h.hello.size != sizeof h.hello || !may_be_size(t, h.arena_size))
		return false;
	p = tree_late(t, &h.hello);
	if (!p || p->end || (p->late && p->late != f->process))          /* one number for each process */
		return false;
	take_pipe(t, p, f, h.arena_size);
	return true;
}
