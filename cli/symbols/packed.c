#include "cli/symbols/packed.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The part of liblzma's interface used here; its headers are not needed to build. */
#define LZMA_OK        0
#define LZMA_BUF_ERROR 10

typedef int decode_fn(uint64_t *memory, uint32_t flags, const void *allocator, const uint8_t *in, size_t *in_at, size_t in_size,
		      uint8_t *out, size_t *out_at, size_t out_size);

#define MOST_MEMORY (64u << 20)
#define MOST_BYTES  (64u << 20)         /* limit of the decompressed size; the largest libraries have a few MiB */

static decode_fn *decode;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_liblzma(void)
{
	void *lib = dlopen("liblzma.so.5", RTLD_NOW | RTLD_LOCAL), *fn = lib ? dlsym(lib, "lzma_stream_buffer_decode") : NULL;

	memcpy(&decode, &fn, sizeof fn);
}

bool packed_usable(void)
{
	pthread_once(&once, find_liblzma);
	return decode != NULL;
}

/* Decompresses; the buffer grows until the result fits, so the size stored at the end of the input need not be parsed. */
static uint8_t *unpack(const uint8_t *in, size_t n, size_t *size)
{
	for (size_t room = n < 4096 ? 16384 : n * 4; room <= MOST_BYTES; room *= 2) {
		uint64_t memory = MOST_MEMORY;
		size_t in_at = 0;
		uint8_t *out = malloc(room);
		int rc;

		*size = 0;
		rc = out ? decode(&memory, 0, NULL, in, &in_at, n, out, size, room) : LZMA_BUF_ERROR + 1;
		if (rc == LZMA_OK)
			return out;
		free(out);
		if (rc != LZMA_BUF_ERROR)
			break;
	}
	return NULL;
}

uint8_t *packed_open(const struct elf *module, struct elf *out)
{
	const uint8_t *bytes;
	uint8_t *unpacked;
	Elf64_Shdr s;
	size_t size;

	*out = (struct elf)ELF_INIT;
	if (!module->map || !elf_find(module, ".gnu_debugdata", 0, &s) || !(bytes = elf_bytes(module, &s)) || !packed_usable())
		return NULL;
	unpacked = unpack(bytes, s.sh_size, &size);
	if (unpacked && elf_memory(out, unpacked, size) == 0)
		return unpacked;
	free(unpacked);
	*out = (struct elf)ELF_INIT;
	return NULL;
}
