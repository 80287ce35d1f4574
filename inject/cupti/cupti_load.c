#include "inject/cupti/cupti_load.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inject/core/health.h"
#include "inject/core/memory.h"
#include "inject/core/scratch.h"
#include "inject/core/session.h"

#define OLDEST_CUDA 11
#define NEWEST_CUDA 13
#define MAX_ANCHORS 16

/* Before 12.0 the soname has the minor version. */
static const char *const names_11[] = {
	"libcupti.so.11.8", "libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so.11.5", "libcupti.so.11.4", "libcupti.so.11.3",
	"libcupti.so.11.2", "libcupti.so.11.1", "libcupti.so.11.0",
};

static const struct {
	const char *symbol;
	size_t slot;
	bool needed;
} table[] = {
#define CUPTI_FN(needed, name, params) { "cupti" #name, offsetof(struct cupti, name), needed },
#include "inject/cupti/cupti_api.def"
#undef CUPTI_FN
};

int cupti_bind(struct cupti *c, void *lib)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		void *fn = dlsym(lib, table[i].symbol);

		if (!fn && table[i].needed) {
			health_note(HEALTH_cupti_symbol, "%s", table[i].symbol);
			return -1;
		}
		memcpy((char *)c + table[i].slot, &fn, sizeof fn);
	}
	return 0;
}

bool cupti_needs_driver(void *lib)
{
	return dlsym(lib, "cuptiActivityEnable_v2");
}

/* cuptiActivityGetNextRecord_v2 exists from 13.3 on. */
bool cupti_crashes(void *lib, uint32_t driver)
{
	return driver && driver < 13000 && cupti_needs_driver(lib) && !dlsym(lib, "cuptiActivityGetNextRecord_v2");
}

const char *cupti_path(const struct cupti *c)
{
	Dl_info info;
	void *fn;

	memcpy(&fn, &c->GetVersion, sizeof fn);
	return dladdr(fn, &info) && info.dli_fname ? info.dli_fname : "";
}

/* ---- loaded libraries ---- */

static void *driver_symbol(const char *name)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);

	return lib ? dlsym(lib, name) : NULL;
}

uint32_t cupti_driver_version(void)
{
	int (*get)(int *version);
	void *fn = driver_symbol("cuDriverGetVersion");
	int version = 0;

	memcpy(&get, &fn, sizeof get);
	return get && get(&version) == 0 && version > 0 ? (uint32_t)version : 0;
}

bool cupti_driver_simulated(void)
{
	return driver_symbol("sim_is_simulated") != NULL;
}

/* Folders next to which libcupti may be: those of loaded CUDA libraries, and of any library in site-packages/nvidia. */
static struct anchors {
	char dir[MAX_ANCHORS][PATH_MAX];
	size_t n;
	uint32_t runtime;
} *anchors;

static int see_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	static const char runtime[] = "/libcudart.so.";
	struct anchors *a = arg;
	const char *slash = strrchr(info->dlpi_name, '/');
	size_t n = slash ? (size_t)(slash - info->dlpi_name) : 0;
	bool is_runtime, is_driver;

	(void)size;
	if (!n || n >= PATH_MAX)
		return 0;
	is_runtime = strncmp(slash, runtime, sizeof runtime - 1) == 0;
	is_driver = strncmp(slash, "/libcuda.so", 11) == 0;
	if (is_runtime)
		a->runtime = (uint32_t)atoi(slash + sizeof runtime - 1);
	if (a->n == MAX_ANCHORS || !(is_runtime || is_driver || strstr(info->dlpi_name, "/nvidia/")))
		return 0;
	for (size_t i = 0; i < a->n; i++)
		if (strlen(a->dir[i]) == n && memcmp(a->dir[i], info->dlpi_name, n) == 0)
			return 0;
	memcpy(a->dir[a->n], info->dlpi_name, n);
	a->dir[a->n++][n] = '\0';
	return 0;
}

uint32_t cupti_runtime_major(void)
{
	struct anchors *a = MEMORY_TABLE(anchors, 1);

	if (!a)
		return 0;
	a->n = a->runtime = 0;
	dl_iterate_phdr(see_object, a);
	return a->runtime;
}

/* ---- search ---- */

static void *open_path(const char *path)
{
	return access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static void *open_in(const char *dir, const char *below, const char *name)
{
	char *path = scratch_push(2 * PATH_MAX);
	void *lib = NULL;

	if (path) {
		snprintf(path, 2 * PATH_MAX, "%s%s/%s", dir, below, name);
		lib = open_path(path);
	}
	scratch_pop(path);
	return lib;
}

/* Python wheels: up to CUDA 12 a folder for each library (nvidia/cuda_runtime/lib), from 13 on nvidia/cu13/lib for all. */
static void *open_beside(uint32_t major, const char *name)
{
	char below[32];
	void *lib = NULL;

	snprintf(below, sizeof below, "/../../cu%u/lib", major);
	for (size_t i = 0; anchors && i < anchors->n && !lib; i++) {
		lib = open_in(anchors->dir[i], "", name);
		if (!lib)
			lib = open_in(anchors->dir[i], "/../../cuda_cupti/lib", name);
		if (!lib)
			lib = open_in(anchors->dir[i], below, name);
		if (!lib)
			lib = open_in(anchors->dir[i], "/../extras/CUPTI/lib64", name);
	}
	return lib;
}

static void *open_toolkit(const char *dir, const char *name)
{
	void *lib;

	if (!dir || !*dir)
		return NULL;
	lib = open_in(dir, "/lib64", name);
	return lib ? lib : open_in(dir, "/extras/CUPTI/lib64", name);
}

static void *open_name(uint32_t major, const char *name)
{
	const char *conda = getenv("CONDA_PREFIX");
	void *lib = open_beside(major, name);

	if (!lib && conda && *conda)
		lib = open_in(conda, "/lib", name);
	if (!lib)
		lib = open_toolkit(getenv("CUDA_HOME"), name);
	if (!lib)
		lib = open_toolkit("/usr/local/cuda", name);
	return lib ? lib : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static void *open_major(uint32_t major)
{
	void *lib = NULL;
	char name[32];

	if (major != 11) {
		snprintf(name, sizeof name, "libcupti.so.%u", major);
		return open_name(major, name);
	}
	for (size_t i = 0; i < sizeof names_11 / sizeof *names_11 && !lib; i++)
		lib = open_name(major, names_11[i]);
	return lib;
}

/* The loaded copy comes first: a second copy would be a second CUPTI, and only one can subscribe. */
void *cupti_loaded(void)
{
	void *lib = NULL;
	char name[32];

	for (uint32_t major = NEWEST_CUDA; major > 11 && !lib; major--) {
		snprintf(name, sizeof name, "libcupti.so.%u", major);
		lib = dlopen(name, RTLD_NOLOAD | RTLD_NOW);
	}
	for (size_t i = 0; i < sizeof names_11 / sizeof *names_11 && !lib; i++)
		lib = dlopen(names_11[i], RTLD_NOLOAD | RTLD_NOW);
	return lib;
}

static void *as_configured(void)
{
	const struct config *c = &guest->config;
	void *lib;

	if (c->cupti_lib[0]) {
		lib = dlopen(c->cupti_lib, RTLD_NOW | RTLD_LOCAL);
		if (lib)
			return lib;
		health_note(HEALTH_cupti_error, "--cupti-lib: %s", dlerror());
	}
	return c->cupti_hint[0] ? open_path(c->cupti_hint) : NULL;
}

static void say_missing(uint32_t driver, uint32_t major)
{
	const char *suffix = major >= 13 ? "" : major == 12 ? "-cu12" : "-cu11";

	if (driver)
		health_note(HEALTH_cupti_missing, "pip install nvidia-cuda-cupti%s (driver: CUDA %u.%u)", suffix, driver / 1000,
			    driver % 1000 / 10);
	else
		health_note(HEALTH_cupti_missing, "pip install nvidia-cuda-cupti%s", suffix);
}

void *cupti_find(uint32_t driver)
{
	uint32_t newest = driver ? driver / 1000 : NEWEST_CUDA;
	uint32_t runtime = cupti_runtime_major();
	uint32_t first;
	void *lib = cupti_loaded();

	if (!lib)
		lib = as_configured();
	if (lib)
		return lib;
	if (newest > NEWEST_CUDA)
		newest = NEWEST_CUDA;
	first = runtime >= OLDEST_CUDA && runtime <= newest ? runtime : newest;
	lib = open_major(first);
	/* An older CUPTI works with a newer driver: it records kernels, but lacks newer features. */
	for (uint32_t major = newest; major >= OLDEST_CUDA && !lib; major--)
		if (major != first)
			lib = open_major(major);
	if (!lib)
		say_missing(driver, first);
	return lib;
}
