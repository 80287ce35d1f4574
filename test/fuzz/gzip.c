/* libFuzzer target: the input is a gzip file, unpacked into 1 MiB and into a buffer of the input's size. */
#include <stdlib.h>
#include <string.h>

#include "cli/import/bytes/inflate.h"
#include "cli/import/bytes/source.h"

#define ROOM (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int progress(void *arg, size_t done)
{
	size_t *last = arg;

	if (done < *last)
		abort();
	*last = done;
	return 0;
}

static enum inflate_result unpack(const uint8_t *data, size_t size, uint8_t *room, size_t space)
{
	size_t last = 0;
	struct inflate_out out = { room, room + space, 0, progress, &last };
	enum inflate_result rc = inflate_gzip(data, size, &out);

	if (out.done > space || last > out.done || (rc == INFLATE_OK && last != out.done))
		abort();
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t room[ROOM];
	uint8_t *copy = malloc(size + 1), *little = malloc(size + 1);

	memcpy(copy, data, size);       /* in exact allocations: AddressSanitizer sees accesses beyond them */
	source_packing(copy, size);
	unpack(copy, size, room, ROOM);
	unpack(copy, size, little, size);
	free(copy);
	free(little);
	return 0;
}
