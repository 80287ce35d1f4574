/* What an import tells of one of its files. */
#ifndef CLI_IMPORT_ROWS_IMPORT_FILE_H
#define CLI_IMPORT_ROWS_IMPORT_FILE_H

#include <stdint.h>

struct import_file {
	const char *path;
	uint64_t bytes, unpacked, events, rows; /* bytes: size of the file; unpacked: bytes read, after decompression */
	int64_t rank, world;            /* -1: not in the file */
	char trouble[300];              /* one line of the counts above 0; "": none */
};

#endif
