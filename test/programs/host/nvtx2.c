/*
 * A stand-in for NVTX 2 (libnvToolsExt.so.1), which is no longer shipped: a table of functions for the whole process, filled once by
 * InitializeInjectionNvtx of the library named by NVTX_INJECTION64_PATH.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*function)(void);

/* Slots of the core module: 2 MarkA, 9 RangePushA, 11 RangePop; 10, RangePushW, is not filled. */
static function slots[16];
static function *table[16];

static int module_table(unsigned module, function ***out, unsigned *size)
{
	if (module != 1)
		return 0;
	for (unsigned i = 1; i < 16; i++)
		table[i] = &slots[i];
	*out = table;
	*size = 16;
	return 1;
}

static const void *export_table(unsigned id)
{
	static struct {
		size_t size;
		int (*module_table)(unsigned, function ***, unsigned *);
	} callbacks = { sizeof callbacks, module_table };

	return id == 1 ? &callbacks : NULL;
}

int main(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *lib = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*initialize)(const void *(*)(unsigned)) = NULL;

	if (lib)
		*(void **)&initialize = dlsym(lib, "InitializeInjectionNvtx");
	if (!initialize || !initialize(export_table) || !slots[9] || !slots[11] || !slots[2]) {
		puts("not injected");
		return 1;
	}
	for (int i = 0; i < 4; i++) {
		((int (*)(const char *))slots[9])("version two");
		((void (*)(const char *))slots[2])("a mark");
		((int (*)(void))slots[11])();
	}
	puts("range :version two,4");
	return 0;
}
