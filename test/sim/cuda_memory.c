/* Driver API: memory, copies, sets. */
#include "test/sim/driver.h"

#include <string.h>

#include <cupti_activity.h>

#define AT(p) ((void *)(uintptr_t)(p))

enum { HTOD = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, DTOH = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH,
       DTOD = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, PTOP = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP };

#define POOL_BYTES (32u << 20)          /* bytes by which a pool grows */

static uint64_t pool_size(const struct device *dev)
{
	return (dev->pool_used + POOL_BYTES - 1) / POOL_BYTES * POOL_BYTES;
}

/* The first asynchronous allocation creates the device's default pool. */
static void pool_use(struct op *op, struct device *dev, bool take)
{
	struct op made = { .type = OP_POOL, .value = 1, .name = "created", .pool = 0x900000000ull + (uint64_t)dev->ordinal,
			   .device = (uint32_t)dev->ordinal, .src_kind = MEM_DEVICE };

	op->pool = made.pool;
	if (!dev->pool_made) {
		dev->pool_made = true;
		made.address = made.pool;
		made.start = made.end = sim_now();
		op_tell(&made);
	}
	dev->pool_used += take ? op->bytes : -op->bytes;
	op->pool_used = dev->pool_used;
	op->pool_size = pool_size(dev);
}

/* Reports an allocation or a release, the content of a MEMORY2 record.  s: not NULL if asynchronous. */
static void memory_tell(uint32_t what, const void *p, size_t size, int kind, struct stream *s)
{
	struct context *ctx = context_current();
	struct op op = { .type = OP_MEMORY, .value = what, .address = (uint64_t)(uintptr_t)p, .bytes = size,
			 .src_kind = (uint8_t)kind, .async = s != NULL, .context = ctx->id,
			 .device = (uint32_t)ctx->dev->ordinal,
			 .stream = s ? s->id : 0, .name = what == 1 ? "allocation" : "release" };

	if (s)
		pool_use(&op, ctx->dev, what == 1);
	op.start = op.end = sim_now();
	op_tell(&op);
}

static CUresult allocate(void **out, size_t size, int kind, CUstream *stream)
{
	NEED(context_current(), CUDA_ERROR_INVALID_CONTEXT);
	NEED(out && size, CUDA_ERROR_INVALID_VALUE);
	*out = memory_alloc(context_current(), size, kind);
	NEED(*out, CUDA_ERROR_OUT_OF_MEMORY);
	memory_tell(1, *out, size, kind, stream ? stream_here(*stream) : NULL);
	return CUDA_SUCCESS;
}

static CUresult release(void *p, CUstream *stream)
{
	struct context *ctx = context_current();
	size_t size = 0;
	int kind = memory_kind(p);

	if (!p)
		return CUDA_SUCCESS;
	NEED(ctx, CUDA_ERROR_INVALID_CONTEXT);
	NEED(memory_range(p, NULL, &size), CUDA_ERROR_INVALID_VALUE);
	if (!stream)
		wait_until(context_tail(ctx));  /* a synchronous free waits for all work of the context */
	memory_tell(2, p, size, kind, stream ? stream_here(*stream) : NULL);
	return memory_free(p) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t size)
{
	ENTER(cuMemAlloc_v2, p, size);
	return LEAVE(allocate((void **)p, size, MEM_DEVICE, NULL));
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *p, size_t *pitch, size_t width, size_t height, unsigned int element)
{
	ENTER(cuMemAllocPitch_v2, p, pitch, width, height, element);
	*pitch = (width + 511) & ~(size_t)511;
	return LEAVE(allocate((void **)p, *pitch * height, MEM_DEVICE, NULL));
}

CUresult cuMemFree_v2(CUdeviceptr p)
{
	ENTER(cuMemFree_v2, p);
	return LEAVE(release(AT(p), NULL));
}

CUresult cuMemAllocAsync(CUdeviceptr *p, size_t size, CUstream stream)
{
	ENTER(cuMemAllocAsync, p, size, stream);
	return LEAVE(allocate((void **)p, size, MEM_DEVICE, &stream));
}

CUresult cuMemFreeAsync(CUdeviceptr p, CUstream stream)
{
	ENTER(cuMemFreeAsync, p, stream);
	return LEAVE(release(AT(p), &stream));
}

CUresult cuMemAllocManaged(CUdeviceptr *p, size_t size, unsigned int flags)
{
	ENTER(cuMemAllocManaged, p, size, flags);
	return LEAVE(allocate((void **)p, size, MEM_MANAGED, NULL));
}

static CUresult prefetch(void *p, size_t n, CUmemLocation where, CUstream stream)
{
	struct stream *s = stream_here(stream);

	NEED(context_current(), CUDA_ERROR_INVALID_CONTEXT);
	NEED(s, CUDA_ERROR_INVALID_HANDLE);
	NEED(n && memory_kind(p) == MEM_MANAGED, CUDA_ERROR_INVALID_VALUE);
	NEED(where.type != CU_MEM_LOCATION_TYPE_DEVICE || device_get(where.id), CUDA_ERROR_INVALID_DEVICE);
	managed_prefetch(s, p, n, where.type == CU_MEM_LOCATION_TYPE_DEVICE ? where.id : -1);
	return CUDA_SUCCESS;
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr p, size_t n, CUmemLocation where, unsigned int flags, CUstream stream)
{
	ENTER(cuMemPrefetchAsync_v2, p, n, where, flags, stream);
	return LEAVE(prefetch(AT(p), n, where, stream));
}

CUresult cuMemHostAlloc(void **p, size_t size, unsigned int flags)
{
	ENTER(cuMemHostAlloc, p, size, flags);
	return LEAVE(allocate(p, size, MEM_PINNED, NULL));
}

CUresult cuMemAllocHost_v2(void **p, size_t size)
{
	ENTER(cuMemAllocHost_v2, p, size);
	return LEAVE(allocate(p, size, MEM_PINNED, NULL));
}

CUresult cuMemFreeHost(void *p)
{
	ENTER(cuMemFreeHost, p);
	return LEAVE(release(p, NULL));
}

CUresult cuMemHostRegister_v2(void *p, size_t size, unsigned int flags)
{
	ENTER(cuMemHostRegister_v2, p, size, flags);
	return LEAVE(memory_adopt(p, size, MEM_PINNED, NULL) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuMemHostUnregister(void *p)
{
	ENTER(cuMemHostUnregister, p);
	return LEAVE(memory_free(p) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *p, unsigned int flags)
{
	ENTER(cuMemHostGetDevicePointer_v2, out, p, flags);
	*out = (CUdeviceptr)(uintptr_t)p;
	return LEAVE(CUDA_SUCCESS);
}

CUresult cuMemGetInfo_v2(size_t *available, size_t *total)
{
	ENTER(cuMemGetInfo_v2, available, total);
	*total = memory_total();
	*available = *total - (context_current() ? context_current()->dev->used : 0);
	return LEAVE(context_current() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr p)
{
	ENTER(cuMemGetAddressRange_v2, base, size, p);
	return LEAVE(memory_range(AT(p), (void **)base, size) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
}

static CUresult pointer_attribute(void *data, CUpointer_attribute what, void *p)
{
	int kind = memory_kind(p);

	NEED(kind != MEM_PAGEABLE, CUDA_ERROR_INVALID_VALUE);
	switch (what) {
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned int *)data = kind == MEM_PINNED ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned int *)data = kind == MEM_MANAGED;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)data = memory_device(p) ? memory_device(p)->ordinal : 0;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute what, CUdeviceptr p)
{
	ENTER(cuPointerGetAttribute, data, what, p);
	return LEAVE(pointer_attribute(data, what, AT(p)));
}

static CUresult copy(void *dst, const void *src, size_t n, int kind, CUstream stream, bool async)
{
	struct stream *s = stream_here(stream);

	NEED(context_current(), CUDA_ERROR_INVALID_CONTEXT);
	NEED(s, CUDA_ERROR_INVALID_HANDLE);
	NEED(!n || (dst && src), CUDA_ERROR_INVALID_VALUE);
	op_memcpy(s, dst, src, n, kind, async);
	return CUDA_SUCCESS;
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t n)
{
	ENTER(cuMemcpy, dst, src, n);
	return LEAVE(copy(AT(dst), AT(src), n, 0, NULL, false));
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream stream)
{
	ENTER(cuMemcpyAsync, dst, src, n, stream);
	return LEAVE(copy(AT(dst), AT(src), n, 0, stream, true));
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t n)
{
	ENTER(cuMemcpyHtoD_v2, dst, src, n);
	return LEAVE(copy(AT(dst), src, n, HTOD, NULL, false));
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t n, CUstream stream)
{
	ENTER(cuMemcpyHtoDAsync_v2, dst, src, n, stream);
	return LEAVE(copy(AT(dst), src, n, HTOD, stream, true));
}

CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t n)
{
	ENTER(cuMemcpyDtoH_v2, dst, src, n);
	return LEAVE(copy(dst, AT(src), n, DTOH, NULL, false));
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t n, CUstream stream)
{
	ENTER(cuMemcpyDtoHAsync_v2, dst, src, n, stream);
	return LEAVE(copy(dst, AT(src), n, DTOH, stream, true));
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t n)
{
	ENTER(cuMemcpyDtoD_v2, dst, src, n);
	return LEAVE(copy(AT(dst), AT(src), n, DTOD, NULL, true));
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream stream)
{
	ENTER(cuMemcpyDtoDAsync_v2, dst, src, n, stream);
	return LEAVE(copy(AT(dst), AT(src), n, DTOD, stream, true));
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx, size_t n,
			   CUstream stream)
{
	ENTER(cuMemcpyPeerAsync, dst, dst_ctx, src, src_ctx, n, stream);
	return LEAVE(copy(AT(dst), AT(src), n, PTOP, stream, true));
}

static CUresult set(CUdeviceptr p, uint32_t value, size_t width, size_t n, CUstream stream, bool async)
{
	struct stream *s = stream_here(stream);

	NEED(context_current(), CUDA_ERROR_INVALID_CONTEXT);
	NEED(s, CUDA_ERROR_INVALID_HANDLE);
	NEED(p || !n, CUDA_ERROR_INVALID_VALUE);
	op_memset(s, AT(p), value, width, n, async);
	return CUDA_SUCCESS;
}

CUresult cuMemsetD8_v2(CUdeviceptr p, unsigned char value, size_t n)
{
	ENTER(cuMemsetD8_v2, p, value, n);
	return LEAVE(set(p, value, 1, n, NULL, false));
}

CUresult cuMemsetD16_v2(CUdeviceptr p, unsigned short value, size_t n)
{
	ENTER(cuMemsetD16_v2, p, value, n);
	return LEAVE(set(p, value, 2, n, NULL, false));
}

CUresult cuMemsetD32_v2(CUdeviceptr p, unsigned int value, size_t n)
{
	ENTER(cuMemsetD32_v2, p, value, n);
	return LEAVE(set(p, value, 4, n, NULL, false));
}

CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char value, size_t n, CUstream stream)
{
	ENTER(cuMemsetD8Async, p, value, n, stream);
	return LEAVE(set(p, value, 1, n, stream, true));
}

CUresult cuMemsetD16Async(CUdeviceptr p, unsigned short value, size_t n, CUstream stream)
{
	ENTER(cuMemsetD16Async, p, value, n, stream);
	return LEAVE(set(p, value, 2, n, stream, true));
}

CUresult cuMemsetD32Async(CUdeviceptr p, unsigned int value, size_t n, CUstream stream)
{
	ENTER(cuMemsetD32Async, p, value, n, stream);
	return LEAVE(set(p, value, 4, n, stream, true));
}
