#include "inject/client/cupti_exports.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "inject/client/cupti_client.h"
#include "inject/core/libc.h"
#include "inject/cupti/cupti.h"
#include "inject/cupti/cupti_load.h"

#define EXPORT __attribute__((visibility("default"), noinline))

/* ---- caller and called function ---- */

/* Cache of the function found for the first caller of an export: a lookup takes microseconds, and profilers call from few places. */
struct export_slot {
	uint32_t taken, known;
	const void *caller;
	void *fn;
};

static bool is_this_object(const void *fn)
{
	Dl_info mine, its;

	return dladdr((const void *)(uintptr_t)is_this_object, &mine) && dladdr(fn, &its) &&
	       mine.dli_fbase == its.dli_fbase;
}

/* The function in the libcupti that the calling object is linked to: a lookup through that object skips preloaded ones. */
static void *linked_to(const char *name, const void *caller)
{
	struct link_map *map = NULL;
	Dl_info info;
	void *lib, *fn;

	if (!libc_is_ours() || !dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !map->l_name || !map->l_name[0])
		return NULL;
	lib = dlopen(map->l_name, RTLD_NOLOAD | RTLD_LAZY);
	fn = lib ? dlsym(lib, name) : NULL;
	if (lib)
		dlclose(lib);
	return fn && !is_this_object(fn) ? fn : NULL;
}

static void *look_up(const char *name, const void *caller)
{
	void *fn = linked_to(name, caller), *lib;

	if (!fn)
		fn = dlsym(RTLD_NEXT, name);
	if (!fn && (lib = cupti_loaded()))
		fn = dlsym(lib, name);
	return fn && !is_this_object(fn) ? fn : NULL;
}

static void *real_function(const char *name, const void *caller, struct export_slot *p)
{
	int saved = errno;
	void *fn;

	if (__atomic_load_n(&p->known, __ATOMIC_ACQUIRE) && p->caller == caller)
		return p->fn;
	fn = look_up(name, caller);
	errno = saved;
	if (fn && !__atomic_exchange_n(&p->taken, 1, __ATOMIC_ACQ_REL)) {
		p->caller = caller;
		p->fn = fn;
		__atomic_store_n(&p->known, 1, __ATOMIC_RELEASE);
	}
	return fn;
}

/* File name of the calling object, for messages. */
static const char *who(const void *caller)
{
	const char *slash;
	Dl_info info;

	if (!dladdr(caller, &info) || !info.dli_fname || !info.dli_fname[0])
		return program_invocation_short_name;
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

/*
 * Begin of every export.  real: the function that would have been called without the injected object.  It is called if nothing is recorded
 * here, or if it belongs to a second copy of libcupti.
 */
#define CALLER __builtin_return_address(0)
#define PASS_ON_UNLESS_SERVED(name, ...)                                                        \
	static struct export_slot place_;                                                       \
	__typeof__(&name) real = (__typeof__(&name))real_function(#name, CALLER, &place_);      \
	if (!cupti_client_serves((void *)(uintptr_t)real))                                      \
		return real ? real(__VA_ARGS__) : RESULT_UNKNOWN

/* Reports a refusal that the tracer's subscription has caused. */
static int refused_if_busy(int result, const void *caller)
{
	if (result == RESULT_BUSY && tracer_usable())
		cupti_client_refused(who(caller));
	return result;
}

/* ---- subscription and callbacks ---- */

EXPORT int cuptiSubscribe(void **subscriber, void (*callback)(void *, int, uint32_t, const void *), void *user)
{
	static struct export_slot place;
	__typeof__(&cuptiSubscribe) real = (__typeof__(&cuptiSubscribe))real_function("cuptiSubscribe", CALLER, &place);

	if (cupti_client_serves((void *)(uintptr_t)real))
		return cupti_client_subscribe(subscriber, callback, user, NULL, who(CALLER));
	return real ? refused_if_busy(real(subscriber, callback, user), CALLER) : RESULT_UNKNOWN;
}

/*
 * From 13.2 on this belongs to a second family of functions, whose activity is separate from the first family's.  The other functions of
 * that family are not interposed, so the call is passed to CUPTI.
 */
EXPORT int cuptiSubscribe_v2(void **subscriber, void (*callback)(void *, int, uint32_t, const void *), void *user,
			     struct cupti_subscriber_params *params)
{
	static struct export_slot place, next;
	__typeof__(&cuptiSubscribe_v2) real =
		(__typeof__(&cuptiSubscribe_v2))real_function("cuptiSubscribe_v2", CALLER, &place);

	if (!real_function("cuptiActivityEnable_v2", CALLER, &next) && cupti_client_serves((void *)(uintptr_t)real))
		return cupti_client_subscribe(subscriber, callback, user, params, who(CALLER));
	return real ? refused_if_busy(real(subscriber, callback, user, params), CALLER) : RESULT_UNKNOWN;
}

EXPORT int cuptiUnsubscribe(void *subscriber)
{
	PASS_ON_UNLESS_SERVED(cuptiUnsubscribe, subscriber);
	return cupti_client_unsubscribe(subscriber);
}

EXPORT int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t cbid)
{
	PASS_ON_UNLESS_SERVED(cuptiEnableCallback, enable, subscriber, domain, cbid);
	return cupti_client_enable(enable, subscriber, domain, cbid);
}

EXPORT int cuptiEnableDomain(uint32_t enable, void *subscriber, int domain)
{
	PASS_ON_UNLESS_SERVED(cuptiEnableDomain, enable, subscriber, domain);
	return cupti_client_enable_domain(enable, subscriber, domain);
}

EXPORT int cuptiEnableAllDomains(uint32_t enable, void *subscriber)
{
	PASS_ON_UNLESS_SERVED(cuptiEnableAllDomains, enable, subscriber);
	return cupti_client_enable_all(enable, subscriber);
}

EXPORT int cuptiGetCallbackState(uint32_t *enable, void *subscriber, int domain, uint32_t cbid)
{
	PASS_ON_UNLESS_SERVED(cuptiGetCallbackState, enable, subscriber, domain, cbid);
	return cupti_client_state(enable, subscriber, domain, cbid);
}

/* ---- activity ---- */

EXPORT int cuptiActivityRegisterCallbacks(void (*requested)(uint8_t **, size_t *, size_t *),
					  void (*completed)(void *, uint32_t, uint8_t *, size_t, size_t))
{
	PASS_ON_UNLESS_SERVED(cuptiActivityRegisterCallbacks, requested, completed);
	return cupti_client_register(requested, completed, who(CALLER));
}

EXPORT int cuptiActivityEnable(int kind)
{
	PASS_ON_UNLESS_SERVED(cuptiActivityEnable, kind);
	return cupti_client_kind(KIND_ON, kind, NULL);
}

EXPORT int cuptiActivityDisable(int kind)
{
	PASS_ON_UNLESS_SERVED(cuptiActivityDisable, kind);
	return cupti_client_kind(KIND_OFF, kind, NULL);
}

EXPORT int cuptiActivityEnableAndDump(int kind)
{
	PASS_ON_UNLESS_SERVED(cuptiActivityEnableAndDump, kind);
	return cupti_client_kind(KIND_ON_DUMP, kind, NULL);
}

EXPORT int cuptiActivityEnableContext(void *context, int kind)
{
	PASS_ON_UNLESS_SERVED(cuptiActivityEnableContext, context, kind);
	return cupti_client_kind(KIND_ON_CONTEXT, kind, context);
}

EXPORT int cuptiActivityDisableContext(void *context, int kind)
{
	PASS_ON_UNLESS_SERVED(cuptiActivityDisableContext, context, kind);
	return cupti_client_kind(KIND_OFF_CONTEXT, kind, context);
}

/* Deprecated: context and stream are ignored since buffers are asynchronous. */
EXPORT int cuptiActivityFlush(void *context, uint32_t stream, uint32_t flag)
{
	PASS_ON_UNLESS_SERVED(cuptiActivityFlush, context, stream, flag);
	return cupti_client_flush(flag);
}

EXPORT int cuptiActivityFlushAll(uint32_t flag)
{
	PASS_ON_UNLESS_SERVED(cuptiActivityFlushAll, flag);
	return cupti_client_flush(flag);
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
	PASS_ON_UNLESS_SERVED(cuptiActivityGetNumDroppedRecords, context, stream, dropped);
	return cupti_client_dropped(context, stream, dropped);
}

EXPORT int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void))
{
	PASS_ON_UNLESS_SERVED(cuptiActivityRegisterTimestampCallback, clock);
	return cupti_client_clock(clock);
}

EXPORT int cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
	PASS_ON_UNLESS_SERVED(cuptiActivityEnableAllSyncRecords, enable);
	return cupti_client_all_syncs(enable);
}

/* Activity records of single API functions. */
EXPORT int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable)
{
	PASS_ON_UNLESS_SERVED(cuptiActivityEnableDriverApi, cbid, enable);
	return cupti_client_calls(KIND_DRIVER, real(cbid, enable));
}

EXPORT int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable)
{
	PASS_ON_UNLESS_SERVED(cuptiActivityEnableRuntimeApi, cbid, enable);
	return cupti_client_calls(KIND_RUNTIME, real(cbid, enable));
}

EXPORT int cuptiActivitySetAttribute(int attribute, size_t *size, void *value)
{
	PASS_ON_UNLESS_SERVED(cuptiActivitySetAttribute, attribute, size, value);
	return cupti_client_attribute(attribute, size, value);
}

/* ---- the rest ---- */

EXPORT int cuptiGetTimestamp(uint64_t *timestamp)
{
	PASS_ON_UNLESS_SERVED(cuptiGetTimestamp, timestamp);
	return cupti_client_timestamp(timestamp);
}

EXPORT int cuptiSetThreadIdType(int type)
{
	PASS_ON_UNLESS_SERVED(cuptiSetThreadIdType, type);
	return cupti_client_thread_ids((uint32_t)type);
}

EXPORT int cuptiGetThreadIdType(int *type)
{
	PASS_ON_UNLESS_SERVED(cuptiGetThreadIdType, type);
	if (!type)
		return RESULT_INVALID_PARAMETER;
	*type = (int)cupti_client.thread_ids;
	return RESULT_OK;
}

EXPORT int cuptiFinalize(void)
{
	PASS_ON_UNLESS_SERVED(cuptiFinalize);
	return cupti_client_finalize();
}
