#include "collector/listener.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "collector/clocks.h"
#include "collector/describe.h"
#include "collector/descriptors.h"
#include "collector/late.h"
#include "collector/log.h"
#include "trace/clock.h"
#include "trace/health.h"
#include "trace/path.h"

/* The kernel limits this to net.core.somaxconn (4096, before Linux 5.4 128).  A thousand processes may start at once. */
#define BACKLOG 65535

/* An answer that cannot be sent is tried again this often, ... */
#define RETRY_NS 10000000ll

/* ...  and for this long.  By then guests have gone on with memory of their own (WIRE_ANSWER_MS). */
#define UNSENT_NS 5000000000ll

int listener_open(struct listener *d, const char *folder)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	_Static_assert(sizeof at.sun_path == sizeof d->path, "a socket's path has this size");
	if (path_join(d->path, sizeof d->path, folder, "sock") < 0)
		return fail("cannot make a socket in '%s': the path is too long; set TMPDIR to a shorter one", folder);
	memcpy(at.sun_path, d->path, sizeof at.sun_path);
	d->most = descriptors_for_guests(LISTENER_CONNECTIONS);
	d->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->fd < 0)
		return fail("cannot make a socket: %s", strerror(errno));
	if (bind(d->fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(d->fd, BACKLOG) < 0)
		return fail("cannot listen at '%s': %s", d->path, strerror(errno));
	return 0;
}

void listener_close(struct listener *d)
{
	for (unsigned i = 0; i < LISTENER_CONNECTIONS; i++)
		if (d->connections[i].fd)
			close(d->connections[i].fd);
	if (d->fd >= 0)
		close(d->fd);
	*d = (struct listener)LISTENER_INIT;
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

static void refuse(struct tree *t, int fd, struct tree_process *p, unsigned reason, const char *why)
{
	struct wire_welcome w = { .version = WIRE_VERSION, .size = sizeof w, .refused = reason };

	if (p)
		tree_refused(t, p, why);
	else
		health_counts_add(t->health_counts, reason, 1, clocks_now(CLOCK_MONO), "a process: %s", why);
	send_welcome(fd, &w, t->config, -1, -1);
}

/*
 * Makes an arena for p: shared memory, or if that is not possible and allowed, one filled through the pipe.  Returns 0; -1: `why` is set.
 */
static int make_room(struct tree *t, struct tree_process *p, const struct connection *w, int unsendable, const struct bell_watch *bell,
		     int *arena, char why[200])
{
	unsigned wanted = (unsigned)t->config->transport;
	uint64_t size = t->config->arena_size;

	*arena = -1;
	if (w->most_mib && (uint64_t)w->most_mib << 20 < size)
		size = (uint64_t)w->most_mib << 20;
	if (wanted == TRANSPORT_PIPE)
		snprintf(why, 200, "%s", PIPE_REQUESTED);
	else if (w->carrier == CARRIER_PIPE)
		snprintf(why, 200, "it cannot map shared memory: %s", strerror(w->error));
	else if (unsendable)
		snprintf(why, 200, "shared memory cannot be sent to it: %s", strerror(unsendable));
	else if (bell->memory < 0)
		snprintf(why, 200, "the collector cannot make shared memory");
	else if (guest_new(p, t->out, t->folder, size, &t->capture, arena) == 0)
		return 0;
	else
		snprintf(why, 200, "%s", fail_text());
	if (wanted == TRANSPORT_SHM)
		return -1;
	process_note_pipe(p, why);
	if (guest_new(p, t->out, t->folder, size, &t->capture, NULL) == 0)
		return 0;
	snprintf(why, 200, "%s", fail_text());
	return -1;
}

/*
 * ETOOMANYREFS: without privileges, the descriptors in flight of all programs of a user may not exceed the sender's RLIMIT_NOFILE.  It
 * passes when guests take theirs.
 */
static bool passes(int e)
{
	return e == ETOOMANYREFS || e == EAGAIN || e == EINTR || e == ENOBUFS || e == ENOMEM;
}

/* Returns 0 if the answer was sent, or can never be because the guest is gone.  Else the errno; p then has no arena. */
static int send_arena(struct tree *t, int fd, struct tree_process *p, const struct bell_watch *bell, int arena)
{
	const struct arena_layout *l = &p->guest->view.layout;
	const struct wire_welcome w = {
		.version = WIRE_VERSION, .size = sizeof w, .process = p->number, .clock = p->clock,
		.config_size = sizeof *t->config, .arena_size = l->size,
		.carrier = p->guest->replica ? CARRIER_PIPE : CARRIER_SHM,
		.n_small = l->n_small, .n_large = l->n_large, .blocks = l->blocks,
	};

	if (send_welcome(fd, &w, t->config, arena, bell->memory) == 0) {
		p->flags |= PROCESS_CONNECTED;
		return 0;
	}

	int e = errno;

	guest_free(p);
	p->left |= !passes(e);
	return passes(e) ? e : 0;
}

/* Result of handling a hello. */
enum outcome {
	OVER,           /* nothing more is expected on the connection */
	ANSWERED,       /* the answer was sent, or the guest is gone: its reaction is still to be read */
	UNSENT,         /* the answer has to be sent again */
};

/* *unsendable: in, the errno of an earlier attempt to send an arena, 0: none; out, that of this one. */
static enum outcome try_welcome(struct tree *t, struct tree_process *p, const struct connection *w, int *unsendable,
				const struct bell_watch *bell)
{
	bool again = *unsendable || w->unsent, replicated;
	char why[200];
	int arena;

	if (make_room(t, p, w, *unsendable, bell, &arena, why) < 0) {
		refuse(t, w->fd, p, HEALTH_refused, why);
		return OVER;
	}
	if (!again)
		describe_process(t->rows, p, t->config);        /* now: it may not live long */
	replicated = p->guest->replica;
	*unsendable = send_arena(t, w->fd, p, bell, arena);
	if (arena >= 0)
		close(arena);
	if (*unsendable)
		return UNSENT;
	if (replicated)
		staging_attribute(t->rows, p->number, "transport", "pipe");
	tree_put_row(t, p);
	staging_write(t->rows);         /* before any row of the process: a reader of the unfinished file needs it to assign them */
	return ANSWERED;
}

/* A guest that can go on alone may be answered later.  Others, and this one after UNSENT_NS, get an answer without descriptors. */
static enum outcome welcome(struct tree *t, struct connection *w, const struct bell_watch *bell)
{
	struct tree_process *p = t->all[w->process - 1];
	int unsendable = 0;
	enum outcome outcome = try_welcome(t, p, w, &unsendable, bell);
	int64_t now = clock_ns(CLOCK_MONOTONIC);

	if (outcome == UNSENT && (!w->alone || (w->unsent && now - w->unsent > UNSENT_NS)))
		outcome = try_welcome(t, p, w, &unsendable, bell);
	if (outcome == UNSENT && !w->unsent)
		w->unsent = now;
	return outcome;
}

static bool may_enter(int fd, struct ucred *who)
{
	socklen_t size = sizeof *who;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, who, &size) == 0 && (who->uid == geteuid() || who->uid == 0);
}

union packet {
	struct wire_hello hello;
	struct wire_late late;
};

/* Receives the next packet of a connection; returns as recvmsg().  *memory: the descriptor that came with it, or -1. */
static ssize_t receive(int fd, union packet *p, int *memory)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec iov = { p, sizeof *p };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes };
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c;

	/* Reported once, when the guest closed its end without reading the answer.  What it had sent before can still be read. */
	if (n < 0 && errno == ECONNRESET)
		n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	*memory = -1;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof *memory))
		memcpy(memory, CMSG_DATA(c), sizeof *memory);
	return n;
}

static bool is_later(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* The guest stopped waiting and sent memory of its own; or it is gone, which it reports elsewhere (roster line, pipe). */
static void take_late(struct tree *t, struct tree_process *p, ssize_t n, const union packet *packet, int memory)
{
	const struct wire_late *l = &packet->late;

	if (n == sizeof *l && l->version == WIRE_VERSION && l->size == sizeof *l && memory >= 0)
		late_adopt(t, p, l->arena_size, memory);
	else if (n > 0)
		tree_refused(t, p, "it sent shared memory that cannot be used");
	if (memory >= 0)
		close(memory);
}

/* The connection is over: ends the process if it is not watched. */
static enum outcome over(struct tree *t, struct tree_process *p)
{
	if (!p->end && !p->alive.pid)
		tree_end(t, p, 0);
	return OVER;
}

/* Handles a hello, and the packet that may already be behind it. */
static enum outcome greet(struct tree *t, struct connection *w, const struct wire_hello *h, uint32_t host_pid,
			  const struct bell_watch *bell)
{
	enum outcome outcome = OVER;
	union packet packet;
	struct tree_process *p;
	int memory;
	ssize_t n;

	tree_hear_roster(t);    /* reads the lines of this image and of earlier ones */
	p = tree_hello(t, h, host_pid);
	if (!p) {
		refuse(t, w->fd, NULL, HEALTH_processes_full, "the table of processes is full");
		return OVER;
	}
	w->process = p->number;
	w->most_mib = h->most_mib;
	w->carrier = h->carrier;
	w->error = h->error;
	w->alone = h->alone;
	n = receive(w->fd, &packet, &memory);
	if (!is_later(n) && !(n == 0 && w->shut)) {
		p->left = n <= 0;       /* it may come back through the pipe */
		take_late(t, p, n, &packet, memory);
	} else if (p->end) {
		tree_refused(t, p, "it ended before it got shared memory");
	} else if (!(p->late && p->guest)) {
		tree_forget_arena(t, p);
		outcome = welcome(t, w, bell);
	}
	return outcome == OVER ? over(t, p) : outcome;
}

static enum outcome first_words(struct tree *t, struct connection *w, ssize_t n, const struct wire_hello *h, const struct bell_watch *bell)
{
	struct ucred who;

	if (n <= 0)
		return OVER;
	if (!may_enter(w->fd, &who))
		refuse(t, w->fd, NULL, HEALTH_refused, "it belongs to another user");
	else if (n != sizeof *h || h->version != WIRE_VERSION || h->size != sizeof *h)
		refuse(t, w->fd, NULL, HEALTH_refused, "it has loaded another version of libgprof_inject.so");
	else
		return greet(t, w, h, (uint32_t)who.pid, bell);
	return OVER;
}

/* Handles the next packet of a connection.  True: the connection is over. */
static bool serve(struct tree *t, struct connection *w, const struct bell_watch *bell)
{
	union packet packet;
	struct tree_process *p;
	int memory;
	ssize_t n = receive(w->fd, &packet, &memory);

	if (is_later(n) || (n == 0 && w->shut && w->unsent))
		return false;
	if (w->process) {
		p = t->all[w->process - 1];
		p->left |= n <= 0;
		take_late(t, p, n, &packet, memory);
		return true;
	}
	if (memory >= 0)
		close(memory);
	return first_words(t, w, n, &packet.hello, bell) == OVER;
}

static void let_go(struct listener *d, uint32_t place)
{
	struct connection *w = &d->connections[place];

	d->unsent -= w->unsent != 0;
	close(w->fd);
	*w = (struct connection){ 0 };
	d->used--;
}

/*
 * Returns the connection to close when all places are taken: the oldest that was answered, else the oldest without a hello, whose guest
 * dials again.  NULL: all wait for their answers.
 */
static struct connection *dispensable(struct listener *d)
{
	struct connection *silent = NULL;

	for (uint32_t i = 0; i < LISTENER_CONNECTIONS; i++) {
		struct connection *w = &d->connections[(d->next + i) % LISTENER_CONNECTIONS];

		if (w->fd && w->process && !w->unsent)
			return w;
		if (w->fd && !w->process && !silent)
			silent = w;
	}
	return silent;
}

static void read_connection(struct listener *d, uint32_t place, struct tree *t, const struct bell_watch *bell)
{
	struct connection *w = place < LISTENER_CONNECTIONS ? &d->connections[place] : NULL;
	bool waited = w && w->unsent;

	if (!w || !w->fd)
		return;
	if (serve(t, w, bell))
		let_go(d, place);
	else
		d->unsent += !waited && w->unsent;
}

/*
 * Frees a place if all are taken.  No message is lost: after shutdown() the guest cannot send, and what it sent before is read.  If that
 * was a hello whose answer cannot be sent yet, the connection stays.  epoll would report a shut one again and again.  False: all wait for
 * their answers.
 */
static bool make_place(struct listener *d, struct tree *t, const struct bell_watch *bell)
{
	struct connection *w;

	while (d->used >= d->most && (w = dispensable(d))) {
		uint32_t place = (uint32_t)(w - d->connections);

		shutdown(w->fd, SHUT_RD);
		w->shut = true;
		epoll_ctl(t->epoll, EPOLL_CTL_DEL, w->fd, NULL);
		read_connection(d, place, t, bell);
		if (w->fd && !w->unsent)
			let_go(d, place);
	}
	return d->used < d->most;
}

static void let_wait(struct listener *d, struct tree *t, const struct connection *w)
{
	uint32_t place = d->next % LISTENER_CONNECTIONS;

	while (d->connections[place].fd)
		place = (place + 1) % LISTENER_CONNECTIONS;
	d->connections[place] = *w;
	d->next = place + 1;
	d->used++;
	d->unsent += w->unsent != 0;

	struct epoll_event want = { .events = EPOLLIN, .data.u64 = (uint64_t)place << 32 | LISTENER_TAG };

	epoll_ctl(t->epoll, EPOLL_CTL_ADD, w->fd, &want);
}

/* True if a guest waits to be accepted: only then does a connection give way. */
static bool is_dialled(const struct listener *d)
{
	struct pollfd p = { .fd = d->fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* True: one was accepted, and there may be more. */
static bool let_in(struct listener *d, struct tree *t, const struct bell_watch *bell)
{
	struct connection w = { .fd = accept4(d->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) };

	if (w.fd < 0)
		return errno == EINTR || errno == ECONNABORTED;
	if (serve(t, &w, bell))
		close(w.fd);
	else
		let_wait(d, t, &w);
	return true;
}

void listener_accept(struct listener *d, struct tree *t, const struct bell_watch *bell)
{
	while ((d->used < d->most || (is_dialled(d) && make_place(d, t, bell))) && let_in(d, t, bell))
		;
}

void listener_read(struct listener *d, uint32_t place, struct tree *t, const struct bell_watch *bell)
{
	bool was_full = d->used >= d->most;

	read_connection(d, place, t, bell);
	if (was_full)
		listener_accept(d, t, bell);
}

/* False: it has to wait on, and so have the answers after it. */
static bool answer_again(struct listener *d, uint32_t place, struct tree *t, const struct bell_watch *bell)
{
	struct connection *w = &d->connections[place];
	struct tree_process *p = t->all[w->process - 1];
	enum outcome outcome = OVER;

	if (!p->end && !p->guest)       /* else it has ended, or got an arena another way */
		outcome = welcome(t, w, bell);
	if (outcome == UNSENT)
		return false;
	if (outcome == OVER)
		over(t, p);
	if (outcome == OVER || w->shut) {
		let_go(d, place);
		return true;
	}
	w->unsent = 0;
	d->unsent--;
	return true;
}

void listener_send_waiting(struct listener *d, struct tree *t, const struct bell_watch *bell)
{
	unsigned first = d->next, n = 0;
	int64_t now;

	if (!d->unsent || (now = clock_ns(CLOCK_MONOTONIC)) - d->tried < RETRY_NS)
		return;
	d->tried = now;
	for (bool sent = true; sent && d->unsent && n < LISTENER_CONNECTIONS; n++) {
		uint32_t place = (first + n) % LISTENER_CONNECTIONS;

		if (d->connections[place].unsent)
			read_connection(d, place, t, bell);
		if (d->connections[place].unsent)
			sent = answer_again(d, place, t, bell);
	}
	listener_accept(d, t, bell);
}

void listener_read_all(struct listener *d, struct tree *t, const struct bell_watch *bell, uint32_t process)
{
	unsigned left;

	listener_accept(d, t, bell);
	left = d->used;
	for (uint32_t place = 0; place < LISTENER_CONNECTIONS && left; place++) {
		if (!d->connections[place].fd)
			continue;
		left--;
		if (!process || !d->connections[place].process || d->connections[place].process == process)
			read_connection(d, place, t, bell);
	}
	listener_accept(d, t, bell);
}
