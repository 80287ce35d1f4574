/* libFuzzer target: the input is a /tmp/perf-PID.map. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/symbols/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/tmp/gprof-fuzz-XXXXXX";

static void remove_file(void)
{
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static size_t read_texts;       /* total length: reads each text to its end */
	static int fd = -1;
	struct perfmap m;

	if (fd < 0 && (fd = mkstemp(path)) >= 0)
		atexit(remove_file);
	if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	perfmap_read(&m, path, 0, false);
	for (size_t i = 0; i < m.n; i++) {
		const char *name = perfmap_at(&m, m.list[i].start);

		if (m.list[i].start >= m.list[i].end || !*m.list[i].name)
			abort();
		read_texts += name ? strlen(name) : 0;
	}
	perfmap_at(&m, 0);
	perfmap_at(&m, UINT64_MAX);
	perfmap_release(&m);
	return read_texts == SIZE_MAX;
}
