/*
 * embeds N (alone|beside) (LIBPYTHON PYTHONHOME)...: N times, for each library: loads it, runs Python functions that make 300 NVTX ranges
 * "here", finalizes Python, unloads the library, and makes 100 ranges "between".  beside: a second thread makes ranges "beside" all the
 * time.  Prints how often a library was really unloaded.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvtx3/nvToolsExt.h>

struct method {         /* PyMethodDef */
	const char *name;
	void *(*call)(void *self, void *args);
	int flags;
	const char *doc;
};

#define NO_ARGUMENTS 4

static void *none;                      /* Py_None */
static void (*keep)(void *object);      /* Py_IncRef() */
static int over;

static void range(const char *name)
{
	nvtxRangePushA(name);
	nvtxRangePop();
}

static void *here(void *self, void *args)
{
	(void)self;
	(void)args;
	range("here");
	keep(none);
	return none;
}

static struct method method = { "here", here, NO_ARGUMENTS, NULL };

static void *find(void *lib, const char *name)
{
	void *p = dlsym(lib, name);

	if (!p) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return p;
}

static void run(void *lib)
{
	void (*begin)(int) = (void (*)(int))find(lib, "Py_InitializeEx");
	int (*end)(void) = (int (*)(void))find(lib, "Py_FinalizeEx");
	int (*execute)(const char *) = (int (*)(const char *))find(lib, "PyRun_SimpleString");
	void *(*module)(const char *) = (void *(*)(const char *))find(lib, "PyImport_AddModule");
	void *(*function)(struct method *, void *, void *) = (void *(*)(struct method *, void *, void *))find(lib, "PyCFunction_NewEx");
	int (*set)(void *, const char *, void *) = (int (*)(void *, const char *, void *))find(lib, "PyObject_SetAttrString");

	keep = (void (*)(void *))find(lib, "Py_IncRef");
	none = find(lib, "_Py_NoneStruct");
	*(int *)find(lib, "Py_NoSiteFlag") = 1;         /* `site` would load extension modules, which keep the library loaded */
	begin(0);
	if (set(module("__main__"), "here", function(&method, NULL, NULL)) < 0 ||
	    execute("def outer():\n    inner()\ndef inner():\n    here()\nfor i in range(300):\n    outer()\n") < 0)
		exit(1);
	end();
}

static void *hammer(void *arg)
{
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
		range("beside");
	return arg;
}

/* True: the library is unloaded. */
static bool load_and_unload(const char *file, const char *home)
{
	void *lib;

	setenv("PYTHONHOME", home, 1);
	lib = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	run(lib);
	dlclose(lib);
	for (int i = 0; i < 100; i++)
		range("between");
	return !dlopen(file, RTLD_NOW | RTLD_NOLOAD);
}

int main(int argc, char **argv)
{
	int n = argc > 4 ? atoi(argv[1]) : 0, gone = 0;
	bool beside = n && strcmp(argv[2], "beside") == 0;
	pthread_t thread;

	if (!n || (beside && pthread_create(&thread, NULL, hammer, NULL) != 0))
		return 2;
	for (int i = 0; i < n; i++)
		for (int k = 3; k + 1 < argc; k += 2)
			gone += load_and_unload(argv[k], argv[k + 1]);
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED);
	if (beside)
		pthread_join(thread, NULL);
	printf("gone %d\n", gone);
	return 0;
}
