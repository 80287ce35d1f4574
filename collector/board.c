#include "collector/board.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/clock.h"
#include "trace/path.h"

/* A process that was stopped or killed between taking a line and filling it delays the lines behind it this long. */
#define PATIENCE_NS 1000000000ll

static struct board *map_new(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	void *p = MAP_FAILED;

	if (fd < 0)
		return NULL;
	/* Allocates its blocks: on a full disk the first store of a process would kill it. */
	if (posix_fallocate(fd, 0, sizeof(struct board)) == 0)
		p = mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p != MAP_FAILED)
		return p;
	unlink(path);
	return NULL;
}

void board_make(struct board_view *v, const char *folder, const struct config *config, unsigned clock)
{
	char path[PATH_MAX];
	struct board *b;

	*v = (struct board_view){ .b = path_join(path, sizeof path, folder, WIRE_BOARD) < 0 ? NULL : map_new(path) };
	b = v->b;
	if (!b)
		return;
	b->version = WIRE_VERSION;
	b->size = sizeof *b;
	b->clock = clock;
	b->config = *config;
	for (uint32_t i = 0; i < BOARD_LINES; i++)
		b->lines[i].turn = i;
	__atomic_store_n(&b->magic, BOARD_MAGIC, __ATOMIC_RELEASE);
}

void board_release(struct board_view *v)
{
	if (v->b)
		munmap(v->b, sizeof *v->b);
	*v = (struct board_view){ 0 };
}

void board_tell(struct board_view *v, const struct orders_given *capture)
{
	if (v->b)
		board_give(v->b, &v->orders_turn, capture);
}

bool board_has_news(const struct board_view *v)
{
	return v->b && (__atomic_load_n(&v->b->head, __ATOMIC_ACQUIRE) != v->tail ||
			__atomic_load_n(&v->b->lost, __ATOMIC_RELAXED) != v->lost_reported);
}

static void read_line(struct roster_line *l, const struct board_line *from)
{
	size_t n = 0;
	char c;

	*l = (struct roster_line){ .how = (char)from->how, .pid = from->pid, .ppid = from->ppid, .start = from->start };
	/* Read each byte once: the writer may still be writing. */
	for (; n < sizeof from->name && (c = __atomic_load_n(&from->name[n], __ATOMIC_RELAXED)); n++)
		l->name[n] = c >= ' ' && c != 0x7f ? c : '?';
}

/*
 * Gives up a line that was not filled in time; its writer, if it goes on, finds the turn changed.  False: not yet, or the writer was
 * faster.
 */
static bool give_up(struct board_view *v, struct board_line *line)
{
	int64_t now = clock_ns(CLOCK_MONOTONIC);
	uint32_t turn = v->tail;

	if (!v->waits)
		v->waits = now;
	if (now - v->waits < PATIENCE_NS)
		return false;
	if (!__atomic_compare_exchange_n(&line->turn, &turn, v->tail + BOARD_LINES, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return false;
	__atomic_fetch_add(&v->b->lost, 1, __ATOMIC_RELAXED);
	v->waits = 0;
	v->tail++;
	return true;
}

bool board_next(struct board_view *v, struct roster_line *l)
{
	while (v->b && __atomic_load_n(&v->b->head, __ATOMIC_ACQUIRE) != v->tail) {
		struct board_line *line = &v->b->lines[v->tail % BOARD_LINES];

		if (__atomic_load_n(&line->turn, __ATOMIC_ACQUIRE) != v->tail + 1) {
			if (give_up(v, line))
				continue;
			return false;
		}
		read_line(l, line);
		__atomic_store_n(&line->turn, v->tail + BOARD_LINES, __ATOMIC_RELEASE);
		v->waits = 0;
		v->tail++;
		return true;
	}
	return false;
}

uint32_t board_lost(struct board_view *v)
{
	uint32_t lost = v->b ? __atomic_load_n(&v->b->lost, __ATOMIC_RELAXED) : 0, more = lost - v->lost_reported;

	v->lost_reported = lost;
	return more;
}
