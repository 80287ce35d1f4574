/* zstd files, unpacked as they are read.  Here because the ground floor alone knows zstd. */
#ifndef TRACE_UNZSTD_H
#define TRACE_UNZSTD_H

#include <stddef.h>
#include <stdint.h>

struct unzstd;

/* All frames of size bytes at in, which stay the caller's; NULL: out of memory. */
struct unzstd *unzstd_new(const uint8_t *in, size_t size);
void unzstd_free(struct unzstd *z);

/* What the first frame says it becomes; 0: it does not say. */
uint64_t unzstd_size(const uint8_t *in, size_t size);

enum unzstd_result { UNZSTD_MORE, UNZSTD_END, UNZSTD_CUT, UNZSTD_BAD };

/* The next bytes, at most room; *got of them.  UNZSTD_MORE: there may be more.  CUT: the file ends in the middle. */
enum unzstd_result unzstd_next(struct unzstd *z, void *out, size_t room, size_t *got);

#endif
