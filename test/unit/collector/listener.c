#include "collector/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "test/unit/test.h"
#include "trace/health.h"

/* A listener, and a guest that connects to it. */
struct fixture {
	struct config config;
	struct output out;
	struct staging rows;
	struct health_counts health_counts;
	struct tree tree;
	struct bell_watch bell;
	struct listener listener;
	char folder[32];
	int guest;
};

/* The i-th guest, of another pid namespace where i is not 0.  alone: it goes on without an answer. */
static void say_hello(int fd, unsigned i, bool alone)
{
	const struct wire_hello h = { .version = WIRE_VERSION, .size = sizeof h, .pid = (uint32_t)getpid() + i, .start = 5, .alone = alone };

	CHECK_EQ(send(fd, &h, sizeof h, 0), sizeof h);
}

/* Returns the connection of such a guest. */
static int dial(struct fixture *f, unsigned i, bool alone)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(to.sun_path, f->listener.path, sizeof to.sun_path);
	CHECK_EQ(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
	say_hello(fd, i, alone);
	return fd;
}

static bool set_up(struct fixture *f)
{
	static const struct orders_given on = { .n_orders = 1, .orders = { { .order = { .mask = ORDER_ALL, .window = 1 } } } };

	*f = (struct fixture){ .out = OUTPUT_INIT, .bell = BELL_INIT, .listener = LISTENER_INIT, .folder = "/tmp/gprof-unit-XXXXXX" };
	config_init(&f->config);
	staging_init(&f->rows, &f->out, 0, CLOCK_MONO);
	if (!CHECK(mkdtemp(f->folder) != NULL) || !CHECK_EQ(listener_open(&f->listener, f->folder), 0) ||
	    !CHECK_EQ(bell_start(&f->bell, f->folder), 0))
		return false;
	f->tree = (struct tree){ .folder = f->folder, .config = &f->config, .out = &f->out, .rows = &f->rows, .health_counts = &f->health_counts,
				 .clock = CLOCK_MONO, .epoll = epoll_create1(EPOLL_CLOEXEC), .capture = on };
	f->guest = dial(f, 0, true);
	return true;
}

static void tear_down(struct fixture *f)
{
	tree_release(&f->tree);
	close(f->tree.epoll);
	unlink(f->listener.path);
	listener_close(&f->listener);
	bell_stop(&f->bell);
	staging_release(&f->rows);
	health_counts_release(&f->health_counts);
	rmdir(f->folder);
}

/* As inject/core/late.c does it. */
static void bring_memory(struct fixture *f)
{
	struct arena_layout l = arena_lay_out(0);
	struct wire_late late = { .version = WIRE_VERSION, .size = sizeof late, .arena_size = l.size };
	int memory = memfd_create("test", MFD_CLOEXEC);
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec iov = { &late, sizeof late };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes };
	static struct arena a = { .magic = ARENA_MAGIC, .version = WIRE_VERSION, .clock = CLOCK_MONO };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	a.size = l.size;
	a.blocks = l.blocks;
	a.n_small = l.n_small;
	a.n_large = l.n_large;
	CHECK_EQ(ftruncate(memory, (off_t)l.size), 0);
	CHECK_EQ(pwrite(memory, &a, offsetof(struct arena, n_orders), 0), offsetof(struct arena, n_orders));
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof memory);
	memcpy(CMSG_DATA(c), &memory, sizeof memory);
	CHECK_EQ(sendmsg(f->guest, &m, 0), sizeof late);
	close(memory);
}

/* The guest has memory of its own, and not what it was given. */
static void is_adopted(struct fixture *f)
{
	struct tree_process *p = f->tree.n == 1 ? f->tree.all[0] : NULL;

	CHECK(p && p->guest && p->guest->unheard);
	CHECK(p && !health_counts_find(&p->health_counts, HEALTH_refused));
	CHECK_EQ(f->listener.used, 0);
}

TEST(a_hello_with_memory_behind_it_needs_no_answer)
{
	static struct fixture f;

	if (!set_up(&f))
		return;
	bring_memory(&f);
	close(f.guest);
	listener_accept(&f.listener, &f.tree, &f.bell);
	is_adopted(&f);
	tear_down(&f);
}

TEST(an_answer_that_crosses_the_memory_is_given_up)
{
	static struct fixture f;

	if (!set_up(&f))
		return;
	listener_accept(&f.listener, &f.tree, &f.bell);
	CHECK(f.tree.n == 1 && f.tree.all[0]->guest && !f.tree.all[0]->guest->unheard);
	bring_memory(&f);
	close(f.guest);
	listener_read_all(&f.listener, &f.tree, &f.bell, 0);
	is_adopted(&f);
	tear_down(&f);
}

TEST(memory_is_adopted_although_the_answer_could_not_be_sent)
{
	static struct fixture f;

	if (!set_up(&f))
		return;
	shutdown(f.guest, SHUT_RD);     /* it hears nothing any more: we get EPIPE */
	listener_accept(&f.listener, &f.tree, &f.bell);
	bring_memory(&f);
	close(f.guest);
	listener_read_all(&f.listener, &f.tree, &f.bell, 0);
	is_adopted(&f);
	tear_down(&f);
}

TEST(who_leaves_without_an_answer_is_refused_when_it_is_over)
{
	static struct fixture f;

	if (!set_up(&f))
		return;
	close(f.guest);
	listener_accept(&f.listener, &f.tree, &f.bell);
	if (CHECK_EQ(f.tree.n, 1)) {
		CHECK(!health_counts_find(&f.tree.all[0]->health_counts, HEALTH_refused)); /* its frames may follow */
		tree_end(&f.tree, f.tree.all[0], 0);
		CHECK(f.tree.all[0]->flags & PROCESS_ENDED);
	}
	CHECK_EQ(f.listener.used, 0);
	tear_down(&f);
}

enum answer { NONE, SHARED, PIPED, REFUSED };

/* What the guest finds on its connection. */
static enum answer answer(int fd)
{
	static struct config config;
	struct wire_welcome w = { 0 };
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec iov[2] = { { &w, sizeof w }, { &config, sizeof config } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes };
	int fds[2];

	if (recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
		return NONE;
	if (w.refused)
		return REFUSED;
	if (!CMSG_FIRSTHDR(&m))
		return w.carrier == CARRIER_PIPE ? PIPED : NONE;
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fds);
	close(fds[0]);
	close(fds[1]);
	return SHARED;
}

TEST(the_oldest_connection_gives_way_and_its_answer_can_still_be_read)
{
	static struct fixture f;
	int more[2];

	if (!set_up(&f))
		return;
	f.listener.most = 2;
	more[0] = dial(&f, 1, true);
	more[1] = dial(&f, 2, true);
	listener_accept(&f.listener, &f.tree, &f.bell);
	CHECK_EQ(f.tree.n, 3);
	CHECK_EQ(f.listener.used, 2);
	CHECK_EQ(send(f.guest, "", 1, MSG_NOSIGNAL), -1);
	CHECK_EQ(send(more[0], "", 1, MSG_NOSIGNAL), 1);
	CHECK_EQ(answer(f.guest), SHARED);
	CHECK_EQ(answer(more[0]), SHARED);
	CHECK_EQ(answer(more[1]), SHARED);
	close(f.guest);
	close(more[0]);
	close(more[1]);
	tear_down(&f);
}

TEST(memory_that_came_before_a_connection_gives_way_is_adopted)
{
	static struct fixture f;
	int more;

	if (!set_up(&f))
		return;
	f.listener.most = 1;
	listener_accept(&f.listener, &f.tree, &f.bell);
	bring_memory(&f);
	more = dial(&f, 1, true);
	listener_accept(&f.listener, &f.tree, &f.bell);
	CHECK(f.tree.n == 2 && f.tree.all[0]->guest && f.tree.all[0]->guest->unheard);
	CHECK_EQ(answer(more), SHARED);
	close(f.guest);
	close(more);
	tear_down(&f);
}

/* A connection without a hello takes the only place. */
static int dial_silently(struct fixture *f)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	f->listener.most = 1;
	close(f->guest);
	listener_accept(&f->listener, &f->tree, &f->bell);
	memcpy(to.sun_path, f->listener.path, sizeof to.sun_path);
	CHECK_EQ(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
	listener_accept(&f->listener, &f->tree, &f->bell);
	CHECK_EQ(f->listener.used, 1);
	return fd;
}

TEST(a_connection_without_a_hello_gives_way)
{
	static struct fixture f;
	int silent;

	if (!set_up(&f))
		return;
	silent = dial_silently(&f);
	f.guest = dial(&f, 1, true);
	listener_accept(&f.listener, &f.tree, &f.bell);
	CHECK_EQ(answer(f.guest), SHARED);
	CHECK_EQ(send(silent, "", 1, MSG_NOSIGNAL), -1);
	close(silent);
	close(f.guest);
	tear_down(&f);
}

TEST(a_hello_that_came_before_a_connection_gives_way_is_answered)
{
	static struct fixture f;
	int late;

	if (!set_up(&f))
		return;
	late = dial_silently(&f);
	say_hello(late, 1, true);
	f.guest = dial(&f, 2, true);
	listener_accept(&f.listener, &f.tree, &f.bell);
	CHECK_EQ(answer(late), SHARED);
	CHECK_EQ(answer(f.guest), SHARED);
	CHECK(f.tree.n == 3 && !f.tree.all[1]->left);
	close(late);
	close(f.guest);
	tear_down(&f);
}

/* As many descriptors in flight as a user without privileges may have. */
struct crowd {
	struct rlimit files;
	struct __user_cap_data_struct caps[2];
	int pair[2];
};

static struct __user_cap_header_struct ourselves = { _LINUX_CAPABILITY_VERSION_3, 0 };

static void let_through(struct crowd *c)
{
	if (c->pair[0] >= 0) {
		close(c->pair[0]);
		close(c->pair[1]);
	}
	c->pair[0] = -1;
	syscall(SYS_capset, &ourselves, c->caps);
	setrlimit(RLIMIT_NOFILE, &c->files);
}

/* False: this kernel has no such limit. */
static bool crowd(struct crowd *c)
{
	struct __user_cap_data_struct fewer[2];
	union {
		char bytes[CMSG_SPACE(100 * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec iov = { "x", 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes };
	struct cmsghdr *head = CMSG_FIRSTHDR(&m);
	struct rlimit few = { 200, 200 };
	bool full = false;

	getrlimit(RLIMIT_NOFILE, &c->files);
	few.rlim_max = c->files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &few);
	syscall(SYS_capget, &ourselves, c->caps);
	memcpy(fewer, c->caps, sizeof fewer);
	fewer[0].effective &= ~(1u << CAP_SYS_RESOURCE | 1u << CAP_SYS_ADMIN);
	syscall(SYS_capset, &ourselves, fewer);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->pair) < 0)
		c->pair[0] = c->pair[1] = -1;
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(100 * sizeof(int));
	memset(CMSG_DATA(head), 0, 100 * sizeof(int));
	for (int i = 0; i < 4 && !full; i++)
		full = sendmsg(c->pair[0], &m, MSG_DONTWAIT) < 0 && errno == ETOOMANYREFS;
	if (!full)
		let_through(c);
	return full;
}

static void retry(struct fixture *f)
{
	f->listener.tried = 0;
	listener_send_waiting(&f->listener, &f->tree, &f->bell);
}

TEST(an_answer_waits_for_descriptors_in_flight_and_newcomers_for_a_place)
{
	static struct fixture f;
	struct crowd c;
	int more;

	if (!set_up(&f))
		return;
	f.listener.most = 1;
	more = dial(&f, 1, true);
	if (crowd(&c)) {
		listener_accept(&f.listener, &f.tree, &f.bell);
		retry(&f);
		CHECK_EQ(f.tree.n, 1);
		CHECK_EQ(f.listener.unsent, 1);
		CHECK_EQ(answer(f.guest), NONE);
		let_through(&c);
		retry(&f);
		CHECK_EQ(f.listener.unsent, 0);
		CHECK_EQ(f.tree.n, 2);
		CHECK_EQ(answer(f.guest), SHARED);
		CHECK_EQ(answer(more), SHARED);
		CHECK(!health_counts_find(&f.tree.all[0]->health_counts, HEALTH_pipe_used));
	}
	close(f.guest);
	close(more);
	tear_down(&f);
}

TEST(an_answer_that_waits_keeps_its_place_when_its_connection_had_to_give_way)
{
	static struct fixture f;
	struct epoll_event event;
	struct crowd c;
	int late;

	if (!set_up(&f))
		return;
	late = dial_silently(&f);
	f.guest = dial(&f, 2, true);
	if (crowd(&c)) {
		say_hello(late, 1, true);
		listener_accept(&f.listener, &f.tree, &f.bell);
		CHECK_EQ(f.listener.unsent, 1);
		CHECK_EQ(f.listener.used, 1);
		CHECK_EQ(epoll_wait(f.tree.epoll, &event, 1, 0), 0);
		retry(&f);
		CHECK_EQ(f.listener.unsent, 1);
		let_through(&c);
		retry(&f);
		CHECK_EQ(f.listener.unsent, 0);
		CHECK_EQ(answer(late), SHARED);
		CHECK_EQ(answer(f.guest), SHARED);
	}
	close(late);
	close(f.guest);
	tear_down(&f);
}

TEST(an_answer_that_cannot_wait_is_the_pipe)
{
	static struct fixture f;
	struct crowd c;
	int more;

	if (!set_up(&f))
		return;
	more = dial(&f, 1, false);
	if (crowd(&c)) {
		listener_accept(&f.listener, &f.tree, &f.bell);
		CHECK_EQ(answer(f.guest), NONE);
		CHECK_EQ(answer(more), PIPED);
		f.listener.connections[0].unsent = 1;
		retry(&f);
		CHECK_EQ(answer(f.guest), PIPED);
		CHECK_EQ(f.listener.unsent, 0);
		let_through(&c);
	}
	close(f.guest);
	close(more);
	tear_down(&f);
}

TEST(memory_of_a_guest_whose_answer_waits_is_adopted)
{
	static struct fixture f;
	struct crowd c;

	if (!set_up(&f))
		return;
	if (crowd(&c)) {
		listener_accept(&f.listener, &f.tree, &f.bell);
		CHECK_EQ(f.listener.unsent, 1);
		let_through(&c);
		bring_memory(&f);
		close(f.guest);
		listener_read_all(&f.listener, &f.tree, &f.bell, 0);
		is_adopted(&f);
		CHECK_EQ(f.listener.unsent, 0);
	} else {
		close(f.guest);
	}
	tear_down(&f);
}
