#include "collector/door.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "collector/clocks.h"
#include "collector/describe.h"
#include "collector/log.h"
#include "trace/health.h"

int door_open(struct door *d, const char *folder)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	_Static_assert(sizeof at.sun_path == sizeof d->path, "a socket's path has this size");
	if (snprintf(d->path, sizeof d->path, "%s/sock", folder) >= (int)sizeof d->path)
		return fail("cannot make a socket in '%s': the path is too long; set TMPDIR to a shorter one", folder);
	memcpy(at.sun_path, d->path, sizeof at.sun_path);
	d->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->fd < 0)
		return fail("cannot make a socket: %s", strerror(errno));
	if (bind(d->fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(d->fd, SOMAXCONN) < 0)
		return fail("cannot listen at '%s': %s", d->path, strerror(errno));
	return 0;
}

void door_close(struct door *d)
{
	for (unsigned i = 0; i < DOOR_WAITING; i++)
		if (d->waiting[i])
			close(d->waiting[i]);
	if (d->fd >= 0)
		close(d->fd);
	*d = (struct door)DOOR_INIT;
}

static int send_welcome(int fd, const struct wire_welcome *w, const struct config *c, int arena, int bell)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec iov[2] = { { (void *)w, sizeof *w }, { (void *)c, w->config_size } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = w->config_size ? 2 : 1 };
	int fds[2] = { arena, bell };

	if (arena >= 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof control.bytes;

		struct cmsghdr *head = CMSG_FIRSTHDR(&m);

		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof fds);
		memcpy(CMSG_DATA(head), fds, sizeof fds);
	}
	return sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -1 : 0;
}

static void refuse(struct tree *t, int fd, struct process *p, unsigned reason, const char *why)
{
	struct wire_welcome w = { .version = WIRE_VERSION, .size = sizeof w, .refused = reason };

	if (p)
		tree_refused(t, p, why);
	else
		troubles_add(t->troubles, reason, 1, clocks_now(CLOCK_MONO), "a process: %s", why);
	send_welcome(fd, &w, t->config, -1, -1);
}

/* Room for p, as it can use it: shared memory, or else the pipe where that is allowed.  0, or -1 and why not. */
static int make_room(struct tree *t, struct process *p, const struct wire_hello *h, const struct bell_watch *bell,
		     int *arena, char why[200])
{
	unsigned wanted = (unsigned)t->config->transport;
	uint64_t size = t->config->arena_size;

	*arena = -1;
	if (h->most_mib && (uint64_t)h->most_mib << 20 < size)
		size = (uint64_t)h->most_mib << 20;
	if (wanted == TRANSPORT_PIPE)
		snprintf(why, 200, "asked for by --transport=pipe");
	else if (h->carrier == CARRIER_PIPE)
		snprintf(why, 200, "it cannot map shared memory: %s", strerror(h->error));
	else if (bell->memory < 0)
		snprintf(why, 200, "the collector cannot make shared memory");
	else if (guest_new(p, t->out, t->folder, size, &t->capture, arena) == 0)
		return 0;
	else
		snprintf(why, 200, "%s", fail_text());
	if (wanted == TRANSPORT_SHM)
		return -1;
	if (!troubles_find(&p->troubles, HEALTH_pipe_used))     /* it may ask again, for less */
		troubles_add(&p->troubles, HEALTH_pipe_used, 1, clocks_now(p->clock), "%s", why);
	if (guest_new(p, t->out, t->folder, size, &t->capture, NULL) == 0)
		return 0;
	snprintf(why, 200, "%s", fail_text());
	return -1;
}

static void welcome(struct tree *t, int fd, struct process *p, const struct wire_hello *h,
		    const struct bell_watch *bell)
{
	struct wire_welcome w = {
		.version = WIRE_VERSION, .size = sizeof w, .process = p->number, .clock = p->clock,
		.config_size = sizeof *t->config,
	};
	const struct arena_view *view;
	char why[200];
	int arena;

	tree_forget_arena(t, p);
	if (make_room(t, p, h, bell, &arena, why) < 0) {
		refuse(t, fd, p, HEALTH_refused, why);
		return;
	}
	view = &p->guest->view;
	w.arena_size = view->size;
	w.carrier = p->guest->mirror ? CARRIER_PIPE : CARRIER_SHM;
	w.n_small = view->n_small;
	w.n_large = view->n_large;
	w.blocks = view->blocks;
	if (p->guest->mirror)
		staging_attribute(t->rows, p->number, "transport", "pipe");
	describe_process(t->rows, p, t->config);        /* while it waits: it may not live long */
	if (send_welcome(fd, &w, t->config, arena, bell->memory) == 0) {
		p->flags |= PROCESS_CONNECTED;
	} else {
		snprintf(why, sizeof why, "it did not wait for its memory: %s", strerror(errno));
		tree_refused(t, p, why);
		guest_free(p);
	}
	if (arena >= 0)
		close(arena);
	tree_put_row(t, p);
	staging_write(t->rows);         /* before any row of its own: who reads the file meanwhile knows whose they are */
}

static bool may_enter(int fd, struct ucred *who)
{
	socklen_t size = sizeof *who;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, who, &size) == 0 && (who->uid == geteuid() || who->uid == 0);
}

/* True: done with it, one way or the other. */
static bool serve(struct tree *t, int fd, const struct bell_watch *bell)
{
	struct wire_hello h;
	struct ucred who;
	struct process *p;
	ssize_t n = recv(fd, &h, sizeof h, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0)
		return true;
	if (!may_enter(fd, &who)) {
		refuse(t, fd, NULL, HEALTH_refused, "it belongs to another user");
	} else if (n != sizeof h || h.version != WIRE_VERSION || h.size != sizeof h) {
		refuse(t, fd, NULL, HEALTH_refused, "it carries another version of libgprof_inject.so");
	} else {
		p = tree_hello(t, &h, (uint32_t)who.pid);
		if (!p)
			refuse(t, fd, NULL, HEALTH_processes_full, "there are too many");
		else if (p->end)
			tree_refused(t, p, "it ended while it waited for its memory");
		else
			welcome(t, fd, p, &h, bell);
	}
	return true;
}

static void let_wait(struct door *d, struct tree *t, int fd)
{
	uint32_t place = 0;

	while (place < DOOR_WAITING && d->waiting[place])
		place++;
	if (place == DOOR_WAITING) {
		place = d->next++ % DOOR_WAITING;
		close(d->waiting[place]);
	}
	d->waiting[place] = fd;

	struct epoll_event want = { .events = EPOLLIN, .data.u64 = (uint64_t)place << 32 | DOOR_TAG };

	epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &want);
}

void door_accept(struct door *d, struct tree *t, const struct bell_watch *bell)
{
	int fd;

	while ((fd = accept4(d->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		if (serve(t, fd, bell))
			close(fd);
		else
			let_wait(d, t, fd);
	}
}

void door_hear(struct door *d, uint32_t place, struct tree *t, const struct bell_watch *bell)
{
	if (place >= DOOR_WAITING || !d->waiting[place] || !serve(t, d->waiting[place], bell))
		return;
	close(d->waiting[place]);
	d->waiting[place] = 0;
}
