#include "cli/ctl/ctl.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/ui/fail.h"
#include "trace/path.h"
#include "trace/wire.h"

/* Seconds to wait for an answer.  A collector answers in microseconds unless its file system hangs. */
#define ANSWER_S 5

const char *ctl_name(const struct ctl_session *s)
{
	const char *slash = strrchr(s->folder, '/');

	return slash ? slash + 1 : s->folder;
}

/* Connects to the collector of s->folder.  0, or -1 with errno. */
static int dial(struct ctl_session *s)
{
	const struct timeval wait = { .tv_sec = ANSWER_S };
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	if (path_join(at.sun_path, sizeof at.sun_path, s->folder, "ctl") < 0)
		return -1;
	s->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		return -1;
	setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
	setsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
	if (connect(s->fd, (struct sockaddr *)&at, sizeof at) == 0)
		return 0;
	ctl_close(s);
	return -1;
}

void ctl_close(struct ctl_session *s)
{
	int saved = errno;

	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	errno = saved;
}

int ctl_ask(struct ctl_session *s, const char *request, char answer[CTL_ANSWER])
{
	ssize_t n = send(s->fd, request, strlen(request), MSG_NOSIGNAL);

	if (n >= 0)
		n = recv(s->fd, answer, CTL_ANSWER - 1, 0);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return fail("the collector of '%s' did not answer within %d s; does the trace's file system hang?", ctl_name(s), ANSWER_S);
	if (n <= 0)
		return fail("the session '%s' has ended", ctl_name(s));
	answer[n] = '\0';
	if (strncmp(answer, "ok", 2) != 0)
		return fail("%s", strncmp(answer, "error ", 6) == 0 ? answer + 6 : answer);
	memmove(answer, answer + 2 + (answer[2] != '\0'), strlen(answer + 2) + (answer[2] == '\0'));
	return 0;
}

const char *ctl_fact(const char *status, const char *word)
{
	static char value[PATH_MAX];
	size_t n = strlen(word);

	value[0] = '\0';
	for (const char *p = status; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (strncmp(p, word, n) == 0 && p[n] == ' ') {
			snprintf(value, sizeof value, "%.*s", (int)strcspn(p + n + 1, "\n"), p + n + 1);
			break;
		}
	}
	return value;
}

/* ---- search ---- */

/* Whether the folder belongs to this user: in /tmp, anybody can create a folder with such a name.  Root accepts all. */
static bool is_ours(const char *folder, struct stat *st)
{
	return lstat(folder, st) == 0 && S_ISDIR(st->st_mode) && (st->st_uid == geteuid() || geteuid() == 0);
}

static size_t find_in(const char *parent, struct ctl_session *all, size_t n, size_t max)
{
	DIR *dir = parent && *parent ? opendir(parent) : NULL;
	struct dirent *e;

	while (dir && n < max && (e = readdir(dir))) {
		struct ctl_session *s = &all[n];
		bool known = false;
		struct stat st;

		if (strncmp(e->d_name, "gprof-", 6) != 0 || strlen(e->d_name) != 12)
			continue;
		if (path_join(s->folder, sizeof s->folder, parent, e->d_name) < 0 || !is_ours(s->folder, &st))
			continue;
		s->dev = st.st_dev;
		s->ino = st.st_ino;
		/* The searched folders may be the same folder under several names. */
		for (size_t i = 0; i < n; i++)
			known |= all[i].dev == s->dev && all[i].ino == s->ino;
		if (!known && dial(s) == 0)
			n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

size_t ctl_find(struct ctl_session *all, size_t max)
{
	const char *tmp = getenv("TMPDIR");
	size_t n = find_in(getenv("XDG_RUNTIME_DIR"), all, 0, max);

	n = find_in(tmp, all, n, max);
	return tmp && strcmp(tmp, "/tmp") == 0 ? n : find_in("/tmp", all, n, max);
}

/* Connects to the session of a folder, given by name or by GPROF_SESSION.  0, or -1 after an error message. */
static int open_folder(struct ctl_session *s, const char *folder)
{
	struct stat st;

	snprintf(s->folder, sizeof s->folder, "%s", folder);
	if (stat(folder, &st) < 0)
		return fail("there is no session '%s'; it may have ended", folder);
	if (st.st_uid != geteuid() && geteuid() != 0)
		return fail("the session '%s' belongs to another user", folder);
	if (dial(s) == 0)
		return 0;
	if (errno == ECONNREFUSED || errno == ENOENT)
		return fail("the session '%s' has ended: its collector does not answer", folder);
	return fail_errno("cannot reach the session '%s'", folder);
}

/* Whether the file name `trace` is `name`, with or without ".gtrace". */
static bool is_trace(const char *trace, const char *name)
{
	size_t n = strlen(name);

	return strncmp(trace, name, n) == 0 && (!trace[n] || strcmp(trace + n, ".gtrace") == 0);
}

/* Whether the session has this name: its own name, its trace's name, or a relative path of its trace. */
static bool is_named(struct ctl_session *s, const char *name)
{
	const char *own = ctl_name(s), *trace, *slash;
	char status[CTL_ANSWER], path[PATH_MAX + 8];
	struct stat here, there;

	if (strcmp(own, name) == 0 || strcmp(own + 6, name) == 0)
		return true;
	if (ctl_ask(s, "status", status) < 0)
		return false;
	trace = ctl_fact(status, "trace");
	slash = strrchr(trace, '/');
	if (is_trace(trace, name) || (slash && is_trace(slash + 1, name)))
		return true;
	snprintf(path, sizeof path, "%s%s", name, strstr(name, ".gtrace") ? "" : ".gtrace");
	return strchr(name, '/') && stat(path, &here) == 0 && stat(trace, &there) == 0 && here.st_dev == there.st_dev &&
	       here.st_ino == there.st_ino;
}

static int choose(struct ctl_session *all, size_t n, const char *name)
{
	char list[256] = "";

	if (n == 1 && !name)
		return 0;
	for (size_t i = 0; name && i < n; i++)
		if (is_named(&all[i], name))
			return (int)i;
	for (size_t i = 0; i < n; i++)
		snprintf(list + strlen(list), sizeof list - strlen(list), " %.12s", ctl_name(&all[i]));
	if (!n)
		fail(name ? "no session '%s' is running" : "no session is running", name);
	else
		fail(name ? "no session is named '%s'" : "several sessions are running; name one", name);
	hint(n ? "running:%s; 'gprof-ctl list' also shows their traces" : "gprof-run -- COMMAND starts one%s", list);
	return -1;
}

/* Whether the name looks like a session's folder, /tmp/gprof-XXXXXX; it need not exist. */
static bool is_folder(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash && strncmp(slash + 1, "gprof-", 6) == 0 && strlen(slash + 1) == 12;
}

int ctl_open(struct ctl_session *s, const char *name)
{
	struct ctl_session all[64];
	const char *own = getenv(WIRE_ENV);
	size_t n;
	int i;

	s->fd = -1;
	if (name && is_folder(name))
		return open_folder(s, name);
	if (!name && own && *own)
		return open_folder(s, own);
	n = ctl_find(all, sizeof all / sizeof *all);
	i = choose(all, n, name);
	for (size_t k = 0; k < n; k++)
		if ((int)k != i)
			ctl_close(&all[k]);
	if (i >= 0)
		*s = all[i];
	return i < 0 ? -1 : 0;
}
