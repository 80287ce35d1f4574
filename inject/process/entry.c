/*
 * The object can be loaded in three ways: LD_PRELOAD (constructor), CUDA_INJECTION64_PATH (by the driver, in its first cuInit) and
 * NVTX_INJECTION64_PATH (by each module that uses NVTX, at its first call).  The first entry point to run starts all modules; each entry
 * point may run more than once.
 */
#include "inject/process/entry.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

#include "inject/core/carrier.h"
#include "inject/core/health.h"
#include "inject/core/libc.h"
#include "inject/core/module.h"
#include "inject/core/seccomp.h"
#include "inject/core/session.h"
#include "inject/cupti/cupti.h"
#include "inject/nvtx/nvtx.h"
#include "inject/nvtx/nvtx_chain.h"
#include "inject/process/lifecycle.h"
#include "inject/torch/torch.h"

#define EXPORT __attribute__((visibility("default")))

/* In order of dependency: a module may use the modules before it. */
static const struct module *const modules[] = { &session_module, &stream_module, &stacks_module, &nvtx_libraries_module, &cupti_module,
						  &sample_module,
						  &torch_module };
#define N_MODULES (sizeof modules / sizeof *modules)

static bool up;

void modules_init(void)
{
	if (__atomic_exchange_n(&up, true, __ATOMIC_ACQ_REL))
		return;
	lifecycle_init();
	for (size_t i = 0; i < N_MODULES; i++)
		if (modules[i]->init)
			modules[i]->init();
}

void modules_stop(void)
{
	struct arena *a = guest->arena;

	if (!a)
		return;
	for (size_t i = N_MODULES; i-- > 0;)
		if (modules[i]->stop)
			modules[i]->stop();
	__atomic_store_n(&a->life, LIFE_ENDED, __ATOMIC_RELEASE);
	carrier_finish();
}

/* In reverse order: cupti_module reports whether the parent had CUDA before session_module writes its roster line. */
void modules_forked(void)
{
	for (size_t i = N_MODULES; i-- > 0;)
		if (modules[i]->forked)
			modules[i]->forked();
}

/*
 * The first dlopen() from a preloaded object makes the loader list the object's libraries, which calls malloc() and so brk() or mmap().
 * NVTX and the driver call dlopen() later, perhaps under a seccomp filter that kills for brk().  So the first dlopen() is made here.  The
 * reference is kept: later ones only count, without a system call.
 */
static void list_libraries(void)
{
	Dl_info ours;

	if (session_wanted() && dladdr(&up, &ours) && !dlopen(ours.dli_fname, RTLD_LAZY | RTLD_NOLOAD))
		dlerror();      /* the program must not see this error */
}

/* In a musl program the object does nothing. */
__attribute__((constructor)) static void loaded(void)
{
	if (!libc_is_ours())
		return;
	modules_init();
	list_libraries();
}

/* gprof-run saves the CUDA injection library that the user had set in `variable`.  It is not loaded: reports that in health. */
static void say_replaced(const char *variable, enum health_reason reason)
{
	const char *other = getenv(variable);

	if (session_wanted() && other && *other)
		health_note(reason, "%s", other);
}

EXPORT int InitializeInjection(void)
{
	if (!libc_is_ours())
		return 1;
	modules_init();
	if (session_wanted() && seccomp_allows(SECCOMP_CUPTI))
		cupti_start();
	torch_look();
	say_replaced("GPROF_NEXT_CUDA_INJECTION", HEALTH_cuda_taken);
	return 1;
}

/* Also loads an NVTX injection library that the user had set and chains it after this one.  Reports in health if that fails. */
static int install_nvtx(const void *(*get_export_table)(uint32_t id), const char *entry)
{
	static bool said;
	const char *error = NULL, *other = getenv("GPROF_NEXT_NVTX_INJECTION");
	int ours, theirs;

	if (!libc_is_ours())
		return 0;
	modules_init();
	ours = nvtx_install(get_export_table);
	theirs = chain_install(get_export_table, entry, ours, &error);
	if (error && session_wanted() && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		health_note(HEALTH_nvtx_taken, "%.60s: %s", other ? other : "", error);
	return ours || theirs;
}

/* NVTX 2: libnvToolsExt.so. */
EXPORT int InitializeInjectionNvtx(const void *(*get_export_table)(uint32_t id))
{
	return install_nvtx(get_export_table, "InitializeInjectionNvtx");
}

EXPORT int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t id))
{
	return install_nvtx(get_export_table, "InitializeInjectionNvtx2");
}

EXPORT int InitializeInjectionNvtxExtension(struct nvtx_ext_module *module)
{
	if (!libc_is_ours())
		return 1;
	modules_init();
	chain_install_extension(module, nvtx_install_extension(module));
	return 1;               /* 0 would make NVTX unload this object */
}
