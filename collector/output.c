#include "collector/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "collector/clocks.h"
#include "collector/log.h"
#include "collector/place.h"
#include "trace/health.h"
#include "trace/wire.h"

/* Bytes allocated after the end of the file, so that essential rows still fit when others fill the disk; and how far to allocate ahead. */
#define ASIDE (256u << 10)
#define AHEAD (4u << 20)

/* The reserve is 5 % of a file system, but not more than this. */
#define MAX_RESERVE (4ull << 30)

#define PAST_LIMIT (1u << 20)

/* statvfs() takes 1 us; a fast stream writes this many bytes in about 10 ms. */
#define CHECK_EVERY (8u << 20)

static enum output_level level_that_drops(unsigned kind)
{
	switch (kind) {
	case ROW_api: case ROW_kernel: case ROW_memcpy: case ROW_memset: case ROW_sync: case ROW_mark:
	case ROW_overhead: case ROW_graph: case ROW_memory: case ROW_mempool:
	case ROW_event_record: case ROW_event_elapsed: case ROW_event_wait: case ROW_jit: case ROW_module: case ROW_unified:
	case ROW_sample:
		return OUTPUT_NO_DETAIL;
	case ROW_process: case ROW_attribute: case ROW_health: case ROW_drop: case ROW_clock: case ROW_cost:
		return OUTPUT_SESSION + 1;
	default:
		return OUTPUT_SESSION;
	}
}

/* Lowers what is written, for good: a trace with one gap is easier to read than one with many. */
static void give_up(struct output *o, enum output_level level, unsigned reason, const char *why)
{
	if (o->level >= level)
		return;
	o->level = level;
	health_counts_add(o->health_counts, reason, 1, clocks_now(CLOCK_MONO), "%s", why);
	fail("%s: %s are no longer written, only counted: %s", o->path,
	     level == OUTPUT_NO_DETAIL ? "API calls, GPU rows, marks and samples" : "ranges and names", why);
}

/*
 * The last sixteenth of the limit is for ranges, names and health.  These may exceed the limit by a megabyte, because one chunk of detail
 * may have used up the sixteenth of a small limit.
 */
static void check_size(struct output *o)
{
	uint64_t size = writer_size(o->writer);

	if (!o->max_size)
		return;
	if (size >= o->max_size + PAST_LIMIT)
		give_up(o, OUTPUT_SESSION, HEALTH_file_limit, "the trace has reached --max-size");
	else if (size >= o->max_size - o->max_size / 16)
		give_up(o, OUTPUT_NO_DETAIL, HEALTH_file_limit, "the trace has reached --max-size");
}

void output_check_room(struct output *o)
{
	struct statvfs fs;
	uint64_t room, reserve;

	if (!o->writer || fstatvfs(o->fd, &fs) < 0 || fs.f_blocks == 0)
		return;
	o->checked = writer_size(o->writer);
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	reserve = (uint64_t)fs.f_blocks * fs.f_frsize / 20;
	if (reserve > MAX_RESERVE)
		reserve = MAX_RESERVE;
	if (room < reserve / 2)
		give_up(o, OUTPUT_SESSION, HEALTH_disk_full, "the file system is nearly full");
	else if (room < reserve)
		give_up(o, OUTPUT_NO_DETAIL, HEALTH_disk_full, "the file system is nearly full");
}

static bool means_full(int e)
{
	return e == ENOSPC || e == EDQUOT || e == EFBIG;
}

/* Before detail is written, allocates space after it for everything else. */
static void set_room_aside(struct output *o, size_t raw)
{
	uint64_t size = writer_size(o->writer);
	uint64_t need = size + raw + ASIDE;

	if (!o->reserves || need <= o->reserved)
		return;
	if (fallocate(o->fd, FALLOC_FL_KEEP_SIZE, (off_t)size, (off_t)(need - size + AHEAD)) == 0)
		o->reserved = need + AHEAD;
	else if (means_full(errno) && fallocate(o->fd, FALLOC_FL_KEEP_SIZE, (off_t)size, (off_t)(need - size)) == 0)
		o->reserved = need;
	else if (means_full(errno))
		give_up(o, OUTPUT_NO_DETAIL, HEALTH_disk_full, strerror(errno));
	else
		o->reserves = false;
}

static void write_failed(struct output *o, unsigned kind, int e, const char *text)
{
	unsigned reason = means_full(e) ? HEALTH_disk_full : HEALTH_write_failed;

	o->reserved = 0;        /* the writer cut the file back, which freed what was allocated after its end */
	if (level_that_drops(kind) <= OUTPUT_SESSION)
		give_up(o, level_that_drops(kind), reason, text);
	else if (!health_counts_find(o->health_counts, reason))
		fail("%s: %s", o->path, text);
}

int output_rows(struct output *o, uint32_t process, unsigned clock, const struct record *r, const void *rows, size_t n,
		const uint8_t *tails, size_t tail_bytes)
{
	struct trace_error err = { 0 };

	if (!o->writer)
		return -1;
	check_size(o);
	if (writer_size(o->writer) - o->checked > CHECK_EVERY)
		output_check_room(o);
	if (level_that_drops(r->id) == OUTPUT_NO_DETAIL && o->level == OUTPUT_ALL)
		set_room_aside(o, n * r->size + tail_bytes);
	if (o->level >= level_that_drops(r->id))
		return -1;
	errno = 0;
	if (writer_rows(o->writer, process, clock, r, rows, n, tails, tail_bytes, &err) == 0) {
		o->has_stacks |= r->id == ROW_stack;
		return 0;
	}
	write_failed(o, r->id, errno, err.text);
	return -1;
}

int output_open(struct output *o, const struct config *c, const struct file_header *h, struct health_counts *health_counts)
{
	struct trace_error err = { 0 };
	char log[PATH_MAX];
	int e, fd = place_create(c->output, c->overwrite, o->path, sizeof o->path);

	o->health_counts = health_counts;
	o->max_size = c->max_size;
	o->reserves = true;
	if (fd < 0) {
		e = errno;
		snprintf(o->moved_from, sizeof o->moved_from, "%s", c->output);
		fd = place_create_elsewhere(c->output, o->path, sizeof o->path);
		if (fd < 0)
			return fail("cannot create '%s': %s; and neither TMPDIR nor /tmp can be written", c->output,
				    strerror(e));
		health_counts_add(health_counts, HEALTH_output_moved, 1, clocks_now(CLOCK_MONO), "%s: %s", o->path, strerror(e));
	}
	place_log(o->path, log, sizeof log);
	log_to(log);
	o->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	o->writer = writer_new(fd, h, &err);
	if (!o->writer || o->fd < 0)
		return fail("cannot write '%s': %s", o->path, err.text[0] ? err.text : strerror(errno));
	output_check_room(o);
	return 0;
}

static int copy_all(int from, int to)
{
	off_t at = 0;
	ssize_t n;

	do
		n = sendfile(to, from, &at, 1 << 20);
	while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? -1 : 0;
}

/* If the file, or its folder, was removed while it was written: saves a copy, read through the descriptor. */
static int save(struct output *o)
{
	char lost[PATH_MAX], log[PATH_MAX];
	struct stat ours, there;
	int fd;

	if (fstat(o->fd, &ours) < 0)
		return 0;
	if (stat(o->path, &there) == 0 && ours.st_ino == there.st_ino && ours.st_dev == there.st_dev)
		return 0;
	snprintf(lost, sizeof lost, "%s", o->path);
	fd = place_create(lost, false, o->path, sizeof o->path);
	if (fd < 0)
		fd = place_create_elsewhere(lost, o->path, sizeof o->path);
	if (fd < 0)
		return fail("'%s' was removed while it was written, and there is no place to save it: %s", lost,
			    strerror(errno));
	place_log(o->path, log, sizeof log);
	log_to(log);
	if (copy_all(o->fd, fd) < 0) {
		fail("'%s' was removed while it was written, and saving it as '%s' failed: %s", lost, o->path,
		     strerror(errno));
		unlink(o->path);
		close(fd);
		return -1;
	}
	close(fd);
	if (!o->moved_from[0])
		snprintf(o->moved_from, sizeof o->moved_from, "%s", lost);
	fail("'%s' was removed while it was written; it is saved as '%s'", lost, o->path);
	return 0;
}

int output_close(struct output *o)
{
	struct trace_error err = { 0 };
	struct stat st;
	int rc = 0;

	if (o->writer && writer_finish(o->writer, &err) < 0)
		rc = fail("'%s' has no index: %s; the trace is readable without it", o->path, err.text);
	if (o->writer && o->fd >= 0) {
		/* Frees the blocks that were allocated after the end of the file. */
		if (fstat(o->fd, &st) == 0 && ftruncate(o->fd, st.st_size) < 0)
			fail("cannot trim '%s': %s", o->path, strerror(errno));
		if (save(o) < 0)
			rc = -1;
	}
	if (o->fd >= 0)
		close(o->fd);
	o->writer = NULL;
	o->fd = -1;
	return rc;
}
