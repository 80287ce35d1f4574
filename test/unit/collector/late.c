#include "collector/late.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/arena_replica.h"
#include "test/unit/test.h"
#include "trace/health.h"

struct fixture {
	struct config config;
	struct output out;
	struct staging rows;
	struct health_counts health_counts;
	struct tree tree;
	char folder[32];
	uint64_t size;
	int memory;
	struct arena *own;              /* as the guest sees it */
};

static bool set_up(struct fixture *f)
{
	static const struct orders_given on = { .n_orders = 1, .orders = { { .order = { .mask = ORDER_ALL, .window = 1 } } } };
	struct arena_layout l = arena_lay_out(0);

	*f = (struct fixture){ .out = OUTPUT_INIT, .folder = "/tmp/gprof-unit-XXXXXX", .size = l.size };
	config_init(&f->config);
	staging_init(&f->rows, &f->out, 0, CLOCK_MONO);
	if (!CHECK(mkdtemp(f->folder) != NULL))
		return false;
	f->tree = (struct tree){ .folder = f->folder, .config = &f->config, .out = &f->out, .rows = &f->rows, .health_counts = &f->health_counts,
				 .clock = CLOCK_MONO, .epoll = epoll_create1(EPOLL_CLOEXEC), .capture = on };
	f->memory = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (!CHECK_EQ(ftruncate(f->memory, (off_t)l.size), 0))
		return false;
	fcntl(f->memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	f->own = mmap(NULL, l.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, f->memory, 0);
	if (!CHECK(f->own != MAP_FAILED))
		return false;
	f->own->magic = ARENA_MAGIC;
	f->own->version = WIRE_VERSION;
	f->own->size = l.size;
	f->own->blocks = l.blocks;
	f->own->n_small = l.n_small;
	f->own->n_large = l.n_large;
	f->own->clock = CLOCK_MONO;
	return true;
}

static void tear_down(struct fixture *f)
{
	tree_release(&f->tree);
	close(f->tree.epoll);
	staging_release(&f->rows);
	health_counts_release(&f->health_counts);
	munmap(f->own, f->size);
	close(f->memory);
	rmdir(f->folder);
}

static struct wire_hello hello(uint32_t pid, int64_t start)
{
	return (struct wire_hello){ .version = WIRE_VERSION, .size = sizeof(struct wire_hello), .pid = pid, .start = start };
}

static struct tree_process *greet(struct fixture *f, uint32_t pid)
{
	const struct wire_hello h = hello(pid, 5);

	return tree_hello(&f->tree, &h, pid);
}

TEST(memory_that_a_process_made_itself_is_adopted)
{
	struct tree_process *p;
	struct fixture f;

	if (!set_up(&f))
		return;
	p = greet(&f, (uint32_t)getpid());
	f.own->life = LIFE_RUNNING;
	late_adopt(&f.tree, p, f.size, f.memory);
	if (CHECK(p->guest != NULL)) {
		CHECK(p->flags & PROCESS_CONNECTED);
		CHECK(p->guest->unheard && p->guest->view.sparse);
		CHECK_EQ(f.own->process, p->number);
		CHECK_EQ(f.own->n_orders, 1);
		CHECK_EQ(f.own->orders[0].mask, ORDER_ALL);
	}
	CHECK(!health_counts_find(&p->health_counts, HEALTH_refused));
	tear_down(&f);
}

TEST(what_a_process_wrote_before_it_ended_is_taken_when_its_hello_is_read_at_last)
{
	struct tree_process *p;
	struct fixture f;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	if (!set_up(&f))
		return;
	p = greet(&f, (uint32_t)pid);
	tree_end(&f.tree, p, 0);
	f.own->life = LIFE_ENDED;
	f.own->exit_status = 256 + 3;
	late_adopt(&f.tree, p, f.size, f.memory);
	CHECK(!p->guest);
	CHECK(p->flags & PROCESS_CONNECTED);
	CHECK_EQ(p->ending.status, 3);
	CHECK(!health_counts_find(&p->health_counts, HEALTH_refused));
	tear_down(&f);
}

TEST(memory_that_is_not_what_it_says_is_refused)
{
	struct tree_process *p;
	struct fixture f;

	if (!set_up(&f))
		return;
	p = greet(&f, (uint32_t)getpid());
	late_adopt(&f.tree, p, f.size + LARGE_BLOCK, f.memory);
	CHECK(!p->guest);
	late_adopt(&f.tree, p, 0, f.memory);
	CHECK(!p->guest);
	f.own->n_small++;
	late_adopt(&f.tree, p, f.size, f.memory);
	CHECK(!p->guest);
	f.own->n_small--;
	f.own->magic = 0;
	late_adopt(&f.tree, p, f.size, f.memory);
	CHECK(!p->guest);
	CHECK(health_counts_find(&p->health_counts, HEALTH_refused) != NULL);
	tear_down(&f);
}

static bool frame(struct fixture *f, const struct wire_hello *h, uint64_t size)
{
	const struct frame_hello body = { .hello = *h, .arena_size = size };
	const struct frame head = { .magic = FRAME_MAGIC, .length = sizeof head + sizeof body, .kind = FRAME_HELLO, .process = WIRE_LATE | 77,
				    .sequence = 1 };

	return late_hello(&f->tree, &head, &body);
}

TEST(a_hello_in_the_pipe_makes_a_guest_whose_number_is_its_own)
{
	struct wire_hello h = hello((uint32_t)getpid(), 5);
	struct tree_process *p;
	struct fixture f;

	if (!set_up(&f))
		return;
	CHECK(!frame(&f, &h, f.size + 8));
	CHECK(!frame(&f, &h, arena_lay_out(1ull << 40).size));
	h.version++;
	CHECK(!frame(&f, &h, f.size));
	h.version--;
	CHECK_EQ(f.tree.n, 0);
	CHECK(frame(&f, &h, f.size));
	p = late_find(&f.tree, WIRE_LATE | 77);
	CHECK(p && p->pid == h.pid && p->guest && p->guest->replica);
	CHECK(!late_find(&f.tree, WIRE_LATE | 78));
	CHECK(frame(&f, &h, f.size));   /* the same again: no other process */
	CHECK_EQ(f.tree.n, 1);
	CHECK(late_find(&f.tree, WIRE_LATE | 77) == p);
	tear_down(&f);
}

TEST(a_hello_in_the_pipe_is_of_the_process_that_was_found_before)
{
	struct wire_hello h = hello((uint32_t)getpid(), 5);
	struct tree_process *p;
	struct fixture f;

	if (!set_up(&f))
		return;
	memcpy(h.name, "guest", 5);
	p = tree_add_stray(&f.tree, h.pid, "found");
	CHECK(frame(&f, &h, f.size));
	CHECK_EQ(f.tree.n, 1);
	CHECK_EQ(f.tree.n_watched, 1);
	if (CHECK(p && late_find(&f.tree, WIRE_LATE | 77) == p)) {
		CHECK(p->injected);
		CHECK_EQ(p->start, 5);
		CHECK_STR(p->name, "guest");
	}
	tear_down(&f);
}
