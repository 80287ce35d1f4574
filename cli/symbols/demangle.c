#include "cli/symbols/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* Rust's generics multiply; what is longer than this helps nobody. */
#define LONGEST_RUST 4096

/* libstdc++ is used when it is there: linking it would make a C program need C++. */
static char *(*cxa_demangle)(const char *mangled, char *buf, size_t *size, int *status);
static pthread_once_t cxa_once = PTHREAD_ONCE_INIT;

static void find_cxa(void)
{
	void *lib = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

	if (lib)
		*(void **)&cxa_demangle = dlsym(lib, "__cxa_demangle");
}

bool demangle_knows_cpp(void)
{
	pthread_once(&cxa_once, find_cxa);
	return cxa_demangle != NULL;
}

char *demangle(const char *name)
{
	char rust[LONGEST_RUST];
	int status;

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return NULL;
	if (demangle_rust(name, rust, sizeof rust))
		return strdup(rust);
	return name[1] == 'Z' && demangle_knows_cpp() ? cxa_demangle(name, NULL, NULL, &status) : NULL;
}
