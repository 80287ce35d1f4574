/* Finds libtorch_cpu, binds its functions, and observes it if the test succeeds. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#include "inject/core/health.h"
#include "inject/core/module.h"
#include "inject/core/scratch.h"
#include "inject/core/session.h"
#include "inject/torch/torch.h"
#include "inject/torch/torch_memory.h"
#include "inject/torch/torch_steps.h"
#include "inject/unwind/images.h"

static bool wanted;                     /* look for libtorch_cpu; once it is found, for a second one */
static bool memory;                     /* also hook its allocator */
static bool taken;                      /* set by the thread that found it first */
static unsigned long long adds_seen;    /* dlpi_adds at the last look after it was taken */
static bool child;                      /* in a forked child, which inherits the loader's lock if another thread of the parent held it */
static char first[PATH_MAX];            /* path of the libtorch_cpu that was taken */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Debian appends a version to the name, a repaired wheel inserts a hash. */
static bool is_torch_cpu(const char *path)
{
	const char *name = path ? base_name(path) : "";

	return strncmp(name, "libtorch_cpu", 12) == 0 && (name[12] == '.' || name[12] == '-') && strstr(name + 12, ".so");
}

/* Result of a pass over all loaded objects. */
struct seen_libraries {
	char path[PATH_MAX];            /* of the first libtorch_cpu; a copy: the loader frees its text with the object */
	unsigned n;
	unsigned long long adds;        /* dlpi_adds: objects ever loaded */
	uintptr_t address;              /* an address in the object of interest; 0: none */
	bool needs;                     /* that object needs a libtorch */
};

static bool covers(const struct dl_phdr_info *o, uintptr_t address)
{
	for (int i = 0; i < o->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &o->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && address - (o->dlpi_addr + p->p_vaddr) < p->p_memsz)
			return true;
	}
	return false;
}

static const ElfW(Dyn) *dynamic_of(const struct dl_phdr_info *o)
{
	for (int i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const ElfW(Dyn) *)(o->dlpi_addr + o->dlpi_phdr[i].p_vaddr);
	return NULL;
}

static bool needs_torch(const ElfW(Dyn) *all, ElfW(Addr) base)
{
	const char *strings = NULL;

	for (const ElfW(Dyn) *d = all; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_STRTAB)      /* glibc has added the base if the section is writable */
			strings = (const char *)(d->d_un.d_ptr < base ? d->d_un.d_ptr + base : d->d_un.d_ptr);
	for (const ElfW(Dyn) *d = all; strings && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED && strncmp(strings + d->d_un.d_val, "libtorch", 8) == 0)
			return true;
	return false;
}

static int see(struct dl_phdr_info *o, size_t size, void *arg)
{
	struct seen_libraries *seen = arg;

	(void)size;
	seen->adds = o->dlpi_adds;
	/* No object was loaded since: there is no second one. */
	if (taken && seen->adds == adds_seen)
		return 1;
	if (is_torch_cpu(o->dlpi_name)) {
		seen->n++;
		if (!seen->path[0])
			strncpy(seen->path, o->dlpi_name, sizeof seen->path - 1);
	} else if (seen->address && covers(o, seen->address)) {
		seen->needs = needs_torch(dynamic_of(o), o->dlpi_addr);
	}
	return 0;
}

/* ---- binding and testing ---- */

static void *symbol(void *library, const char *name)
{
	void *p = dlsym(library, name);

	if (!p)
		dlerror();      /* the program must not read this error */
	return p;
}

const char *torch_bind(struct torch *t, void *library)
{
	static const struct {
		size_t at;
		const char *name, *missing;
	} all[] = {
#define NEED(member, name) { offsetof(struct torch, member), name, name }
#define MAY(member, name)  { offsetof(struct torch, member), name, NULL }
		NEED(add, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE"),
		NEED(remove, "_ZN2at14removeCallbackEm"),
		NEED(name, "_ZNK2at14RecordFunction4nameEv"),
		NEED(step_callbacks, "_ZN2at16getStepCallbacksENS_11RecordScopeE"),
		NEED(construct, "_ZN2at14RecordFunctionC1ENS_11RecordScopeE"),
		NEED(destruct, "_ZN2at14RecordFunctionD1Ev"),
		MAY(before, "_ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_viewIcSt11char_traitsIcEE"
			    "St17reference_wrapperIKN3c1014FunctionSchemaEEEEl"),
		MAY(before_old, "_ZN2at14RecordFunction6beforeEPKcl"),
		MAY(overload, "_ZNK2at14RecordFunction13overload_nameEv"),
		MAY(is_async, "_ZNK2at14RecordFunction7isAsyncEv"),
		MAY(version, "aoti_torch_abi_version"),
		MAY(dim, "aoti_torch_get_dim"),
		MAY(sizes, "aoti_torch_get_sizes"),
		MAY(dtype, "aoti_torch_get_dtype"),
		MAY(undefined, "_ZN3c1019UndefinedTensorImpl10_singletonE"),
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		void *p = symbol(library, all[i].name);

		if (!p && all[i].missing)
			return all[i].missing;
		memcpy((char *)t + all[i].at, &p, sizeof p);
	}
	if (!t->before && !t->before_old)
		return "_ZN2at14RecordFunction6before";
	return NULL;
}

static void try_and_observe(const char *path)
{
	static struct torch torch;
	void *library = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
	const char *missing, *wrong;

	if (!library) {         /* being loaded at this moment, or unloaded */
		dlerror();
		__atomic_store_n(&taken, false, __ATOMIC_RELEASE);
		return;
	}
	missing = torch_bind(&torch, library);
	wrong = missing ? NULL : torch_try(&torch);
	if (missing)
		health_note(HEALTH_torch_refused, "libtorch_cpu does not export %.65s", missing);
	else if (wrong)
		health_note(HEALTH_torch_refused, "%.90s", wrong);
	else
		torch_observe(&torch, session_file(WIRE_TORCH_OPS), session_file(WIRE_TORCH_SHAPES));
}

/* Looks through the loaded objects.  dso: an address in the one that is being initialized, or NULL. */
static void look_at(const void *dso)
{
	struct seen_libraries *seen = scratch_push(sizeof *seen);
	int saved = errno;

	if (!seen)
		return;
	memset(seen, 0, sizeof *seen);
	seen->address = (uintptr_t)dso;
	dl_iterate_phdr(see, seen);
	if (taken)
		adds_seen = seen->adds;
	if (seen->path[0] && (!dso || seen->needs) && !__atomic_exchange_n(&taken, true, __ATOMIC_ACQ_REL)) {
		strcpy(first, seen->path);
		try_and_observe(first);
	}
	if (memory && taken)
		torch_memory_look();
	if (seen->n > 1 && __atomic_exchange_n(&wanted, false, __ATOMIC_ACQ_REL))
		health_note(HEALTH_torch_second, "%.90s", first);
	scratch_pop(seen);
	errno = saved;
}

void torch_look(void)
{
	if (__atomic_load_n(&wanted, __ATOMIC_ACQUIRE))
		look_at(NULL);
}

/* Most objects need no PyTorch.  The loader's lock is taken only for objects that do, or that are libtorch_cpu. */
void torch_look_after(const void *dso)
{
	const struct link_map *map;

	if (!dso || !__atomic_load_n(&wanted, __ATOMIC_ACQUIRE))
		return;
	if (images_link_map(dso, &map) ? map && (is_torch_cpu(map->l_name) || needs_torch(map->l_ld, map->l_addr)) : !child)
		look_at(dso);
}

static void init(void)
{
	wanted = session_file(WIRE_TORCH);
	if (wanted)
		images_init();
	memory = wanted && session_file(WIRE_TORCH_MEMORY);
	torch_look();
}

static void forked(void)
{
	child = true;
}

const struct module torch_module = { .init = init, .stop = torch_steps_stop, .forked = forked };
