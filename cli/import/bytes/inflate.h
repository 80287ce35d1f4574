/* Decompresses gzip from memory to memory. */
#ifndef CLI_IMPORT_BYTES_INFLATE_H
#define CLI_IMPORT_BYTES_INFLATE_H

#include <stddef.h>
#include <stdint.h>

/* Where the decompressed bytes go. */
struct inflate_out {
	uint8_t *base, *end;            /* the memory; the caller's */
	size_t done;                    /* bytes decompressed so far */
	/* Called about every 128 KiB and at the end of a member, when `done` bytes are valid.  Returns 0, or -1 to stop. */
	int (*progress)(void *arg, size_t done);
	void *arg;
};

enum inflate_result {
	INFLATE_OK,
	INFLATE_CUT,                    /* the input is truncated */
	INFLATE_BAD,                    /* not gzip, or damaged */
	INFLATE_CHECKSUM,               /* decompressed, but the CRC-32 differs */
	INFLATE_FULL,                   /* the output does not fit */
	INFLATE_MEMORY,                 /* out of memory */
	INFLATE_STOPPED,                /* progress() returned -1 */
};

/* Decompresses all members of a gzip file (RFC 1952); zeros after the last member are ignored.  out->done is set on failure too. */
enum inflate_result inflate_gzip(const uint8_t *in, size_t size, struct inflate_out *out);

#endif
