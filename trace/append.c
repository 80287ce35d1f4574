#include "trace/append.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/reader_parts.h"

/* Locks fd.  Retries for 0.1 s, because a program that only tests whether the file is being written holds the lock for a moment. */
static int lock(int fd)
{
	const struct timespec moment = { .tv_nsec = 5000000 };

	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; i++) {
		if (errno != EWOULDBLOCK)
			return 0;       /* the file system has no locks */
		if (i == 20)
			return -1;
		nanosleep(&moment, NULL);
	}
	return 0;
}

int trace_open_to_append(const char *path, struct trace_error *err)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return trace_fail(err, 0, "cannot write '%s': %s", path, strerror(errno));
	if (lock(fd) == 0)
		return fd;
	close(fd);
	return trace_fail(err, 0, "'%s' is still being written; try again when the session has ended", path);
}

/* Allocates the disk space first, so that a full disk is noticed before the old index is overwritten. */
static int set_aside(const struct trace *t, int fd, uint64_t at, uint64_t bytes, struct trace_error *err)
{
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)bytes) == 0 ||
	    (errno != ENOSPC && errno != EDQUOT && errno != EFBIG))
		return 0;
	return trace_fail(err, at, "cannot write '%s': %s", t->path, strerror(errno));
}

/* Releases allocated blocks behind the end of the file. */
static void trim(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && ftruncate(fd, st.st_size) < 0)
		return;         /* the blocks stay allocated; the file is valid */
}

/* Copy of the old index and footer. */
struct old_end {
	uint64_t at;
	size_t n;
	char *bytes;
};

static int keep_end(struct old_end *end, const struct trace *t, int fd, uint64_t at, struct trace_error *err)
{
	*end = (struct old_end){ .at = at, .n = t->size - at, .bytes = malloc(t->size - at + 1) };
	if (end->bytes && pread(fd, end->bytes, end->n, (off_t)at) == (ssize_t)end->n)
		return 0;
	return trace_fail(err, at, "cannot write '%s': %s", t->path, end->bytes ? "it cannot be read" : "out of memory");
}

/* Writes the old index and footer back.  Their disk space is still allocated. */
static int put_back(const struct old_end *end, int fd)
{
	if (lock(fd) < 0 || ftruncate(fd, (off_t)end->at) < 0)
		return -1;
	return pwrite(fd, end->bytes, end->n, (off_t)end->at) == (ssize_t)end->n ? 0 : -1;
}

int trace_append(const struct trace *t, int fd, uint64_t room,
		 int (*write)(struct writer *w, void *arg, struct trace_error *err), void *arg, struct trace_error *err)
{
	size_t n = t->n_chunks;
	struct index_entry *entries = malloc((n + 1) * sizeof *entries);
	struct old_end end = { 0 };
	struct file_footer foot;
	struct writer *w = NULL;
	int rc = -1, own;

	if (!entries) {
		trace_fail(err, 0, "cannot write '%s': out of memory", t->path);
		goto out;
	}
	if (!t->finished || !footer_at_end(t, &foot)) {
		trace_fail(err, 0, "'%s' is not finished; 'gprof-trace recover %s' finishes it", t->path, t->path);
		goto out;
	}
	for (size_t i = 0; i < n; i++)
		entries[i] = (struct index_entry){ t->chunks[i].offset, t->chunks[i].head };
	room += (n + 1024) * sizeof *entries;
	if (keep_end(&end, t, fd, foot.index, err) < 0 || set_aside(t, fd, foot.index, room, err) < 0)
		goto out;
	own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (own >= 0)
		w = writer_continue(own, t->header.session, foot.index, entries, n, err);
	else
		trace_fail(err, 0, "cannot write '%s': %s", t->path, strerror(errno));
	if (!w)
		goto out;
	rc = write(w, arg, err);
	if (writer_finish(w, err) < 0)
		rc = -1;
	if (rc < 0)
		put_back(&end, fd);     /* if this fails too, the file has no index, as after an interrupted recording */
	trim(fd);
out:
	free(end.bytes);
	free(entries);
	close(fd);
	return rc;
}
