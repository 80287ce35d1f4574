#include "collector/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int open_proc(uint32_t pid, const char *name)
{
	char path[96];

	snprintf(path, sizeof path, "/proc/%u/%s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

ssize_t proc_read(uint32_t pid, const char *name, char *out, size_t size)
{
	int fd = open_proc(pid, name);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, out, size);
	if (n < 0) {
		int e = errno;

		close(fd);
		errno = e;
		return -1;
	}
	close(fd);
	return n;
}

int proc_read_all(uint32_t pid, const char *name, struct buf *out, size_t max)
{
	int fd = open_proc(pid, name);
	ssize_t n = 0;

	if (fd < 0)
		return -1;
	while (out->len < max) {
		uint8_t *room = buf_room(out, 4096);

		n = room ? read(fd, room, 4096) : -1;
		if (n <= 0)
			break;
		out->len += (size_t)n;
	}
	close(fd);
	return n < 0 ? -1 : 0;
}

void proc_link(uint32_t pid, const char *name, char *out, size_t size)
{
	char path[96];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%u/%s", pid, name);
	n = readlink(path, out, size - 1);
	out[n > 0 ? n : 0] = '\0';
}
