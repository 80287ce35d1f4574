/* libFuzzer target: the input is the mangled name of a C++ or Rust function. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/symbols/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void rust(bool (*fn)(const char *, char *, size_t), const char *name, size_t room)
{
	char *out = malloc(room);       /* exactly `room` bytes: AddressSanitizer sees a write beyond them */

	if (fn(name, out, room) && strlen(out) >= room)
		abort();
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = malloc(size + 4);

	/* The input as it is, and behind the prefix of each mangling: few inputs begin with a prefix. */
	memcpy(name, data, size);
	name[size] = '\0';
	free(demangle(name));
	rust(demangle_rust, name, 1 + (size ? data[0] : 0));
	memcpy(name, "_R", 2);
	memcpy(name + 2, data, size);
	name[size + 2] = '\0';
	rust(demangle_rust, name, 4096);
	memcpy(name, "_ZN", 3);
	memcpy(name + 3, data, size);
	name[size + 3] = '\0';
	rust(demangle_rust_legacy, name, 300);
	free(name);
	return 0;
}
