#include "cli/gzip.h"

#include "trace/file.h"

#define BLOCK 65535u            /* largest stored block, in bytes */

static void little(uint8_t *p, uint32_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* RFC 1952, with stored blocks (RFC 1951). */
int gzip_write(FILE *file, const void *data, size_t n)
{
	static const uint8_t head[10] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 };
	const uint8_t *p = data;
	size_t left = n;
	uint8_t tail[8];

	if (fwrite(head, 1, sizeof head, file) != sizeof head)
		return -1;
	do {
		uint32_t now = left < BLOCK ? (uint32_t)left : BLOCK;
		uint8_t block[5] = { left == now };

		little(block + 1, now, 2);
		little(block + 3, ~now, 2);
		if (fwrite(block, 1, sizeof block, file) != sizeof block || fwrite(p, 1, now, file) != now)
			return -1;
		p += now;
		left -= now;
	} while (left);
	little(tail, crc32_of(0, data, n), 4);
	little(tail + 4, (uint32_t)n, 4);
	return fwrite(tail, 1, sizeof tail, file) == sizeof tail ? 0 : -1;
}
