#include "collector/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "collector/account.h"
#include "collector/clocks.h"
#include "collector/describe.h"
#include "collector/drain.h"
#include "collector/log.h"
#include "collector/arena_replica.h"
#include "collector/resolve.h"
#include "collector/sweep.h"
#include "trace/clock.h"
#include "trace/health.h"
#include "trace/path.h"

enum source { FROM_CONTROL, FROM_LISTENER, FROM_ROSTER, FROM_BELL, FROM_PIPE, FROM_TICK, FROM_TURN, FROM_CTL };

static const int64_t MS = 1000000;

/*
 * Interval in ms: a forked child's line does not wake the collector.  A child that lives this long is watched before it ends.
 */
#define BOARD_MS 10

/*
 * Longest wait for the last rows.  A process that makes no call follows an order 50 ms later, and a flush may take some; the program runs
 * on.
 */
#define CLOSE_WAIT_NS 3000000000ll

/* ---- gprof-run ---- */

static void tell_run(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void tell_run(struct session *s, const char *fmt, ...)
{
	char text[4096];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	if (n >= (int)sizeof text)
		n = sizeof text - 1;
	if (s->control >= 0)
		send(s->control, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Reads what a process (0: any) sent last, before it is declared over. */
static void hear_all(struct session *s, uint32_t process)
{
	tree_hear_roster(&s->tree);
	listener_read_all(&s->listener, &s->tree, &s->bell, process);
}

/* gprof-run has seen the program's end: the kernel may still be ending it, but all that the program wrote is there. */
static void program_ended(struct session *s, uint32_t pid, const struct ending *how)
{
	struct tree_process *p;

	hear_all(s, 0);
	p = tree_find(&s->tree, pid);
	tree_note_end(&s->tree, pid, how);
	s->program_ended = true;
	s->answer_due = true;
	if (p && p->host_pid == pid)
		tree_end(&s->tree, p, 0);
}

static void run_spoke(struct session *s)
{
	char text[4097], answer[256];
	struct ending how = { 0 };
	unsigned pid;
	ssize_t n;

	while ((n = recv(s->control, text, sizeof text - 1, MSG_DONTWAIT)) > 0) {
		text[n] = '\0';
		if (sscanf(text, "main %u", &pid) == 1)
			tree_main(&s->tree, pid);
		else if (sscanf(text, "ended %u %u %u %" SCNd64, &pid, &how.how, &how.status, &how.cpu) >= 1)
			program_ended(s, pid, &how);
		else if (strcmp(text, "toggle") == 0)
			ctl_answer(s, text, answer, sizeof answer);
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		s->run_gone = true;
		close(s->control);
		s->control = -1;
	}
}

/* Writes all rows of ended processes to the file, then answers. */
static void answer(struct session *s)
{
	s->answer_due = false;
	hear_all(s, 0);
	tree_reap(&s->tree, true);
	if (s->tree.n_watched == 0)
		return;         /* "closed" is the better answer, unless untracked processes keep the session open */
	staging_write(&s->rows);
	tell_run(s, "drained");
}

/* ---- what happens ---- */

void session_accept(struct session *s)
{
	tree_hear_roster(&s->tree);
	listener_accept(&s->listener, &s->tree, &s->bell);
}

static void forget_timer(int fd)
{
	uint64_t n;

	if (read(fd, &n, sizeof n) < 0) {
		/* It has not expired since the last read. */
	}
}

/* True if the rows of the window are all there, or will not come. */
static bool may_close(const struct session *s)
{
	bool flushed = true;

	for (size_t i = 0; i < s->tree.n_live; i++)
		flushed &= orders_followed(s->tree.live[i]) && guest_flushed(s->tree.live[i]);
	return flushed || clock_ns(CLOCK_MONOTONIC) - s->closing > CLOSE_WAIT_NS;
}

/* Starts to close the trace if a capture range has ended that ends the trace. */
static void look_for_shutdown(struct session *s)
{
	/* Values of setting range_end.  Checked because a program may overwrite its arena, but must not end the session that way. */
	if (s->config.range_end != 2 && s->config.range_end != 4)
		return;
	for (size_t i = 0; i < s->tree.n_live && !s->closing; i++) {
		const struct connected_guest *g = s->tree.live[i]->guest;

		if (!g || !__atomic_load_n(&g->view.a->shutdown, __ATOMIC_ACQUIRE))
			continue;
		s->closing = clock_ns(CLOCK_MONOTONIC);
		orders_end(&s->orders);
	}
}

static void on_tick(struct session *s)
{
	forget_timer(s->tick);
	hear_all(s, 0);
	sweep_tick(s);
	look_for_shutdown(s);
	ready_look(s);
	if (++s->ticks % 10 == 0)
		sweep_second(s);
}

static void process_gone(struct session *s, uint32_t number)
{
	struct tree_process *p = number && number <= s->tree.n ? s->tree.all[number - 1] : NULL;

	/* The event may be of a pidfd that was closed since. */
	if (!p || p->end || !p->alive.pid || alive_is(&p->alive))
		return;
	hear_all(s, number);
	tree_end(&s->tree, p, 0);
}

static void handle(struct session *s, uint64_t tag)
{
	uint32_t low = (uint32_t)tag, high = (uint32_t)(tag >> 32);

	switch (low) {
	case TREE_TAG:
		process_gone(s, high);
		break;
	case LISTENER_TAG:
		listener_read(&s->listener, high, &s->tree, &s->bell);
		break;
	case CTL_TAG:
		ctl_hear(s, high);
		break;
	case FROM_CTL:
		ctl_accept(s);
		break;
	case FROM_CONTROL:
		run_spoke(s);
		break;
	case FROM_LISTENER:
		listener_accept(&s->listener, &s->tree, &s->bell);
		break;
	case FROM_BELL:
		bell_heard(&s->bell);
		sweep_full(s);
		break;
	case FROM_PIPE:
		tree_hear_pipe(&s->tree);
		break;
	case FROM_TICK:
		on_tick(s);
		break;
	case FROM_TURN:
		forget_timer(s->turn);
		orders_turn(&s->orders);
		break;
	}
}

void session_step(struct session *s)
{
	struct epoll_event events[64];
	int n = epoll_wait(s->epoll, events, 64, s->board.b ? BOARD_MS : -1);

	/* A guest writes its roster line before its hello, and an image before the one that replaces it: read the lines first. */
	for (int i = 0; i < n; i++)
		if ((uint32_t)events[i].data.u64 == TREE_TAG)
			tree_look_at_end(&s->tree, (uint32_t)(events[i].data.u64 >> 32));
	if (n > 0 || board_has_news(&s->board))
		tree_hear_roster(&s->tree);
	for (int i = 0; i < n; i++)
		handle(s, events[i].data.u64);
	listener_send_waiting(&s->listener, &s->tree, &s->bell);
	if (s->answer_due)
		answer(s);
}

bool session_is_over(struct session *s)
{
	if (s->closing && may_close(s))
		return true;
	if (!(s->program_ended || s->run_gone) || s->tree.n_watched)
		return false;
	while (tree_hear_roster(&s->tree) && !s->tree.n_watched)
		;
	hear_all(s, 0);
	if (s->tree.n_watched || tree_find_untracked(&s->tree)) {
		if (s->program_ended && !s->run_gone) {
			staging_write(&s->rows);        /* may have the program's end, which was reported just now */
			tell_run(s, "drained");
		}
		return false;
	}
	return true;
}

/* ---- begin and end ---- */

static int read_config(struct session *s)
{
	char path[PATH_MAX];
	struct buf text = { 0 };
	ssize_t n = -1;
	int fd;

	config_init(&s->config);
	if (path_join(path, sizeof path, s->folder, "config") < 0 || (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return fail("cannot open '%s': %s", path, strerror(errno));
	do {
		uint8_t *room = buf_room(&text, 4096);

		n = room ? read(fd, room, 4096) : -1;
		text.len += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	close(fd);
	if (n == 0)
		n = config_parse(&s->config, (const char *)text.data, text.len);
	buf_free(&text);
	return n < 0 ? fail("cannot read '%s'", path) : 0;
}

/* "3f2a...-..." -> 16 bytes */
static void boot_bytes(const char *text, uint8_t out[16])
{
	for (int i = 0; i < 16 && text[0] && text[1]; i++) {
		char pair[3] = { text[0], text[1] };

		out[i] = (uint8_t)strtoul(pair, NULL, 16);
		text += 2;
		text += *text == '-';
	}
}

static int open_file(struct session *s)
{
	struct file_header h = { 0 };
	struct clock_row now = clocks_read(s->with_tsc);
	char boot[64];

	if (getrandom(&h.session, sizeof h.session, GRND_NONBLOCK) < 0)
		h.session = (uint64_t)now.real << 20 ^ (uint64_t)getpid();
	read_boot_id(boot, sizeof boot);
	boot_bytes(boot, h.boot_id);
	h.start_real = now.real;
	h.start_mono = now.mono;
	gethostname(h.host, sizeof h.host - 1);
	if (output_open(&s->out, &s->config, &h, &s->health_counts) < 0)
		return -1;
	if (staging_init(&s->rows, &s->out, 0, CLOCK_MONO) < 0)
		return fail("cannot start: out of memory");
	staging_put(&s->rows, record_by_kind(ROW_clock), &now, NULL, 0);
	describe_session(&s->rows, &s->config, s->out.moved_from, s->with_tsc ? CLOCK_TSC : CLOCK_MONO, boot);
	staging_write(&s->rows);
	return 0;
}

/* EPOLLET for the listener: new connections that find no place would be reported without end. */
static int listen_to(struct session *s, int fd, enum source source)
{
	struct epoll_event want = { .events = source == FROM_LISTENER ? EPOLLIN | EPOLLET : EPOLLIN, .data.u64 = source };

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &want);
}

static int start_clockwork(struct session *s)
{
	const struct itimerspec tenth = { .it_interval = { .tv_nsec = 100 * MS }, .it_value = { .tv_nsec = 100 * MS } };

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->tick = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	s->turn = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->epoll < 0 || s->tick < 0 || s->turn < 0 || timerfd_settime(s->tick, 0, &tenth, NULL) < 0 ||
	    listen_to(s, s->control, FROM_CONTROL) < 0 || listen_to(s, s->listener.fd, FROM_LISTENER) < 0 ||
	    listen_to(s, s->roster.fd, FROM_ROSTER) < 0 || listen_to(s, s->pipe.fd, FROM_PIPE) < 0 ||
	    listen_to(s, s->ctl.fd, FROM_CTL) < 0 ||
	    (s->bell.running && listen_to(s, s->bell.event, FROM_BELL) < 0) ||
	    listen_to(s, s->tick, FROM_TICK) < 0 || listen_to(s, s->turn, FROM_TURN) < 0)
		return fail("cannot wait for events: %s", strerror(errno));
	return 0;
}

static void plant_tree(struct session *s)
{
	struct ucred run;
	socklen_t size = sizeof run;

	s->tree.folder = s->folder;
	s->tree.config = &s->config;
	s->tree.out = &s->out;
	s->tree.rows = &s->rows;
	s->tree.health_counts = &s->health_counts;
	s->tree.roster = &s->roster;
	s->tree.board = &s->board;
	s->tree.pipe = &s->pipe;
	s->tree.epoll = s->epoll;
	s->tree.clock = s->with_tsc ? CLOCK_TSC : CLOCK_MONO;
	if (getsockopt(s->control, SOL_SOCKET, SO_PEERCRED, &run, &size) == 0)
		s->tree.run_pid = (uint32_t)run.pid;
}

int session_open(struct session *s, const char *folder, int control)
{
	int rc = -1;

	s->folder = folder;
	s->control = control;
	s->with_tsc = clocks_tsc_usable();
	s->start = clock_ns(CLOCK_MONOTONIC);
	if (read_config(s) < 0 || open_file(s) < 0)
		goto out;
	if (roster_open(&s->roster, folder) < 0 || listener_open(&s->listener, folder) < 0 || pipe_open(&s->pipe, folder) < 0)
		goto out;
	if (bell_start(&s->bell, folder) < 0) {
		if (s->config.transport == TRANSPORT_SHM)
			goto out;
		bell_stop(&s->bell);    /* without shared memory for the bell there is none for arenas */
	}
	if (ctl_open(&s->ctl, folder) < 0 || start_clockwork(s) < 0)
		goto out;
	board_make(&s->board, folder, &s->config, s->with_tsc ? CLOCK_TSC : CLOCK_MONO);
	plant_tree(s);
	orders_begin(&s->orders, &s->tree, s->turn, s->start);
	tell_run(s, "ready %s", s->out.path);
	rc = 0;
out:
	if (rc < 0)
		tell_run(s, "error %s", fail_text());
	return rc;
}

/* Call before gprof-run is told to end: if it is the first process of a container, the collector ends with it. */
static void remove_folder(struct session *s)
{
	static const char *const ours[] = { WIRE_FOLDER };
	char path[PATH_MAX];

	if (!s->folder)
		return;
	for (size_t i = 0; i < s->tree.n_live; i++)
		if (s->tree.live[i]->guest)
			arena_replica_remove_orders(s->tree.live[i]->guest->replica);
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (path_join(path, sizeof path, s->folder, ours[i]) == 0)
			unlink(path);
	rmdir(s->folder);
	s->folder = NULL;
}

int session_finish(struct session *s)
{
	struct clock_row now = clocks_read(s->with_tsc);
	char path[PATH_MAX];
	int rc;

	ready_last(s);
	for (size_t i = 0; i < s->tree.n_live; i++)
		if (!s->tree.live[i]->end)
			sweep_last(s, s->tree.live[i]);
	unmatched_report(s);
	tree_name_untracked(&s->tree);
	staging_put(&s->rows, record_by_kind(ROW_clock), &now, NULL, 0);
	describe_end(&s->rows);
	account_session(&s->health_counts, &s->rows);
	staging_write(&s->rows);
	memcpy(path, s->out.path, sizeof path);
	rc = output_close(&s->out);
	if (strcmp(path, s->out.path) != 0)
		tell_run(s, "moved %s", s->out.path);
	if (rc == 0 && s->out.has_stacks && s->config.resolve_symbols)
		resolve_run(s->out.path, (unsigned)s->config.sources);
	remove_folder(s);
	tell_run(s, "closed");
	return rc;
}

void session_release(struct session *s)
{
	tree_release(&s->tree);
	bell_stop(&s->bell);
	listener_close(&s->listener);
	ctl_close(&s->ctl);
	roster_close(&s->roster);
	board_release(&s->board);
	pipe_close(&s->pipe);
	output_close(&s->out);
	staging_release(&s->rows);
	health_counts_release(&s->health_counts);
	remove_folder(s);
	if (s->control >= 0)
		close(s->control);
	close(s->epoll);
	close(s->tick);
	close(s->turn);
}
