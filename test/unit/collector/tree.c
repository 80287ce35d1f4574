#include "collector/tree.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/unit/test.h"
#include "trace/health.h"

struct fixture {
	struct config config;
	struct output out;
	struct staging rows;
	struct health_counts health_counts;
	struct tree tree;
};

static void set_up(struct fixture *f)
{
	*f = (struct fixture){ .out = OUTPUT_INIT };
	config_init(&f->config);
	staging_init(&f->rows, &f->out, 0, CLOCK_MONO);
	f->tree = (struct tree){ .folder = "/nowhere", .config = &f->config, .out = &f->out, .rows = &f->rows,
				 .health_counts = &f->health_counts, .clock = CLOCK_MONO,
				 .epoll = epoll_create1(EPOLL_CLOEXEC) };
}

static void tear_down(struct fixture *f)
{
	tree_release(&f->tree);
	close(f->tree.epoll);
	staging_release(&f->rows);
	health_counts_release(&f->health_counts);
}

/* A process that was, and is no more. */
static uint32_t gone(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return (uint32_t)pid;
}

static void line(struct fixture *f, char how, uint32_t pid, int64_t start, const char *name)
{
	struct roster_line l = { .how = how, .pid = pid, .ppid = 1, .start = start };

	strcpy(l.name, name);
	tree_roster(&f->tree, &l);
}

TEST(the_hello_of_a_process_that_is_over_makes_no_second_one)
{
	struct wire_hello h = { .pid = gone(), .start = 5 };
	struct tree_process *p;
	struct fixture f;

	set_up(&f);
	line(&f, 'c', h.pid, h.start, "brief");
	p = tree_hello(&f.tree, &h, h.pid);
	CHECK(p && p->end);
	CHECK_EQ(f.tree.n, 1);
	h.start++;              /* another one with its pid */
	p = tree_hello(&f.tree, &h, h.pid);
	CHECK(p && p->number == 2);
	tear_down(&f);
}

TEST(a_process_that_was_found_first_gets_its_parent_from_its_line_or_its_hello)
{
	struct roster_line l = { .how = 'f', .pid = (uint32_t)getpid(), .ppid = (uint32_t)getppid(), .start = 5, .name = "child" };
	struct wire_hello h = { .pid = l.pid, .ppid = l.ppid, .start = l.start };
	struct fixture f;

	for (int hello = 0; hello < 2; hello++) {
		set_up(&f);
		line(&f, 'c', l.ppid, 1, "parent");
		tree_add_stray(&f.tree, l.pid, "found");
		if (hello)
			tree_hello(&f.tree, &h, l.pid);
		else
			tree_roster(&f.tree, &l);
		CHECK_EQ(f.tree.n, 2);
		CHECK(f.tree.all[1]->injected);
		CHECK_EQ(f.tree.all[1]->parent, 1);
		tear_down(&f);
	}
}

TEST(processes_that_are_over_are_not_walked_over)
{
	uint32_t pid = gone();
	struct fixture f;

	set_up(&f);
	line(&f, 'c', (uint32_t)getpid(), 1, "first");
	for (int i = 0; i < 1000; i++)
		line(&f, 'f', pid, 2 + i, "brief");
	line(&f, 'c', (uint32_t)getppid(), 1, "last");
	tree_tidy(&f.tree);
	CHECK_EQ(f.tree.n, 1002);
	CHECK_EQ(f.tree.n_live, 2);
	CHECK_STR(f.tree.live[0]->name, "first");
	CHECK_STR(f.tree.live[1]->name, "last");
	CHECK_EQ(f.tree.n_watched, 2);
	tear_down(&f);
}

TEST(a_process_that_could_not_connect_says_why)
{
	struct health_count *t;
	struct fixture f;
	char error[16];

	set_up(&f);
	line(&f, 'c', (uint32_t)getpid(), 1, "me");
	snprintf(error, sizeof error, "%d", EMFILE);
	line(&f, 'x', (uint32_t)getpid(), 1, error);
	t = health_counts_find(&f.tree.all[0]->health_counts, HEALTH_refused);
	CHECK(t && strstr(t->detail, strerror(EMFILE)));
	line(&f, 'x', (uint32_t)getpid(), 1, error);
	CHECK_EQ(t->count, 1);
	tree_refused(&f.tree, f.tree.all[0], "its hello was read when it had given up");
	CHECK_EQ(t->count, 1);
	tear_down(&f);
}

TEST(what_a_process_said_at_last_counts_when_it_is_read_after_its_end)
{
	struct file_header h = { .session = 1 };
	uint64_t size;
	struct fixture f;

	set_up(&f);
	snprintf(f.config.output, sizeof f.config.output, "/tmp/gprof-unit-%d.gtrace", getpid());
	if (!CHECK_EQ(output_open(&f.out, &f.config, &h, &f.health_counts), 0))
		return;
	line(&f, 'f', (uint32_t)getpid(), 1, "child");
	tree_end(&f.tree, f.tree.all[0], 0);
	size = writer_size(f.out.writer);
	line(&f, 'x', (uint32_t)getpid(), 1, "110");
	CHECK(writer_size(f.out.writer) > size);
	tear_down(&f);
	CHECK_EQ(output_close(&f.out), 0);
	unlink(f.config.output);
	snprintf(f.config.output, sizeof f.config.output, "/tmp/gprof-unit-%d.log", getpid());
	unlink(f.config.output);
}

/* A child that has ended and that nobody has waited for. */
static uint32_t ended_by(int signal, int status)
{
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0) {
		while (signal)
			kill(getpid(), signal);
		_exit(status);
	}
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	return (uint32_t)pid;
}

TEST(how_a_process_ended_is_read_before_its_parent_waits_for_it)
{
	static const struct { int signal, status; uint32_t how, says; } ends[] = {
		{ 0, 0, ENDED_EXIT, 0 }, { 0, 77, ENDED_EXIT, 77 }, { SIGKILL, 0, ENDED_SIGNAL, SIGKILL },
		{ SIGABRT, 0, ENDED_SIGNAL, SIGABRT },
	};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		uint32_t pid = ended_by(ends[i].signal, ends[i].status);
		struct fixture f;

		set_up(&f);
		line(&f, 'c', pid, 5, "child");
		tree_end(&f.tree, f.tree.all[0], 0);
		CHECK_EQ(f.tree.all[0]->ending.how, ends[i].how);
		CHECK_EQ(f.tree.all[0]->ending.status, ends[i].says);
		CHECK(f.tree.all[0]->ending.cpu > 0);
		waitpid((pid_t)pid, NULL, 0);
		tear_down(&f);
	}
}

TEST(of_a_process_that_is_gone_its_parent_knows_more)
{
	const struct ending told = { ENDED_EXIT, 3, 12345 };
	uint32_t pid = gone();
	struct fixture f;

	set_up(&f);
	line(&f, 'c', pid, 5, "brief");
	CHECK_EQ(f.tree.all[0]->ending.how, ENDED_UNKNOWN);
	CHECK_EQ(f.tree.all[0]->ending.cpu, 0);
	tree_note_end(&f.tree, pid, &told);
	CHECK_EQ(f.tree.all[0]->ending.how, ENDED_EXIT);
	CHECK_EQ(f.tree.all[0]->ending.status, 3);
	CHECK_EQ(f.tree.all[0]->ending.cpu, 12345);
	tear_down(&f);
}

TEST(an_exec_that_is_heard_of_when_all_is_over_is_one)
{
	uint32_t pid = gone();
	int64_t later;
	struct fixture f;

	set_up(&f);
	line(&f, 'c', pid, 5, "first");
	line(&f, 'c', pid, 6, "second");        /* began before the first was found to be gone */
	CHECK_EQ(f.tree.n, 2);
	CHECK(f.tree.all[0]->flags & PROCESS_EXECED);
	CHECK(!(f.tree.all[1]->flags & PROCESS_EXECED));
	later = f.tree.all[1]->end + 1;
	line(&f, 'c', pid, later, "another");   /* the pid came again */
	CHECK(!(f.tree.all[1]->flags & PROCESS_EXECED));
	line(&f, 'f', pid, later, "forked");    /* no new image */
	CHECK(!(f.tree.all[2]->flags & PROCESS_EXECED));
	tear_down(&f);
}

static struct tree_process *hello(struct fixture *f, uint32_t pid, uint32_t ppid, int64_t start, uint32_t flags)
{
	const struct wire_hello h = { .pid = pid, .ppid = ppid, .start = start, .flags = flags };

	return tree_hello(&f->tree, &h, pid);
}

TEST(an_older_line_never_ends_a_process_that_is_there)
{
	uint32_t me = (uint32_t)getpid();
	struct tree_process *p;
	struct fixture f;

	set_up(&f);
	p = hello(&f, me, 1, 20, PROCESS_PRELOADED);
	line(&f, 'f', me, 10, "before");        /* a fork, of which we hear when the exec has said hello */
	line(&f, 'c', me, 20, "now");
	CHECK(!p->end);
	CHECK_EQ(f.tree.n, 2);
	CHECK(tree_find(&f.tree, me) == p);
	CHECK_EQ(f.tree.all[1]->flags, PROCESS_FORKED | PROCESS_EXECED | PROCESS_ENDED);
	CHECK_EQ(f.tree.all[1]->end, 20);
	line(&f, 'f', me, 10, "before");
	CHECK_EQ(f.tree.n, 2);
	line(&f, 'c', me, 30, "next");          /* and a newer one does end it */
	CHECK(p->end && p->flags & PROCESS_EXECED);
	CHECK_EQ(f.tree.n, 3);
	tear_down(&f);
}

TEST(lines_in_their_order_make_the_same_processes)
{
	uint32_t me = (uint32_t)getpid();
	struct tree_process *p;
	struct fixture f;

	set_up(&f);
	line(&f, 'f', me, 10, "before");
	line(&f, 'c', me, 20, "now");
	p = hello(&f, me, 1, 20, PROCESS_PRELOADED);
	CHECK(p && !p->end);
	CHECK_EQ(f.tree.n, 2);
	CHECK_EQ(f.tree.all[0]->flags, PROCESS_FORKED | PROCESS_EXECED | PROCESS_ENDED);
	tear_down(&f);
}

TEST(an_older_process_of_a_reused_pid_did_no_exec)
{
	uint32_t me = (uint32_t)getpid();
	struct tree_process *p;
	struct fixture f;

	set_up(&f);
	p = hello(&f, me, 7, 20, PROCESS_FORKED);
	line(&f, 'c', me, 10, "stranger");
	CHECK(!p->end);
	CHECK_EQ(f.tree.n, 2);
	CHECK_EQ(f.tree.all[1]->flags, PROCESS_ENDED | PROCESS_PRELOADED);
	tear_down(&f);
}

TEST(a_hello_that_is_read_after_the_exec_is_of_the_image_before)
{
	uint32_t me = (uint32_t)getpid();
	struct tree_process *p, *old;
	struct fixture f;

	set_up(&f);
	line(&f, 'f', me, 10, "before");
	line(&f, 'c', me, 20, "now");
	old = hello(&f, me, 1, 10, PROCESS_FORKED);
	p = tree_find(&f.tree, me);
	CHECK(old == f.tree.all[0] && old->end);
	CHECK(p == f.tree.all[1] && !p->end);
	old = hello(&f, me, 1, 5, PROCESS_PRELOADED);   /* one whose line was lost */
	CHECK(old == f.tree.all[2] && old->end);
	CHECK(p == tree_find(&f.tree, me) && !p->end);
	tear_down(&f);
}

TEST(a_process_that_ends_before_it_is_described_ends)
{
	struct tree_process *p;
	struct fixture f;
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	set_up(&f);
	line(&f, 'c', (uint32_t)pid, 1, "brief");
	p = f.tree.all[0];
	CHECK_EQ(f.tree.n_watched, 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tree_describe(&f.tree);         /* before its end is heard */
	CHECK_EQ(p->host_pid, pid);
	tree_reap(&f.tree, true);
	CHECK(p->end && p->flags & PROCESS_ENDED);
	CHECK_EQ(f.tree.n_watched, 0);
	tear_down(&f);
}

TEST(a_process_whose_pid_is_a_strangers_is_not_watched)
{
	struct fixture f;

	set_up(&f);
	line(&f, 'c', (uint32_t)getpid(), 1, "of another namespace");
	tree_describe(&f.tree);
	CHECK_EQ(f.tree.all[0]->host_pid, 0);
	CHECK_EQ(f.tree.n_watched, 0);
	CHECK(!f.tree.all[0]->end);
	tear_down(&f);
}
