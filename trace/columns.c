/* Encodes planes as columns.  columns_split.c converts rows to planes, columns_decode.c reads columns. */
#include "trace/columns_parts.h"

#include <zstd.h>

/*
 * zstd level 1 with a longer minimum match and a smaller hash table than its defaults.  Planes are noise or long repetitions; searching
 * noise for matches of 5 bytes took a third of the time and saved no bytes (kernel rows of the bench: 22 ns -> 16 ns a row).
 */
#define ZSTD_LEVEL      1
#define PLANE_MATCH     7
#define PLANE_HASH_LOG  12
#define ZSTD_WORTH      32              /* bytes; a frame has an overhead of 9 bytes, so compressing less saves little */
#define MOST_FIELDS     64u             /* more than any record has */

struct packer {
	ZSTD_CCtx *zstd;
	void *scratch;                  /* the planes of a chunk */
	size_t cap;
};

static int packer_tune(struct packer *p, int match, int hash_log)
{
	return ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) ||
	       ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_minMatch, match)) ||
	       ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_hashLog, hash_log)) ? -1 : 0;
}

struct packer *packer_new(void)
{
	struct packer *p = calloc(1, sizeof *p);

	if (p)
		p->zstd = ZSTD_createCCtx();
	if (!p || !p->zstd || packer_tune(p, PLANE_MATCH, PLANE_HASH_LOG) < 0) {
		packer_free(p);
		return NULL;
	}
	return p;
}

void packer_free(struct packer *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->zstd);
	free(p->scratch);
	free(p);
}

static int packer_reserve(struct packer *p, size_t n)
{
	if (p->cap < n) {
		free(p->scratch);
		p->cap = 0;
		p->scratch = malloc(n);
		if (!p->scratch)
			return -1;
		p->cap = n;
	}
	return 0;
}

/* Appends a plane, compressed if that makes it smaller.  0, or -1: out of memory. */
static int put_plane(struct packer *p, struct buf *out, const uint8_t *bytes, size_t n)
{
	size_t bound = n >= ZSTD_WORTH ? ZSTD_compressBound(n) : n, got = n;
	uint8_t *room = buf_room(out, bound + 20), *at;
	size_t head;

	if (!room)
		return -1;
	/* The varint of the length precedes the frame and is not known yet: compress 10 bytes further on, then move the frame. */
	if (n >= ZSTD_WORTH)
		got = ZSTD_compress2(p->zstd, room + 10, bound, bytes, n);
	if (got < n) {                  /* an error of zstd is a huge number: then the plane is stored */
		at = varint_put(room, (uint64_t)got << 1 | 1);
		memmove(at, room + 10, got);
	} else {
		got = n;
		at = varint_put(room, (uint64_t)got << 1);
		memcpy(at, bytes, got);
	}
	head = (size_t)(at - room);
	out->len += head + got;
	return 0;
}

/* Appends one column.  1; 0: all zeros, left out; -1: out of memory. */
static int put_lane(struct packer *p, struct buf *out, struct column *c, const struct lane *l, size_t n)
{
	size_t start = out->len;

	c->base = l->first;
	if (!l->differs)                /* ENCODING_PLAIN, no planes */
		return c->base != 0;
	c->encoding = (uint8_t)l->encoding;
	c->width = (uint8_t)l->width;
	if (l->encoding == ENCODING_PLAIN || l->encoding == ENCODING_SIGNED)
		c->base = l->width == 8 ? 0 : l->x >> 8 * l->width << 8 * l->width;
	for (unsigned k = 0; k < l->width; k++)
		if (put_plane(p, out, l->planes[k], n) < 0)
			return -1;
	c->stored = (uint32_t)(out->len - start);
	return 1;
}

/* Tails are text, so they are compressed with zstd's default match length and table. */
static int put_tails(struct packer *p, struct buf *out, struct column *c, const uint8_t *tails, size_t n)
{
	size_t start = out->len;
	int rc;

	*c = (struct column){ .id = COLUMN_TAIL, .encoding = ENCODING_BYTES, .width = 1, .base = n };
	packer_tune(p, 0, 0);
	rc = put_plane(p, out, tails, n);
	packer_tune(p, PLANE_MATCH, PLANE_HASH_LOG);
	c->stored = (uint32_t)(out->len - start);
	return rc;
}

int columns_encode(struct packer *p, struct buf *out, const struct record *r, const void *rows, size_t n,
		   const uint8_t *tails, size_t tail_bytes)
{
	struct column columns[MOST_FIELDS + 1];
	struct lane lanes[MOST_FIELDS];
	size_t start = out->len, room = (r->n_fields + 1u) * sizeof *columns;
	int count = 0;

	if (r->n_fields > MOST_FIELDS || packer_reserve(p, r->size * PLANE_STRIDE(n)) < 0 || !buf_room(out, room))
		return -1;
	/* Columns are written behind room for the largest directory and then moved to the end of the actual one. */
	out->len += room;
	if (n)
		lanes_split(lanes, r, rows, n, p->scratch);
	for (unsigned i = 0; n && i < r->n_fields; i++) {
		struct column *c = &columns[count];
		int put;

		*c = (struct column){ .id = (uint16_t)i };
		put = put_lane(p, out, c, &lanes[i], n);
		if (put < 0)
			return -1;
		count += put;
	}
	if (tail_bytes && put_tails(p, out, &columns[count++], tails, tail_bytes) < 0)
		return -1;
	size_t used = (size_t)count * sizeof *columns;

	memmove(out->data + start + used, out->data + start + room, out->len - start - room);
	memcpy(out->data + start, columns, used);
	out->len -= room - used;
	return count;
}
