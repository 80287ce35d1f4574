/* gzip files, unpacked as they are read.  Knows bytes, not files. */
#ifndef IMPORT_INFLATE_H
#define IMPORT_INFLATE_H

#include <stddef.h>
#include <stdint.h>

/* Where the unpacked bytes go: one after the other into memory that nobody else writes. */
struct inflate_out {
	uint8_t *base, *end;            /* the memory; all that was unpacked before stays readable there */
	size_t done;                    /* bytes unpacked so far */
	/* Called about every 128 KiB and at the end: the bytes up to done are there.  0, or -1: stop. */
	int (*progress)(void *arg, size_t done);
	void *arg;
};

enum inflate_result {
	INFLATE_OK,
	INFLATE_CUT,                    /* the file ends in the middle */
	INFLATE_BAD,                    /* no gzip, or damaged */
	INFLATE_CHECKSUM,               /* unpacked, but not what was packed */
	INFLATE_FULL,                   /* more than there is room for */
	INFLATE_STOPPED,                /* progress() said so */
};

/* All members of a gzip file (RFC 1952), or nothing but zeros behind the last. */
enum inflate_result inflate_gzip(const uint8_t *in, size_t size, struct inflate_out *out);

#endif
