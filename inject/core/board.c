#include "inject/core/board.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Shared mapping, inherited by forked children. */
static struct board *board;

static struct board *map_file(int fd)
{
	struct stat st;
	struct board *b;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size != (off_t)sizeof *b)
		return NULL;
	b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (b == MAP_FAILED)
		return NULL;
	if (__atomic_load_n(&b->magic, __ATOMIC_ACQUIRE) != BOARD_MAGIC || b->version != WIRE_VERSION || b->size != sizeof *b) {
		munmap(b, sizeof *b);
		return NULL;
	}
	madvise(b, sizeof *b, MADV_DONTDUMP);
	return b;
}

void board_open(const char *folder)
{
	char path[128];
	int saved = errno;
	int fd;

	strcpy(path, folder);
	strcat(path, "/" WIRE_BOARD);
	fd = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		board = map_file(fd);
		close(fd);
	}
	errno = saved;
}

const struct board *board_map(void)
{
	return board;
}

/* Claims the next line of the ring; *at: its turn.  NULL: the ring is full, or the line's turn was overwritten. */
static struct board_line *take_place(uint32_t *at)
{
	uint32_t head = __atomic_load_n(&board->head, __ATOMIC_RELAXED);

	for (;;) {
		struct board_line *line = &board->lines[head % BOARD_LINES];
		int32_t ahead = (int32_t)(__atomic_load_n(&line->turn, __ATOMIC_ACQUIRE) - head);

		if (ahead < 0)
			return NULL;
		if (ahead > 0) {
			uint32_t before = head;

			/*
			 * Another writer claimed it: try again with the new head.  An unchanged head means a corrupted ring: give up, do
			 * not loop.
			 */
			head = __atomic_load_n(&board->head, __ATOMIC_RELAXED);
			if (head == before)
				return NULL;
		} else if (__atomic_compare_exchange_n(&board->head, &head, head + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			*at = head;
			return line;
		}
	}
}

bool board_put(char how, uint32_t pid, uint32_t ppid, int64_t start, const char *name)
{
	struct board_line *line;
	uint32_t at;
	size_t n = 0;

	if (!board)
		return false;
	line = take_place(&at);
	if (!line) {
		__atomic_fetch_add(&board->lost, 1, __ATOMIC_RELAXED);
		return false;
	}
	line->pid = pid;
	line->ppid = ppid;
	line->how = (unsigned char)how;
	line->start = start;
	for (; name && name[n] && n < sizeof line->name - 1; n++)
		line->name[n] = name[n];
	line->name[n] = '\0';
	/* Publishes the line; fails if the collector gave up waiting for it and skipped it. */
	return __atomic_compare_exchange_n(&line->turn, &at, at + 1, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}
