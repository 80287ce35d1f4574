/*
 * The three doors of the one object: LD_PRELOAD (constructor), CUDA_INJECTION64_PATH (the driver, in its first cuInit) and
 * NVTX_INJECTION64_PATH (each module that uses NVTX, at its first call).  Whichever is first starts the parts; all are idempotent.
 */
#include "inject/entry.h"

#include <stdbool.h>
#include <stdlib.h>

#include "inject/carrier.h"
#include "inject/cupti.h"
#include "inject/health.h"
#include "inject/lifecycle.h"
#include "inject/module.h"
#include "inject/nvtx.h"
#include "inject/nvtx_chain.h"
#include "inject/session.h"
#include "inject/torch.h"

#define EXPORT __attribute__((visibility("default")))

/* Order is dependency: a part may use those above it, never those below. */
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

/* In reverse: CUPTI's part says whether the parent had CUDA before the session writes its line. */
void modules_forked(void)
{
	for (size_t i = N_MODULES; i-- > 0;)
		if (modules[i]->forked)
			modules[i]->forked();
}

__attribute__((constructor)) static void loaded(void)
{
	modules_init();
}

/* gprof-run moves an injection that the user had set out of the way, under this name; it is not served, and we say so. */
static void say_replaced(const char *variable, enum health_reason reason)
{
	const char *other = getenv(variable);

	if (session_wanted() && other && *other)
		health_note(reason, "%s", other);
}

EXPORT int InitializeInjection(void)
{
	modules_init();
	if (session_wanted())
		cupti_start();
	torch_look();
	say_replaced("GPROF_NEXT_CUDA_INJECTION", HEALTH_cuda_taken);
	return 1;
}

/* One that the user had set is served behind ours; where it cannot be, that is said. */
static int install_nvtx(const void *(*get_export_table)(uint32_t id), const char *entry)
{
	static bool said;
	const char *error = NULL, *other = getenv("GPROF_NEXT_NVTX_INJECTION");
	int ours, theirs;

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
	modules_init();
	chain_install_extension(module, nvtx_install_extension(module));
	return 1;               /* 0 would close us */
}
