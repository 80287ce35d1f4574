/*
 * A minimal CUPTI client, loaded by cuInit through CUDA_INJECTION64_PATH.  Counts callbacks and records, and writes lines "name count" to
 * the file named by SELFCHECK_OUT.  test/sim/selfcheck.sh compares these counts with the truth file.
 */
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API(X)                                                                                                   \
	X(cuptiSubscribe) X(cuptiEnableDomain) X(cuptiActivityRegisterCallbacks) X(cuptiActivityEnable)              \
	X(cuptiActivityGetNextRecord) X(cuptiActivityFlushAll) X(cuptiActivityGetNumDroppedRecords)                 \
	X(cuptiGetCallbackName)

#define X(fn) static __typeof__(fn) *p_##fn;
API(X)
#undef X

int InitializeInjection(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t kernels, copies, sets, syncs, overheads, unfinished, zeroed, unknown, dropped;
static size_t runtime_calls, driver_calls, unbalanced, buffers, early;
static uint32_t under_way;              /* correlation id of a call that has not returned; 0: none */

static void request(uint8_t **buffer, size_t *size, size_t *max)
{
	const char *bytes = getenv("SELFCHECK_BUFFER");

	*size = bytes ? strtoul(bytes, NULL, 0) : 64 << 10;
	*buffer = (uint8_t *)aligned_alloc(64, (*size + 127) & ~63ul) + (getenv("SELFCHECK_ODD") ? 4 : 0);
	*max = 0;
}

static void count_gpu(size_t *n, uint64_t start, uint64_t end)
{
	++*n;
	if (!start && !end)
		zeroed++;
	else if (!end)
		unfinished++;
}

static void count(const CUpti_Activity *r)
{
	const CUpti_ActivityKernel10 *k = (const void *)r;
	const CUpti_ActivityMemcpy6 *c = (const void *)r;
	const CUpti_ActivityMemset4 *s = (const void *)r;

	switch (r->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		count_gpu(&kernels, k->start, k->end);
		early += k->correlationId == under_way;
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		count_gpu(&copies, c->start, c->end);
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		count_gpu(&sets, s->start, s->end);
		break;
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		syncs++;
		break;
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		overheads++;
		break;
	default:
		unknown++;
	}
}

static void completed(CUcontext ctx, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	CUpti_Activity *r = NULL;
	size_t n = 0;

	(void)ctx, (void)stream, (void)size;
	pthread_mutex_lock(&lock);
	buffers++;
	while (!p_cuptiActivityGetNextRecord(buffer, valid, &r))
		count(r);
	p_cuptiActivityGetNumDroppedRecords(NULL, 0, &n);
	dropped += n;
	pthread_mutex_unlock(&lock);
	free(getenv("SELFCHECK_ODD") ? buffer - 4 : buffer);
}

static void called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
	const CUpti_CallbackData *d = data;

	(void)user, (void)cbid;
	if (domain != CUPTI_CB_DOMAIN_RUNTIME_API && domain != CUPTI_CB_DOMAIN_DRIVER_API)
		return;
	if (d->callbackSite == CUPTI_API_ENTER) {
		*d->correlationData = d->correlationId;
		pthread_mutex_lock(&lock);
		under_way = d->correlationId;
		pthread_mutex_unlock(&lock);
		return;
	}
	pthread_mutex_lock(&lock);
	under_way = 0;
	if (*d->correlationData != d->correlationId)
		unbalanced++;
	domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_calls++ : driver_calls++;
	pthread_mutex_unlock(&lock);
}

static void finish(void)
{
	FILE *out = fopen(getenv("SELFCHECK_OUT") ? getenv("SELFCHECK_OUT") : "/dev/null", "w");

	p_cuptiActivityFlushAll(0);
	p_cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	fprintf(out, "kernel %zu\nmemcpy %zu\nmemset %zu\nsync %zu\noverhead %zu\nzeroed %zu\nunfinished %zu\n", kernels,
		copies, sets, syncs, overheads, zeroed, unfinished);
	fprintf(out, "unknown %zu\ndropped %zu\nruntime %zu\ndriver %zu\nunbalanced %zu\nbuffers %zu\nearly %zu\n", unknown,
		dropped, runtime_calls, driver_calls, unbalanced, buffers, early);
	fclose(out);
}

int InitializeInjection(void)
{
	static const CUpti_ActivityKind kinds[] = {
		CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
		CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_OVERHEAD,
	};
	CUpti_SubscriberHandle subscriber;
	void *lib = dlopen("libcupti.so.13", RTLD_NOW);
	const char *name;

	if (!lib)
		return 0;
#define X(fn) *(void **)&p_##fn = dlsym(lib, #fn);
	API(X)
#undef X
	if (p_cuptiSubscribe(&subscriber, called, NULL))
		return 0;
	p_cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
	p_cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
	p_cuptiActivityRegisterCallbacks(request, completed);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (p_cuptiActivityEnable(kinds[i]))
			return 0;
	if (p_cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, 211, &name) || strcmp(name, "cudaLaunchKernel_v7000"))
		return 0;
	atexit(finish);
	return 1;
}
