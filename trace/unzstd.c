#include "trace/unzstd.h"

#include <stdbool.h>
#include <stdlib.h>
#include <zstd.h>

struct unzstd {
	ZSTD_DCtx *zstd;
	ZSTD_inBuffer in;
	bool inside;                    /* the input position is inside a frame */
};

struct unzstd *unzstd_new(const uint8_t *in, size_t size)
{
	struct unzstd *z = calloc(1, sizeof *z);

	if (z)
		z->zstd = ZSTD_createDCtx();
	if (!z || !z->zstd) {
		unzstd_free(z);
		return NULL;
	}
	z->in = (ZSTD_inBuffer){ in, size, 0 };
	return z;
}

void unzstd_free(struct unzstd *z)
{
	if (!z)
		return;
	ZSTD_freeDCtx(z->zstd);
	free(z);
}

uint64_t unzstd_size(const uint8_t *in, size_t size)
{
	unsigned long long n = ZSTD_getFrameContentSize(in, size);

	return n == ZSTD_CONTENTSIZE_UNKNOWN || n == ZSTD_CONTENTSIZE_ERROR ? 0 : n;
}

enum unzstd_result unzstd_next(struct unzstd *z, void *out, size_t room, size_t *got)
{
	ZSTD_outBuffer to = { out, room, 0 };
	size_t rc = 0;

	*got = 0;
	while (to.pos < to.size) {
		size_t in = z->in.pos, had = to.pos;

		if (z->in.pos == z->in.size && !z->inside)
			return *got = to.pos, UNZSTD_END;
		rc = ZSTD_decompressStream(z->zstd, &to, &z->in);
		*got = to.pos;
		if (ZSTD_isError(rc))
			return UNZSTD_BAD;
		z->inside = rc != 0;
		if (z->in.pos == in && to.pos == had)
			return UNZSTD_CUT;
	}
	return UNZSTD_MORE;
}
