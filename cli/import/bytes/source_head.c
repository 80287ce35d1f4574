/* Reads the beginning of a file, to find out what it is. */
#include "cli/import/bytes/source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/import/bytes/inflate.h"
#include "trace/unzstd.h"

enum packing source_packing(const uint8_t *head, size_t n)
{
	if (n >= 3 && head[0] == 0x1f && head[1] == 0x8b)
		return GZIP;
	return n >= 4 && head[0] == 0x28 && head[1] == 0xb5 && head[2] == 0x2f && head[3] == 0xfd ? ZSTD : PLAIN;
}

static int go_on(void *arg, size_t done)
{
	(void)arg;
	(void)done;
	return 0;
}

static size_t gzip_head(const uint8_t *in, size_t n, uint8_t *to, size_t room, bool *all)
{
	struct inflate_out out = { to, to + room, 0, go_on, NULL };

	*all &= inflate_gzip(in, n, &out) == INFLATE_OK;
	return out.done;
}

static size_t zstd_head(const uint8_t *in, size_t n, uint8_t *to, size_t room, bool *all)
{
	struct unzstd *z = unzstd_new(in, n);
	enum unzstd_result rc = z ? UNZSTD_MORE : UNZSTD_BAD;
	size_t at = 0, got;

	while (rc == UNZSTD_MORE && at < room) {
		rc = unzstd_next(z, to + at, room - at, &got);
		at += got;
	}
	unzstd_free(z);
	*all &= rc == UNZSTD_END;
	return at;
}

static ssize_t head_of(int fd, uint8_t *to, size_t room, bool *all)
{
	ssize_t n = pread(fd, to, room, 0);
	struct stat st;
	uint8_t *in;

	*all = n >= 0 && fstat(fd, &st) == 0 && st.st_size == n;
	if (n <= 0 || source_packing(to, (size_t)n) == PLAIN)
		return n;
	in = malloc((size_t)n);
	if (!in)
		return -1;
	memcpy(in, to, (size_t)n);
	n = (ssize_t)(source_packing(in, (size_t)n) == GZIP ? gzip_head : zstd_head)(in, (size_t)n, to, room, all);
	free(in);
	return n;
}

ssize_t source_head(const char *path, uint8_t *to, size_t room, bool *all)
{
	struct stat st;
	int fd = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? -1 : head_of(fd, to, room, all);

	if (fd >= 0)
		close(fd);
	return n;
}
