#include "inject/nvtx/nvtx_chain.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "inject/core/intern.h"
#include "inject/core/lock.h"
#include "inject/core/memory.h"
#include "inject/nvtx/nvtx_chain_maps.h"
#include "trace/payload.h"

#define IDS  64u                /* slots of a module's table; the largest has 18 */
#define PATH "GPROF_NEXT_NVTX_INJECTION"
#define NVTX_MODULE_EXT 0       /* index of the payload extension in the arrays below; no callback module has this number */

/*
 * This profiler's functions and the chained injection's, by module and slot.  Written while a target initializes, under `lock`; read
 * without a lock by the target's calls afterwards.
 */
static nvtx_function ours_fn[NVTX_MODULES][IDS], next_fn[NVTX_MODULES][IDS];
static uint32_t lock;

#define OURS(module, id, type) ((type)ours_fn[NVTX_MODULE_##module][NVTX_##id])
#define NEXT(module, id, type) ((type)next_fn[NVTX_MODULE_##module][NVTX_##id])

/* Writes the attribute nvtx.chained, once per process. */
static void write_chained(void)
{
	static uint32_t said;           /* epoch */
	uint32_t before = __atomic_load_n(&said, __ATOMIC_RELAXED);
	struct stream *s;

	if (likely(before == guest->epoch) || !guest->arena ||
	    !__atomic_compare_exchange_n(&said, &before, guest->epoch, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	s = stream_enter();
	if (!s)
		return;
	intern_attribute(s, "nvtx.chained", getenv(PATH) ? getenv(PATH) : "");
	stream_leave(s);
}

/* ---- calls without handles ---- */

#define PLAIN(module, id, fn, params, args)								\
	static void fn params										\
	{												\
		if (OURS(module, id, void (*)params))							\
			OURS(module, id, void (*)params) args;						\
		write_chained();									\
		NEXT(module, id, void (*)params) args;							\
	}
#define DEPTH(module, id, fn, params, args, theirs)							\
	static int fn params										\
	{												\
		int depth = OURS(module, id, int (*)params) args, other;				\
													\
		write_chained();									\
		other = NEXT(module, id, int (*)params) theirs;						\
		return depth < 0 ? other : depth;							\
	}
#define START(module, id, fn, params, args, theirs)							\
	static uint64_t fn params									\
	{												\
		uint64_t ours = OURS(module, id, uint64_t (*)params) args;				\
													\
		write_chained();									\
		return chain_range_put(ours, NEXT(module, id, uint64_t (*)params) theirs);		\
	}
#define ROOM (&(struct chain_attributes){ .a.size = 0 })

PLAIN(CORE, MarkA, mark_a, (const char *text), (text))
PLAIN(CORE, MarkW, mark_w, (const wchar_t *text), (text))
DEPTH(CORE, RangePushEx, push_ex, (const struct nvtx_attributes *a), (a), (chain_attributes(ROOM, a)))
DEPTH(CORE, RangePushA, push_a, (const char *text), (text), (text))
DEPTH(CORE, RangePushW, push_w, (const wchar_t *text), (text), (text))
DEPTH(CORE, RangePop, pop, (void), (), ())
START(CORE, RangeStartEx, start_ex, (const struct nvtx_attributes *a), (a), (chain_attributes(ROOM, a)))
START(CORE, RangeStartA, start_a, (const char *text), (text), (text))
START(CORE, RangeStartW, start_w, (const wchar_t *text), (text), (text))
PLAIN(CORE, NameCategoryA, category_a, (uint32_t id, const char *text), (id, text))
PLAIN(CORE, NameCategoryW, category_w, (uint32_t id, const wchar_t *text), (id, text))
PLAIN(CORE, NameOsThreadA, thread_a, (uint32_t id, const char *text), (id, text))
PLAIN(CORE, NameOsThreadW, thread_w, (uint32_t id, const wchar_t *text), (id, text))
PLAIN(CUDA, NameCuDeviceA, cu_device_a, (int h, const char *text), (h, text))
PLAIN(CUDA, NameCuDeviceW, cu_device_w, (int h, const wchar_t *text), (h, text))
PLAIN(CUDA, NameCuContextA, cu_context_a, (const void *h, const char *text), (h, text))
PLAIN(CUDA, NameCuContextW, cu_context_w, (const void *h, const wchar_t *text), (h, text))
PLAIN(CUDA, NameCuStreamA, cu_stream_a, (const void *h, const char *text), (h, text))
PLAIN(CUDA, NameCuStreamW, cu_stream_w, (const void *h, const wchar_t *text), (h, text))
PLAIN(CUDA, NameCuEventA, cu_event_a, (const void *h, const char *text), (h, text))
PLAIN(CUDA, NameCuEventW, cu_event_w, (const void *h, const wchar_t *text), (h, text))
PLAIN(CUDART, NameCudaDeviceA, cuda_device_a, (int h, const char *text), (h, text))
PLAIN(CUDART, NameCudaDeviceW, cuda_device_w, (int h, const wchar_t *text), (h, text))
PLAIN(CUDART, NameCudaStreamA, cuda_stream_a, (const void *h, const char *text), (h, text))
PLAIN(CUDART, NameCudaStreamW, cuda_stream_w, (const void *h, const wchar_t *text), (h, text))
PLAIN(CUDART, NameCudaEventA, cuda_event_a, (const void *h, const char *text), (h, text))
PLAIN(CUDART, NameCudaEventW, cuda_event_w, (const void *h, const wchar_t *text), (h, text))
PLAIN(CORE2, DomainInitialize, initialize, (const void *reserved), (reserved))

/* ---- calls that take handles: each handle is translated for the chained injection ---- */

#define WITH(module, id, fn, params, args, theirs)							\
	static void fn params										\
	{												\
		if (OURS(module, id, void (*)params))							\
			OURS(module, id, void (*)params) args;						\
		write_chained();									\
		NEXT(module, id, void (*)params) theirs;						\
	}
#define MAKE(module, id, fn, params, args, theirs, map)							\
	static const void *fn params									\
	{												\
		const void *ours = OURS(module, id, const void *(*)params) args, *other;		\
													\
		write_chained();									\
		other = NEXT(module, id, const void *(*)params) theirs;					\
		if (ours)										\
			chain_map_set(map, (uintptr_t)ours, (uintptr_t)other);				\
		return ours;										\
	}

WITH(CORE, MarkEx, mark_ex, (const struct nvtx_attributes *a), (a), (chain_attributes(ROOM, a)))
WITH(CORE2, DomainMarkEx, domain_mark_ex, (const void *d, const struct nvtx_attributes *a), (d, a),
     (chain_domain(d), chain_attributes(ROOM, a)))
DEPTH(CORE2, DomainRangePushEx, domain_push_ex, (const void *d, const struct nvtx_attributes *a), (d, a),
      (chain_domain(d), chain_attributes(ROOM, a)))
DEPTH(CORE2, DomainRangePop, domain_pop, (const void *d), (d), (chain_domain(d)))
START(CORE2, DomainRangeStartEx, domain_start_ex, (const void *d, const struct nvtx_attributes *a), (d, a),
      (chain_domain(d), chain_attributes(ROOM, a)))
WITH(CORE2, DomainNameCategoryA, domain_category_a, (const void *d, uint32_t id, const char *text), (d, id, text),
     (chain_domain(d), id, text))
WITH(CORE2, DomainNameCategoryW, domain_category_w, (const void *d, uint32_t id, const wchar_t *text),
     (d, id, text),
     (chain_domain(d), id, text))
MAKE(CORE2, DomainRegisterStringA, register_a, (const void *d, const char *text), (d, text),
     (chain_domain(d), text), &chain_strings)
MAKE(CORE2, DomainRegisterStringW, register_w, (const void *d, const wchar_t *text), (d, text),
     (chain_domain(d), text), &chain_strings)
MAKE(CORE2, DomainCreateA, create_a, (const char *text), (text), (text), &chain_domains)
MAKE(CORE2, DomainCreateW, create_w, (const wchar_t *text), (text), (text), &chain_domains)
WITH(CORE2, DomainDestroy, destroy, (const void *d), (d), (chain_domain(d)))
WITH(CORE2, DomainResourceDestroy, resource_destroy, (const void *r), (r),
     ((const void *)(uintptr_t)chain_map_get(&chain_resources, (uintptr_t)r)))

static const void *resource_create(const void *d, const struct nvtx_resource *r)
{
	struct nvtx_resource copy;
	const void *ours = OURS(CORE2, DomainResourceCreate, const void *(*)(const void *,
		const struct nvtx_resource *))(d, r), *other;

	write_chained();
	if (r && r->size >= sizeof copy && r->message_type == NVTX_REGISTERED) {
		copy = *r;
		copy.size = sizeof copy;
		copy.message.registered = (const void *)(uintptr_t)chain_map_get(&chain_strings,
			(uintptr_t)r->message.registered);
		r = &copy;
	}
	other = NEXT(CORE2, DomainResourceCreate, const void *(*)(const void *,
		const struct nvtx_resource *))(chain_domain(d), r);
	if (ours)
		chain_map_set(&chain_resources, (uintptr_t)ours, (uintptr_t)other);
	return ours;
}

static void end(uint64_t id)
{
	uint64_t ours, theirs;

	if (!chain_range_take(id, &ours, &theirs)) {
		OURS(CORE, RangeEnd, void (*)(uint64_t))(id);   /* no pair with that id: only this profiler has the range */
		return;
	}
	OURS(CORE, RangeEnd, void (*)(uint64_t))(ours);
	if (NEXT(CORE, RangeEnd, void (*)(uint64_t)))
		NEXT(CORE, RangeEnd, void (*)(uint64_t))(theirs);
}

static void domain_end(const void *d, uint64_t id)
{
	uint64_t ours, theirs;

	if (!chain_range_take(id, &ours, &theirs)) {
		OURS(CORE2, DomainRangeEnd, void (*)(const void *, uint64_t))(d, id);
		return;
	}
	OURS(CORE2, DomainRangeEnd, void (*)(const void *, uint64_t))(d, ours);
	if (NEXT(CORE2, DomainRangeEnd, void (*)(const void *, uint64_t)))
		NEXT(CORE2, DomainRangeEnd, void (*)(const void *, uint64_t))(chain_domain(d), theirs);
}

/* Recorded nowhere, only passed on; the domain handle is translated. */
static const void *sync_create(const void *d, const void *attributes)
{
	return NEXT(SYNC, DomainSyncUserCreate, const void *(*)(const void *, const void *))(chain_domain(d),
	       attributes);
}

/* ---- payload extension ---- */

#define DATA (&(struct nvtx_payload[CHAIN_PAYLOADS]){ { 0 } }[0])

WITH(EXT, MarkPayload, mark_payload, (const void *d, const struct nvtx_payload *p, size_t n), (d, p, n),
     (chain_domain(d), chain_payloads(DATA, p, n), chain_count(n)))
DEPTH(EXT, RangePushPayload, push_payload, (const void *d, const struct nvtx_payload *p, size_t n), (d, p, n),
      (chain_domain(d), chain_payloads(DATA, p, n), chain_count(n)))
DEPTH(EXT, RangePopPayload, pop_payload, (const void *d, const struct nvtx_payload *p, size_t n), (d, p, n),
      (chain_domain(d), chain_payloads(DATA, p, n), chain_count(n)))
START(EXT, RangeStartPayload, start_payload, (const void *d, const struct nvtx_payload *p, size_t n), (d, p, n),
      (chain_domain(d), chain_payloads(DATA, p, n), chain_count(n)))

static void end_payload(const void *d, uint64_t id, const struct nvtx_payload *p, size_t n)
{
	struct nvtx_payload room[CHAIN_PAYLOADS];
	uint64_t ours, theirs;

	if (!chain_range_take(id, &ours, &theirs))
		return;
	OURS(EXT, RangeEndPayload, void (*)(const void *, uint64_t, const struct nvtx_payload *, size_t))(d, ours, p,
		n);
	if (NEXT(EXT, RangeEndPayload, void (*)(const void *, uint64_t, const struct nvtx_payload *, size_t)))
		NEXT(EXT, RangeEndPayload, void (*)(const void *, uint64_t, const struct nvtx_payload *,
			size_t))(chain_domain(d), theirs,
			chain_payloads(room, p, n), chain_count(n));
}

static uint64_t remember_schema(uint64_t ours, uint64_t theirs)
{
	if (ours >= PAYLOAD_DYNAMIC_ID)
		chain_map_set(&chain_schemas, ours - PAYLOAD_DYNAMIC_ID, theirs);
	return ours;
}

/* An entry whose type is another schema refers to it by id: translate these ids too. */
static uint64_t schema_register(const void *d, const struct nvtx_schema *a)
{
	uint64_t ours = OURS(EXT, PayloadSchemaRegister, uint64_t (*)(const void *, const struct nvtx_schema *))(d, a);
	struct nvtx_schema copy = *a;
	struct nvtx_schema_entry *entries = a->entries && a->n < 4096 ? memory_take(a->n * sizeof *entries + 1) : NULL;

	if (entries) {
		memcpy(entries, a->entries, a->n * sizeof *entries);
		for (size_t i = 0; i < a->n; i++)
			entries[i].type = chain_schema(entries[i].type);
		copy.entries = entries;
	}
	write_chained();
	return remember_schema(ours, NEXT(EXT, PayloadSchemaRegister, uint64_t (*)(const void *,
	       const struct nvtx_schema *))
			       (chain_domain(d), &copy));
}

static uint64_t enum_register(const void *d, const struct nvtx_enum *a)
{
	uint64_t ours = OURS(EXT, PayloadEnumRegister, uint64_t (*)(const void *, const struct nvtx_enum *))(d, a);

	return remember_schema(ours, NEXT(EXT, PayloadEnumRegister, uint64_t (*)(const void *,
	       const struct nvtx_enum *))(chain_domain(d), a));
}

/* ---- tables ---- */

static const struct nvtx_hook wrappers[] = {
	NVTX_HOOK(CORE, MarkEx, mark_ex), NVTX_HOOK(CORE, MarkA, mark_a), NVTX_HOOK(CORE, MarkW, mark_w),
	NVTX_HOOK(CORE, RangeStartEx, start_ex), NVTX_HOOK(CORE, RangeStartA, start_a),
	NVTX_HOOK(CORE, RangeStartW, start_w),
	NVTX_HOOK(CORE, RangeEnd, end), NVTX_HOOK(CORE, RangePushEx, push_ex), NVTX_HOOK(CORE, RangePushA, push_a),
	NVTX_HOOK(CORE, RangePushW, push_w), NVTX_HOOK(CORE, RangePop, pop),
	NVTX_HOOK(CORE, NameCategoryA, category_a),
	NVTX_HOOK(CORE, NameCategoryW, category_w), NVTX_HOOK(CORE, NameOsThreadA, thread_a),
	NVTX_HOOK(CORE, NameOsThreadW, thread_w),
	NVTX_HOOK(CUDA, NameCuDeviceA, cu_device_a), NVTX_HOOK(CUDA, NameCuDeviceW, cu_device_w),
	NVTX_HOOK(CUDA, NameCuContextA, cu_context_a), NVTX_HOOK(CUDA, NameCuContextW, cu_context_w),
	NVTX_HOOK(CUDA, NameCuStreamA, cu_stream_a), NVTX_HOOK(CUDA, NameCuStreamW, cu_stream_w),
	NVTX_HOOK(CUDA, NameCuEventA, cu_event_a), NVTX_HOOK(CUDA, NameCuEventW, cu_event_w),
	NVTX_HOOK(CUDART, NameCudaDeviceA, cuda_device_a), NVTX_HOOK(CUDART, NameCudaDeviceW, cuda_device_w),
	NVTX_HOOK(CUDART, NameCudaStreamA, cuda_stream_a), NVTX_HOOK(CUDART, NameCudaStreamW, cuda_stream_w),
	NVTX_HOOK(CUDART, NameCudaEventA, cuda_event_a), NVTX_HOOK(CUDART, NameCudaEventW, cuda_event_w),
	NVTX_HOOK(CORE2, DomainMarkEx, domain_mark_ex), NVTX_HOOK(CORE2, DomainRangeStartEx, domain_start_ex),
	NVTX_HOOK(CORE2, DomainRangeEnd, domain_end), NVTX_HOOK(CORE2, DomainRangePushEx, domain_push_ex),
	NVTX_HOOK(CORE2, DomainRangePop, domain_pop), NVTX_HOOK(CORE2, DomainResourceCreate, resource_create),
	NVTX_HOOK(CORE2, DomainResourceDestroy, resource_destroy),
	NVTX_HOOK(CORE2, DomainNameCategoryA, domain_category_a),
	NVTX_HOOK(CORE2, DomainNameCategoryW, domain_category_w), NVTX_HOOK(CORE2, DomainRegisterStringA, register_a),
	NVTX_HOOK(CORE2, DomainRegisterStringW, register_w), NVTX_HOOK(CORE2, DomainCreateA, create_a),
	NVTX_HOOK(CORE2, DomainCreateW, create_w), NVTX_HOOK(CORE2, DomainDestroy, destroy),
	NVTX_HOOK(CORE2, DomainInitialize, initialize), NVTX_HOOK(SYNC, DomainSyncUserCreate, sync_create),
	NVTX_HOOK(EXT, PayloadSchemaRegister, schema_register), NVTX_HOOK(EXT, PayloadEnumRegister, enum_register),
	NVTX_HOOK(EXT, MarkPayload, mark_payload), NVTX_HOOK(EXT, RangePushPayload, push_payload),
	NVTX_HOOK(EXT, RangePopPayload, pop_payload), NVTX_HOOK(EXT, RangeStartPayload, start_payload),
	NVTX_HOOK(EXT, RangeEndPayload, end_payload),
};

/*
 * Returns the function for the target's slot: a wrapper that calls both, or the chained function alone.  NULL: leave this profiler's
 * function in the slot.
 */
static nvtx_function wrapper(uint32_t module, uint32_t id)
{
	bool ends = module == NVTX_MODULE_CORE ? id == NVTX_RangeEnd : module == NVTX_MODULE_CORE2 &&
		id == NVTX_DomainRangeEnd;

	if (!next_fn[module][id] && !ends)
		return NULL;
	for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
		if (wrappers[i].module == module && wrappers[i].id == id)
			return wrappers[i].fn;
	return ours_fn[module][id] ? NULL : next_fn[module][id];
}

/* The target that is initializing now; written and read under `lock`. */
static const void *(*target)(uint32_t id);
static const struct nvtx_callbacks *target_callbacks;

static int proxy_table(uint32_t module, nvtx_function ***table, unsigned *size)
{
	static nvtx_function *slots[NVTX_MODULES][IDS];
	unsigned n = 0;

	if (module == NVTX_MODULE_EXT || module >= NVTX_MODULES || !target_callbacks->module_table(module, table, &n))
		return 0;
	for (size_t i = 0; i < IDS; i++)
		slots[module][i] = &next_fn[module][i];
	*table = slots[module];
	if (size)
		*size = n < IDS ? n : IDS;
	return 1;
}

static const void *proxy_export_table(uint32_t id)
{
	static const struct nvtx_callbacks callbacks = { sizeof callbacks, proxy_table };

	return id == NVTX_EXPORT_CALLBACKS ? &callbacks : target(id);
}

static void remember(const struct nvtx_hook *hooks, uint32_t row)
{
	for (; hooks->fn; hooks++)
		ours_fn[row == NVTX_MODULE_EXT ? row : hooks->module][hooks->id] = hooks->fn;
}

static void fill_target(void)
{
	for (uint32_t module = 1; module < NVTX_MODULES; module++) {
		nvtx_function **table = NULL;
		unsigned size = 0;

		if (!target_callbacks->module_table(module, &table, &size) || !table)
			continue;
		for (uint32_t id = 1; id < size && id < IDS; id++) {
			nvtx_function fn = wrapper(module, id);

			if (fn && table[id])
				*table[id] = fn;
		}
	}
}

static void *load(const char **error)
{
	static void *library;
	const char *path = getenv(PATH);

	*error = NULL;
	if (!library && path && *path) {
		library = dlopen(path, RTLD_LAZY);
		if (!library)
			*error = dlerror();
	}
	return library;
}

int chain_install(const void *(*get_export_table)(uint32_t id), const char *entry, bool ours, const char **error)
{
	int (*init)(const void *(*)(uint32_t)) = NULL;
	int served = 0;
	void *library;

	lock_take(&lock);
	library = load(error);
	if (library)
		init = (int (*)(const void *(*)(uint32_t)))dlsym(library, entry);
	if (library && !init)
		*error = "exports no entry point for NVTX";
	if (init && !ours) {
		served = init(get_export_table);
	} else if (init) {
		target = get_export_table;
		target_callbacks = get_export_table(NVTX_EXPORT_CALLBACKS);
		for (size_t i = 0; nvtx_hook_lists[i]; i++)
			remember(nvtx_hook_lists[i], 1);
		served = init(proxy_export_table);
		if (served)
			fill_target();
	}
	if (init && !served)
		*error = "initialization failed (returned 0)";
	lock_give(&lock);
	return served;
}

void chain_install_extension(struct nvtx_ext_module *m, bool ours)
{
	static intptr_t slots[IDS];
	struct nvtx_ext_segment segment = { .slots = IDS, .functions = slots };
	int (*init)(struct nvtx_ext_module *) = NULL;
	struct nvtx_ext_module copy;
	const char *error;
	void *library;

	if (m->size < sizeof *m || m->module != NVTX_EXT_PAYLOAD || m->n_segments < 1)
		return;
	lock_take(&lock);
	library = load(&error);
	if (library)
		init = (int (*)(struct nvtx_ext_module *))dlsym(library, "InitializeInjectionNvtxExtension");
	if (init && !ours) {
		init(m);
	} else if (init) {
		/* Pass on the target's struct, including members newer than struct nvtx_ext_module; replace only the function table. */
		copy = *m;
		segment.id = m->segments->id;
		segment.slots = m->segments->slots < IDS ? m->segments->slots : IDS;
		copy.segments = &segment;
		copy.n_segments = 1;
		remember(nvtx_payload_hooks, NVTX_MODULE_EXT);
		memset(slots, 0, sizeof slots);
		init(&copy);
		for (uint32_t id = 0; id < segment.slots; id++) {
			nvtx_function fn;

			if (slots[id])
				next_fn[NVTX_MODULE_EXT][id] = (nvtx_function)slots[id];
			fn = id <= NVTX_DomainIsEnabled ? wrapper(NVTX_MODULE_EXT, id) : NULL;
			if (fn)
				m->segments->functions[id] = (intptr_t)fn;
		}
	}
	lock_give(&lock);
}
