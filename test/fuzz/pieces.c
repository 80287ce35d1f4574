/*
 * libFuzzer target: the input is a Kineto file, imported once in one piece and once in small pieces, with different garbage after the bytes
 * that have arrived.  Both imports must have the same result.  The first two bytes of the input give the size of the pieces.
 */
#include "test/unit/import/rows.h"
#include "test/unit/import/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct imported whole, pieces;
	const char *what;

	if (size < 3)
		return 0;
	source_comes(data + 2, size - 2, size - 2, 1, NULL);
	whole = rows_of("file.json");
	source_comes(data + 2, size - 2, (size_t)(data[0] >> (data[1] & 7)) + 1, data[1], NULL);
	pieces = rows_of("file.json");
	what = rows_differ(&whole, &pieces);
	if (!what)
		return 0;
	fprintf(stderr, "other are %s: '%s' '%s', '%s' '%s'\n", what, whole.err.text, whole.file.trouble, pieces.err.text,
		pieces.file.trouble);
	abort();
}
