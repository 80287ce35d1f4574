/*
 * Names that the program gives to resources by handle.  A CUDA stream's handle means nothing outside the process and may be reused: CUPTI
 * is asked for the stream's id when the name is given, on the calling thread.
 */
#include <string.h>

#include "inject/core/intern.h"
#include "inject/cupti/cupti.h"
#include "inject/nvtx/nvtx_hooks.h"
#include "inject/ranges/names.h"

#define CLASS_CUDA   (4u << 16)
#define CLASS_CUDART (5u << 16)

enum {
	TYPE_THREAD        = 1 << 16 | 3,
	TYPE_CU_DEVICE     = CLASS_CUDA | 1,
	TYPE_CU_CONTEXT    = CLASS_CUDA | 2,
	TYPE_CU_STREAM     = CLASS_CUDA | 3,
	TYPE_CU_EVENT      = CLASS_CUDA | 4,
	TYPE_CUDART_DEVICE = CLASS_CUDART | 0,
	TYPE_CUDART_STREAM = CLASS_CUDART | 1,
	TYPE_CUDART_EVENT  = CLASS_CUDART | 2,
};

/* Counter of the numbers that are returned as resource handles.  Not reset in a forked child: the program still holds the handles. */
static uint32_t next_number;

/* Translates the handle to the id that the trace's rows use; false if unknown.  Call it outside stream_enter(): CUPTI may call back. */
static bool object_of(uint32_t type, uint64_t handle, uint32_t *object)
{
	void *p = (void *)(uintptr_t)handle;

	switch (type) {
	case TYPE_CU_DEVICE:
	case TYPE_CUDART_DEVICE:
		*object = (uint32_t)handle;
		return true;
	case TYPE_CU_CONTEXT:
		return p && tracer_usable() && tracer.fn.GetContextId && tracer.fn.GetContextId(p, object) == 0;
	case TYPE_CU_STREAM:
	case TYPE_CUDART_STREAM:
		return tracer_usable() && tracer.fn.GetStreamIdEx && tracer.fn.GetStreamIdEx(NULL, p, 0, object) == 0;
	default:
		return false;
	}
}

static void put_row(struct stream *s, const struct resource_row *r)
{
	struct resource_row *row = stream_reserve(s, ROW_resource, sizeof *row);

	if (!row)
		return;
	*row = *r;
	row->start = clock_now();
	row->thread = s->thread;
	stream_publish(s, row);
}

/* Writes the resource row.  Returns its number, which is the program's handle; 0: not recorded. */
static uint32_t name_it(const void *domain, uint32_t type, uint64_t handle, int32_t message_type,
			union nvtx_text message)
{
	struct resource_row row = { .handle = handle, .type = type };
	struct stream *s;

	if (!session_connect())
		return 0;
	row.flags = object_of(type, handle, &row.object);
	s = stream_enter();
	if (!s)
		return 0;
	row.number = __atomic_add_fetch(&next_number, 1, __ATOMIC_RELAXED);
	row.domain = names_domain_id(s, domain);
	row.name = nvtx_message(s, message_type, message);
	put_row(s, &row);
	if (type == TYPE_THREAD && message_type == NVTX_TEXT && message.text)
		stream_name_thread(s, (uint32_t)handle, message.text, strnlen(message.text, 256));
	stream_leave(s);
	return row.number;
}

static const void *create(const void *domain, const struct nvtx_resource *r)
{
	if (!r || r->size < sizeof *r)
		return NULL;
	return (const void *)(uintptr_t)name_it(domain, (uint32_t)r->type, r->identifier, r->message_type, r->message);
}

static void destroy(const void *resource)
{
	struct stream *s = resource ? stream_enter() : NULL;

	if (!s)
		return;
	put_row(s, &(struct resource_row){ .number = (uint32_t)(uintptr_t)resource, .flags = RESOURCE_GONE });
	stream_leave(s);
}

/* ---- CUDA's own calls, in the default domain ---- */

#define NAMES(what, type, handle)                                                                                       \
	static void name_##what##_a(handle h, const char *text)                                                         \
	{                                                                                                               \
		name_it(NULL, type, (uint64_t)(uintptr_t)h, NVTX_TEXT, (union nvtx_text){ .text = text });              \
	}                                                                                                               \
	static void name_##what##_w(handle h, const wchar_t *text)                                                      \
	{                                                                                                               \
		name_it(NULL, type, (uint64_t)(uintptr_t)h, NVTX_WIDE, (union nvtx_text){ .wide = text });              \
	}

NAMES(cu_device, TYPE_CU_DEVICE, int)
NAMES(cu_context, TYPE_CU_CONTEXT, void *)
NAMES(cu_stream, TYPE_CU_STREAM, void *)
NAMES(cu_event, TYPE_CU_EVENT, void *)
NAMES(cudart_device, TYPE_CUDART_DEVICE, int)
NAMES(cudart_stream, TYPE_CUDART_STREAM, void *)
NAMES(cudart_event, TYPE_CUDART_EVENT, void *)

const struct nvtx_hook nvtx_resource_hooks[] = {
	NVTX_HOOK(CORE2, DomainResourceCreate, create), NVTX_HOOK(CORE2, DomainResourceDestroy, destroy),
	NVTX_HOOK(CUDA, NameCuDeviceA, name_cu_device_a), NVTX_HOOK(CUDA, NameCuDeviceW, name_cu_device_w),
	NVTX_HOOK(CUDA, NameCuContextA, name_cu_context_a), NVTX_HOOK(CUDA, NameCuContextW, name_cu_context_w),
	NVTX_HOOK(CUDA, NameCuStreamA, name_cu_stream_a), NVTX_HOOK(CUDA, NameCuStreamW, name_cu_stream_w),
	NVTX_HOOK(CUDA, NameCuEventA, name_cu_event_a), NVTX_HOOK(CUDA, NameCuEventW, name_cu_event_w),
	NVTX_HOOK(CUDART, NameCudaDeviceA, name_cudart_device_a),
	NVTX_HOOK(CUDART, NameCudaDeviceW, name_cudart_device_w),
	NVTX_HOOK(CUDART, NameCudaStreamA, name_cudart_stream_a),
	NVTX_HOOK(CUDART, NameCudaStreamW, name_cudart_stream_w),
	NVTX_HOOK(CUDART, NameCudaEventA, name_cudart_event_a), NVTX_HOOK(CUDART, NameCudaEventW, name_cudart_event_w),
	{ .fn = NULL },
};
