#include "cli/export/gzip.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#define GZIP_ONLY (16 + MAX_WBITS)
#define AT_ONCE   (1u << 30)            /* zlib counts its input with 32 bits */

int gzip_write(FILE *file, const void *data, size_t n)
{
	const uint8_t *p = data, *end = p + n;
	uint8_t packed[1 << 14];
	z_stream z = { 0 };
	int rc = deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_ONLY, 8, Z_DEFAULT_STRATEGY);
	bool written = true;

	if (rc != Z_OK) {
		errno = ENOMEM;
		return -1;
	}
	while (rc == Z_OK && written) {
		size_t left = (size_t)(end - p), made;

		z.next_in = (z_const Bytef *)p;
		z.avail_in = left < AT_ONCE ? (uInt)left : AT_ONCE;
		z.next_out = packed;
		z.avail_out = sizeof packed;
		rc = deflate(&z, left <= AT_ONCE ? Z_FINISH : Z_NO_FLUSH);
		p = z.next_in;
		made = sizeof packed - z.avail_out;
		written = fwrite(packed, 1, made, file) == made;
	}
	deflateEnd(&z);
	return rc == Z_STREAM_END && written ? 0 : -1;
}
