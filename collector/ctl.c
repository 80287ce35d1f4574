#include "collector/ctl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "collector/clocks.h"
#include "collector/log.h"
#include "collector/session.h"
#include "trace/path.h"

#define ANSWER_MAX 16384u
#define MARK_MAX   1000u

/* A buffer for text; what does not fit is cut off. */
struct reply {
	char *at;
	size_t room;
};

static void reply_append(struct reply *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void reply_append(struct reply *t, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(t->at, t->room, fmt, args);
	va_end(args);
	if (n < 0 || (size_t)n >= t->room)
		n = t->room ? (int)t->room - 1 : 0;
	t->at += n;
	t->room -= (size_t)n;
}

/* ---- requests ---- */

static void change(struct session *s, struct reply *t, bool start, uint32_t mask, uint32_t number)
{
	struct tree_process *p = number && number <= s->tree.n ? s->tree.all[number - 1] : NULL;

	if (s->orders.over)
		reply_append(t, "error recording is over in this session");
	else if (number && !p)
		reply_append(t, "error there is no process %u", number);
	else if (p && !p->guest)
		reply_append(t, "error process %u %s", number, p->end ? "has ended" : "records nothing: it has not used CUDA or NVTX yet");
	else if (!(mask & ORDER_ALL))
		reply_append(t, "error unknown kind; use cuda or nvtx");
	else if (!start && !((p ? orders_of(&s->orders, p) : orders_anywhere(&s->orders)) & mask))
		reply_append(t, "error %s", (p ? orders_of(&s->orders, p) : orders_anywhere(&s->orders)) ? "these kinds are not being recorded" :
			     "recording is already off");
	else if (orders_change(&s->orders, p, start ? mask : 0, start ? 0 : mask))
		reply_append(t, "ok window %u", s->tree.n_windows);
}

static void followed(struct session *s, struct reply *t)
{
	unsigned n = 0, behind = 0;

	for (size_t i = 0; i < s->tree.n_live; i++) {
		const struct tree_process *p = s->tree.live[i];

		n += p->guest != NULL;
		behind += p->guest && !orders_followed(p);
	}
	reply_append(t, "ok %u of %u", behind, n);
}

static const char *state_of(uint32_t mask, bool over)
{
	static const char *const states[] = { "off", "cuda", "nvtx", "cuda,nvtx" };

	return over ? "over" : states[mask & ORDER_ALL];
}

static void status(struct session *s, struct reply *t)
{
	struct stat st = { 0 };
	unsigned left = 0;

	stat(s->out.path, &st);
	reply_append(t, "ok\ntrace %s\nbytes %llu\nrecording %s\nwindows %u\n", s->out.path, (unsigned long long)st.st_size,
		     state_of(s->orders.mask, s->orders.over), s->tree.n_windows);
	for (size_t i = 0; i < s->tree.n_live; i++) {
		const struct tree_process *p = s->tree.live[i];

		if (p->end)
			continue;
		if (t->room < 256) {
			left++;
			continue;
		}
		reply_append(t, "process %u %u %s %u %s\n", p->number, p->pid,
			     !p->guest ? "idle" : orders_followed(p) ? state_of(orders_of(&s->orders, p), s->orders.over) : "waiting",
			     p->guest ? __atomic_load_n(&p->guest->view.a->n_windows, __ATOMIC_RELAXED) : 0, p->name);
	}
	if (left)
		reply_append(t, "more %u\n", left);
}

/* Written in process 0, the session itself, whose rows have CLOCK_MONOTONIC. */
static void mark(struct session *s, struct reply *t, const char *text)
{
	uint32_t n = (uint32_t)strnlen(text, MARK_MAX);
	struct string_row name = { .id = ++s->ctl.strings, .bytes = n };
	struct mark_row row = { .start = clocks_now(CLOCK_MONO), .name = name.id };

	if (!n) {
		reply_append(t, "error a mark needs a text");
		return;
	}
	staging_put(&s->rows, record_by_kind(ROW_string), &name, text, n);
	staging_put(&s->rows, record_by_kind(ROW_mark), &row, NULL, 0);
	reply_append(t, "ok");
}

void ctl_answer(struct session *s, const char *request, char *out, size_t size)
{
	struct reply t = { out, size };
	unsigned mask, number;

	if (sscanf(request, "start %u %u", &mask, &number) == 2)
		change(s, &t, true, mask, number);
	else if (sscanf(request, "stop %u %u", &mask, &number) == 2)
		change(s, &t, false, mask, number);
	else if (strcmp(request, "toggle") == 0)
		change(s, &t, !s->orders.mask, ORDER_ALL, 0);
	else if (strcmp(request, "followed") == 0)
		followed(s, &t);
	else if (strcmp(request, "status") == 0)
		status(s, &t);
	else if (strncmp(request, "mark ", 5) == 0)
		mark(s, &t, request + 5);
	else
		reply_append(&t, "error unknown request '%.60s'; use gprof-ctl of the same version as gprof-run", request);
}

/* ---- the socket ---- */

int ctl_open(struct ctl *c, const char *folder)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	if (path_join(at.sun_path, sizeof at.sun_path, folder, "ctl") < 0)
		return fail("cannot make a socket in '%s': the path is too long", folder);
	c->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0 || bind(c->fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(c->fd, 8) < 0)
		return fail("cannot listen at '%s': %s", at.sun_path, strerror(errno));
	return 0;
}

void ctl_close(struct ctl *c)
{
	for (unsigned i = 0; i < CTL_CLIENTS; i++)
		if (c->clients[i])
			close(c->clients[i]);
	if (c->fd >= 0)
		close(c->fd);
	*c = (struct ctl)CTL_INIT;
}

static void forget(struct ctl *c, uint32_t place)
{
	close(c->clients[place]);
	c->clients[place] = 0;
}

void ctl_hear(struct session *s, uint32_t place)
{
	struct ctl *c = &s->ctl;
	char request[MARK_MAX + 64], answer[ANSWER_MAX];
	ssize_t n;

	if (place >= CTL_CLIENTS || !c->clients[place])
		return;
	n = recv(c->clients[place], request, sizeof request - 1, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		forget(c, place);
		return;
	}
	request[n] = '\0';
	ctl_answer(s, request, answer, sizeof answer);
	if (send(c->clients[place], answer, strlen(answer), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		forget(c, place);
}

static bool is_ours(int fd)
{
	struct ucred who;
	socklen_t size = sizeof who;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && (who.uid == geteuid() || who.uid == 0);
}

void ctl_accept(struct session *s)
{
	struct ctl *c = &s->ctl;
	int fd;

	while ((fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		uint32_t place = 0;

		if (!is_ours(fd)) {
			close(fd);
			continue;
		}
		while (place < CTL_CLIENTS && c->clients[place])
			place++;
		if (place == CTL_CLIENTS) {
			place = c->next++ % CTL_CLIENTS;
			forget(c, place);
		}
		c->clients[place] = fd;

		struct epoll_event want = { .events = EPOLLIN, .data.u64 = (uint64_t)place << 32 | CTL_TAG };

		epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &want);
	}
}
