/* Device memory is host memory; copies and sets change it. */
#include "test/sim/engine.h"

#include <cuda.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cupti_activity.h>

struct area {
	char *base;
	size_t size;
	int kind;
	bool ours;                      /* mapped here; unmap when freed */
	struct device *dev;
};

static struct area *areas;              /* sorted by base */
static size_t n_areas, room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t memory_total(void)
{
	return sim_env("SIM_MEMORY_MB", 24576) << 20;
}

/* Returns the area that contains p, or NULL. */
static struct area *area_at(const void *p)
{
	size_t lo = 0, hi = n_areas;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (areas[mid].base <= (const char *)p)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || (const char *)p >= areas[lo - 1].base + areas[lo - 1].size)
		return NULL;
	return &areas[lo - 1];
}

static bool area_add(struct area a)
{
	size_t i;

	if (n_areas == room) {
		struct area *more = realloc(areas, (room * 2 + 64) * sizeof(*areas));

		if (!more)
			return false;
		areas = more;
		room = room * 2 + 64;
	}
	for (i = n_areas++; i && areas[i - 1].base > a.base; i--)
		areas[i] = areas[i - 1];
	areas[i] = a;
	return true;
}

void *memory_alloc(struct context *ctx, size_t size, int kind)
{
	size_t bytes = (size + 511) & ~(size_t)511;
	struct area a = { .size = bytes, .kind = kind, .ours = true, .dev = ctx->dev };

	if (!size)
		return NULL;
	pthread_mutex_lock(&lock);
	if (kind == MEM_DEVICE && ctx->dev->used + bytes > memory_total())
		bytes = 0;
	a.base = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
		       : MAP_FAILED;
	if (a.base == MAP_FAILED || !area_add(a))
		a.base = NULL;
	else if (kind == MEM_DEVICE)
		ctx->dev->used += bytes;
	pthread_mutex_unlock(&lock);
	if (a.base && kind == MEM_MANAGED)
		managed_add(a.base, bytes);
	return a.base;
}

bool memory_adopt(void *p, size_t size, int kind, struct device *dev)
{
	bool ok;

	pthread_mutex_lock(&lock);
	ok = area_add((struct area){ .base = p, .size = size, .kind = kind, .dev = dev });
	pthread_mutex_unlock(&lock);
	return ok;
}

bool memory_free(void *p)
{
	struct area *a;
	bool found;

	pthread_mutex_lock(&lock);
	a = area_at(p);
	found = a && a->base == p;
	if (found) {
		if (a->kind == MEM_MANAGED)
			managed_remove(a->base);
		if (a->ours)
			munmap(a->base, a->size);
		if (a->kind == MEM_DEVICE && a->dev)
			a->dev->used -= a->size;
		memmove(a, a + 1, (char *)(areas + n_areas) - (char *)(a + 1));
		n_areas--;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

bool memory_range(const void *p, void **base, size_t *size)
{
	struct area *a;

	pthread_mutex_lock(&lock);
	a = area_at(p);
	if (a && base)
		*base = a->base;
	if (a && size)
		*size = a->size;
	pthread_mutex_unlock(&lock);
	return a;
}

int memory_kind(const void *p)
{
	struct area *a;
	int kind;

	pthread_mutex_lock(&lock);
	a = area_at(p);
	kind = a ? a->kind : MEM_PAGEABLE;
	pthread_mutex_unlock(&lock);
	return kind;
}

struct device *memory_device(const void *p)
{
	struct area *a;
	struct device *dev;

	pthread_mutex_lock(&lock);
	a = area_at(p);
	dev = a ? a->dev : NULL;
	pthread_mutex_unlock(&lock);
	return dev;
}

bool memory_is_device(const void *p)
{
	int kind = memory_kind(p);

	return kind == MEM_DEVICE || kind == MEM_MANAGED || kind == MEM_STATIC;
}

/* Derives the kind from the locations of source and destination, as for cudaMemcpyDefault. */
static uint8_t copy_kind(int src, int dst)
{
	bool from = src == MEM_DEVICE || src == MEM_STATIC || src == MEM_MANAGED;
	bool to = dst == MEM_DEVICE || dst == MEM_STATIC || dst == MEM_MANAGED;

	if (from && to)
		return CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
	if (from)
		return CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
	return to ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD : CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
}

/* SIM_COPY_AS_KERNEL=1: a device-to-device copy becomes a kernel, as the real driver sometimes does. */
static void as_kernel(struct op *op)
{
	op->type = OP_KERNEL;
	op->name = "copy_kernel";
	op->ns = 1000 + op->bytes / 800;
	for (int i = 0; i < 3; i++)
		op->grid[i] = op->block[i] = op->cluster[i] = 1;
	op->grid[0] = (uint32_t)((op->bytes + 65535) / 65536);
	op->block[0] = 256;
	op->registers = 16;
}

/* kind: a CUpti_ActivityMemcpyKind, 0: derive it.  The bytes are copied at once, whatever the operation's start and end. */
int op_memcpy(struct stream *s, void *dst, const void *src, size_t n, int kind, bool async)
{
	int from = memory_kind(src), to = memory_kind(dst);
	struct op op = { .type = OP_MEMCPY, .bytes = n, .async = async, .src_kind = (uint8_t)from,
			 .dst_kind = (uint8_t)to };

	op.copy_kind = kind ? (uint8_t)kind : copy_kind(from, to);
	if (op.copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP) {
		struct device *peer = memory_device(dst);

		op.peer_device = peer ? (uint32_t)peer->ordinal : 0;
		op.peer_context = peer && peer->primary ? peer->primary->id : s->ctx->id;
	}
	if (!n)
		return 0;
	managed_open(dst, n, true);
	managed_open(src, n, true);
	memmove(dst, src, n);
	managed_open(dst, n, false);
	managed_open(src, n, false);
	if (op.copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD && sim_env("SIM_COPY_AS_KERNEL", 0))
		as_kernel(&op);
	op_submit(s, &op);
	if (!async && !s->capture)
		wait_until(s->tail);
	return 0;
}

void op_memset(struct stream *s, void *dst, uint32_t value, size_t width, size_t count, bool async)
{
	struct op op = { .type = OP_MEMSET, .bytes = width * count, .async = async, .value = value,
			 .dst_kind = (uint8_t)memory_kind(dst) };
	char *to = dst;

	if (!count)
		return;
	managed_open(dst, width * count, true);
	if (width == 1)
		memset(to, (int)value, count);
	else
		for (size_t i = 0; i < count; i++)
			memcpy(to + i * width, &value, width);
	managed_open(dst, width * count, false);
	op_submit(s, &op);
}
