/* Streaming decompression of zstd files.  In trace/ because only trace/ links with zstd. */
#ifndef TRACE_UNZSTD_H
#define TRACE_UNZSTD_H

#include <stddef.h>
#include <stdint.h>

struct unzstd;

/* Decompresses all frames of the size bytes at in, which the caller keeps until unzstd_free().  NULL: out of memory. */
struct unzstd *unzstd_new(const uint8_t *in, size_t size);
void unzstd_free(struct unzstd *z);

/* Decompressed size that the first frame declares; 0: none. */
uint64_t unzstd_size(const uint8_t *in, size_t size);

enum unzstd_result { UNZSTD_MORE, UNZSTD_END, UNZSTD_CUT, UNZSTD_BAD };

/*
 * Writes the next bytes to out, at most room; *got is their number.  MORE: call again; END: all was read; CUT: the input ends inside
 * a frame; BAD: invalid data.
 */
enum unzstd_result unzstd_next(struct unzstd *z, void *out, size_t room, size_t *got);

#endif
