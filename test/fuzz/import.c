/* libFuzzer target: the input is a Kineto file, plain or gzip. */
#include "test/fuzz/import_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	import_bytes(data, size);
	return 0;
}
