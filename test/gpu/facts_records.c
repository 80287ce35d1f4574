#include "facts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "client.h"

#define KINDS 80
#define LAUNCHES 65536u                 /* correlation ids of facts.cu stay below: it and its start make some thousand calls */
#define THREADS 16
#define SYNC_TYPES 8

static struct {
	uint64_t records[KINDS];
	uint32_t size[KINDS];           /* distance to the next record in a buffer, 0: never followed by one */
	uint64_t sync[SYNC_TYPES], unfinished, twice, buffers;
	int threads[THREADS];           /* that delivered buffers */
	int n_threads;
} seen;

static struct launch {
	int64_t enter, exit, start;     /* CLOCK_REALTIME; the kernel's by CUPTI */
	uint32_t runtime, driver, kernels;
	bool unfinished;
} launches[LAUNCHES];

static __thread uint32_t outer;         /* correlation id of the runtime call under way */
static atomic_uint nested, nested_same;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUptiResult (*next_record)(uint8_t *, size_t, CUpti_Activity **);

void records_bind(CUptiResult (*next)(uint8_t *, size_t, CUpti_Activity **))
{
	next_record = next;
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

void calls_saw(bool runtime, CUpti_CallbackId cbid, const CUpti_CallbackData *d)
{
	struct launch *launch = &launches[d->correlationId % LAUNCHES];

	(void)cbid;
	if (d->callbackSite != CUPTI_API_ENTER) {
		launch->exit = now();
		if (runtime)
			outer = 0;
		return;
	}
	if (runtime) {
		outer = d->correlationId;
		launch->runtime++;
		launch->enter = now();
	} else {
		launch->driver++;
		if (outer) {
			atomic_fetch_add(&nested, 1);
			atomic_fetch_add(&nested_same, d->correlationId == outer);
		} else {
			launch->enter = now();
		}
	}
}

void records_request(uint8_t **buffer, size_t *size, size_t *max)
{
	*size = 256 << 10;
	*buffer = aligned_alloc(4096, *size);
	*max = 0;
}

static void take_kernel(const CUpti_ActivityKernel10 *k)
{
	struct launch *launch = &launches[k->correlationId % LAUNCHES];

	if (!k->end) {
		seen.unfinished++;
		launch->unfinished = true;
	} else {
		seen.twice += launch->unfinished;
		launch->start = (int64_t)k->start;
	}
	launch->kernels++;
}

static void take(const CUpti_Activity *r)
{
	const CUpti_ActivitySynchronization2 *sync = (const void *)r;

	if ((unsigned)r->kind < KINDS)
		seen.records[r->kind]++;
	if (r->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
		take_kernel((const void *)r);
	else if (r->kind == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION && (unsigned)sync->type < SYNC_TYPES)
		seen.sync[sync->type]++;
}

static void take_thread(void)
{
	int me = (int)syscall(SYS_gettid);

	for (int i = 0; i < seen.n_threads; i++)
		if (seen.threads[i] == me)
			return;
	if (seen.n_threads < THREADS)
		seen.threads[seen.n_threads++] = me;
}

void records_completed(CUcontext ctx, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	CUpti_Activity *r = NULL, *before = NULL;

	(void)ctx, (void)stream, (void)size;
	pthread_mutex_lock(&lock);
	seen.buffers++;
	take_thread();
	while (next_record(buffer, valid, &r) == CUPTI_SUCCESS) {
		if (before && (unsigned)before->kind < KINDS)
			seen.size[before->kind] = (uint32_t)((char *)r - (char *)before);
		take(r);
		before = r;
	}
	pthread_mutex_unlock(&lock);
	free(buffer);
}

uint64_t records_total(void)
{
	uint64_t n = 0;

	pthread_mutex_lock(&lock);
	for (int kind = 0; kind < KINDS; kind++)
		n += seen.records[kind];
	pthread_mutex_unlock(&lock);
	return n;
}

uint64_t records_unfinished(void)
{
	uint64_t n;

	pthread_mutex_lock(&lock);
	n = seen.unfinished;
	pthread_mutex_unlock(&lock);
	return n;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* From the begin of a launch's call to the start of its kernel: below 0 is an error of a clock. */
static void report_delays(void)
{
	static int64_t delay[LAUNCHES];
	size_t n = 0, early = 0, unmatched = 0;

	for (size_t i = 0; i < LAUNCHES; i++) {
		const struct launch *launch = &launches[i];

		unmatched += launch->kernels && !launch->enter;
		if (!launch->enter || !launch->start)
			continue;
		delay[n] = launch->start - launch->enter;
		early += delay[n++] < 0;
	}
	client_report("correlation.kernels_without_call %zu", unmatched);
	client_report("correlation.kernels_with_call %zu", n);
	client_report("delay.before_call %zu", early);
	if (n == 0)
		return;
	qsort(delay, n, sizeof *delay, by_value);
	client_report("delay.least %lld", (long long)delay[0]);
	client_report("delay.median %lld", (long long)delay[n / 2]);
	client_report("delay.most %lld", (long long)delay[n - 1]);
}

/* What the headers say that this was built with: right for a library of the same version. */
static void report_header(void)
{
	client_report("header.version %d", CUPTI_API_VERSION);
	client_report("header.%d %zu", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, sizeof(CUpti_ActivityKernel10));
	client_report("header.%d %zu", CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, sizeof(CUpti_ActivitySynchronization2));
	client_report("header.%d %zu", CUPTI_ACTIVITY_KIND_OVERHEAD, sizeof(CUpti_ActivityOverhead3));
	client_report("header.%d %zu", CUPTI_ACTIVITY_KIND_DEVICE, sizeof(CUpti_ActivityDevice5));
	client_report("header.%d %zu", CUPTI_ACTIVITY_KIND_CONTEXT, sizeof(CUpti_ActivityContext3));
	client_report("header.%d %zu", CUPTI_ACTIVITY_KIND_STREAM, sizeof(CUpti_ActivityStream));
}

void records_report(void)
{
	report_header();
	pthread_mutex_lock(&lock);
	for (int kind = 0; kind < KINDS; kind++)
		if (seen.records[kind])
			client_report("records.%d %llu size=%u", kind, (unsigned long long)seen.records[kind], seen.size[kind]);
	for (int type = 0; type < SYNC_TYPES; type++)
		if (seen.sync[type])
			client_report("sync.%d %llu", type, (unsigned long long)seen.sync[type]);
	client_report("correlation.nested %u", atomic_load(&nested));
	client_report("correlation.nested_same %u", atomic_load(&nested_same));
	report_delays();
	client_report("flush.delivered_again %llu", (unsigned long long)seen.twice);
	client_report("complete.buffers %llu", (unsigned long long)seen.buffers);
	client_report("complete.threads %d main=%d", seen.n_threads, seen.n_threads && seen.threads[0] == getpid());
	pthread_mutex_unlock(&lock);
}
