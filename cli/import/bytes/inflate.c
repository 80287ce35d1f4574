/* RFC 1952, with zlib. */
#include "cli/import/bytes/inflate.h"

#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#define REPORT     (128u << 10)         /* bytes between two calls of progress() */
#define AT_ONCE    (1u << 30)           /* zlib counts its input with 32 bits */
#define GZIP_ONLY  (16 + MAX_WBITS)

/* zlib tells a wrong checksum from other damage by its message alone. */
static bool is_checksum(const char *msg)
{
	return msg && (strcmp(msg, "incorrect data check") == 0 || strcmp(msg, "incorrect length check") == 0);
}

static enum inflate_result result_of(const z_stream *z, int rc, bool full)
{
	if (rc == Z_MEM_ERROR)
		return INFLATE_MEMORY;
	if (rc == Z_BUF_ERROR)
		return full ? INFLATE_FULL : INFLATE_CUT;
	return is_checksum(z->msg) ? INFLATE_CHECKSUM : INFLATE_BAD;
}

/* Unpacks one member; *in moves behind it. */
static enum inflate_result member(z_stream *z, const uint8_t **in, const uint8_t *end, struct inflate_out *out)
{
	int rc = Z_OK;

	while (rc == Z_OK) {
		size_t left = (size_t)(end - *in), room = (size_t)(out->end - out->base) - out->done;

		z->next_in = (z_const Bytef *)*in;
		z->avail_in = left < AT_ONCE ? (uInt)left : AT_ONCE;
		z->next_out = out->base + out->done;
		z->avail_out = room < REPORT ? (uInt)room : REPORT;
		rc = inflate(z, Z_NO_FLUSH);
		*in = z->next_in;
		out->done = (size_t)(z->next_out - out->base);
		if (rc != Z_OK && rc != Z_STREAM_END)
			return result_of(z, rc, out->base + out->done == out->end);
		if (out->progress(out->arg, out->done) < 0)
			return INFLATE_STOPPED;
	}
	return INFLATE_OK;
}

enum inflate_result inflate_gzip(const uint8_t *in, size_t size, struct inflate_out *out)
{
	const uint8_t *end = in + size;
	enum inflate_result rc;
	z_stream z = { 0 };

	if (inflateInit2(&z, GZIP_ONLY) != Z_OK)
		return INFLATE_MEMORY;
	do {
		rc = member(&z, &in, end, out);
		while (rc == INFLATE_OK && in < end && !*in)
			in++;
	} while (rc == INFLATE_OK && in < end && inflateReset(&z) == Z_OK);
	inflateEnd(&z);
	return rc;
}
