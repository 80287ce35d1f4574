#include "collector/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/log.h"
#include "trace/path.h"

/* From the largest pipe that a user without privileges may have to the kernel's default, in bytes. */
#define MOST  (1 << 20)
#define LEAST (64 << 10)

static size_t enlarge(int fd)
{
	for (int size = MOST; size > LEAST; size /= 2)
		if (fcntl(fd, F_SETPIPE_SZ, size) >= 0)
			break;

	int now = fcntl(fd, F_GETPIPE_SZ);

	return now > 0 ? (size_t)now : LEAST;
}

int pipe_create(const char *folder, const char *name)
{
	char path[PATH_MAX];
	int fd;

	if (path_join(path, sizeof path, folder, name) < 0 || (mkfifo(path, 0600) < 0 && errno != EEXIST))
		return fail("cannot create '%s': %s", path, strerror(errno));
	/* For writing, too: then there is no end of file. */
	fd = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? fail("cannot open '%s': %s", path, strerror(errno)) : fd;
}

int pipe_open(struct pipe *p, const char *folder)
{
	p->fd = pipe_create(folder, "rows");
	if (p->fd < 0)
		return -1;
	p->size = enlarge(p->fd);
	p->text = malloc(p->size + FRAME_MAX);
	return p->text ? 0 : fail("cannot start: out of memory");
}

void pipe_close(struct pipe *p)
{
	if (p->fd >= 0)
		close(p->fd);
	free(p->text);
	*p = (struct pipe)PIPE_INIT;
}

static bool is_frame(const struct frame *f)
{
	return f->magic == FRAME_MAGIC && f->length >= sizeof *f && f->length <= FRAME_MAX && f->length % 8 == 0 &&
	       f->kind > 0 && f->kind < FRAME_KINDS && f->check == frame_check(f);
}

/* Other programs may have written into the pipe, in any length: the next frame may begin at any byte. */
static void skip_byte(struct pipe *p)
{
	if (!p->lost)
		p->bad++;
	p->lost = true;
}

static void take_frames(struct pipe *p, size_t n, const struct frame_user *u)
{
	size_t at = 0;
	struct frame f;

	while (n - at >= sizeof f) {
		memcpy(&f, p->text + at, sizeof f);
		if (!is_frame(&f)) {
			skip_byte(p);
			at++;
			continue;
		}
		if (n - at < f.length)
			break;
		p->lost = false;
		if (!u->use(u->arg, &f, p->text + at + sizeof f))
			p->bad++;
		at += f.length;
	}
	p->n = n - at;
	memmove(p->text, p->text + at, p->n);
}

void pipe_read(struct pipe *p, const struct frame_user *u)
{
	size_t got = 0;

	while (got < p->size) {
		ssize_t n = read(p->fd, p->text + p->n, p->size + FRAME_MAX - p->n);

		if (n <= 0)
			return;
		got += (size_t)n;
		take_frames(p, p->n + (size_t)n, u);
	}
}

void pipe_take(struct pipe *p, const void *bytes, size_t n, const struct frame_user *u)
{
	while (n > 0) {
		size_t part = p->size + FRAME_MAX - p->n;

		part = part < n ? part : n;
		memcpy(p->text + p->n, bytes, part);
		take_frames(p, p->n + part, u);
		bytes = (const char *)bytes + part;
		n -= part;
	}
}
