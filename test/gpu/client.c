/*
 * The smallest CUPTI client, as CUDA_INJECTION64_PATH: what a launch costs when CUPTI is used and nothing is done with what it says.
 * GPU_CHECK_CLIENT has words with blanks between them:
 *
 *	subscribe         subscribes and enables nothing (so do all that follow)
 *	callback          an empty callback on the API calls that gprof-run records
 *	domain            an empty callback on all runtime and driver calls
 *	process-buffers   activity buffers are the process's, not each thread's (the default since 13.0)
 *	kind=N            enables activity kind N; may stand several times.  Buffers come back unread.
 *
 * At the end "word result" lines and the bytes of records that came go to the file GPU_CHECK_REPORT.
 */
#include "client.h"

#include <stdatomic.h>

#define API(X)                                                                                                   \
	X(cuptiSubscribe) X(cuptiEnableCallback) X(cuptiEnableDomain) X(cuptiActivityRegisterCallbacks)              \
	X(cuptiActivityEnable) X(cuptiActivityFlushAll) X(cuptiActivityGetNumDroppedRecords) X(cuptiActivitySetAttribute)

API(CLIENT_POINTER)

#define BUFFER_SIZE (1u << 20)          /* as gprof-run's */

int InitializeInjection(void);

/* The calls that gprof-run has a callback on: its own table. */
#define DOMAIN_DRIVER CUPTI_CB_DOMAIN_DRIVER_API
#define DOMAIN_RUNTIME CUPTI_CB_DOMAIN_RUNTIME_API
static const struct {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId cbid;
} calls[] = {
#define CUPTI_CALL(domain, cbid, class, name) { DOMAIN_##domain, cbid },
#include "inject/cupti_calls.def"
#undef CUPTI_CALL
};

static CUpti_SubscriberHandle subscriber;
static atomic_ullong bytes, buffers;

static void called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
	(void)user, (void)domain, (void)cbid, (void)data;
}

static void request(uint8_t **buffer, size_t *size, size_t *max)
{
	*size = BUFFER_SIZE;
	*buffer = aligned_alloc(4096, BUFFER_SIZE);
	*max = 0;
}

static void completed(CUcontext ctx, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)ctx, (void)stream, (void)size;
	atomic_fetch_add(&bytes, valid);
	atomic_fetch_add(&buffers, 1);
	free(buffer);
}

static void finish(void)
{
	size_t dropped = 0;

	p_cuptiActivityFlushAll(0);
	p_cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	p_cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
	client_report("bytes %llu", (unsigned long long)bytes);
	client_report("buffers %llu", (unsigned long long)buffers);
	client_report("dropped %zu", dropped);
}

static void enable_calls(void)
{
	int refused = 0;

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		refused += p_cuptiEnableCallback(1, subscriber, calls[i].domain, calls[i].cbid) != CUPTI_SUCCESS;
	client_report("callback 0 refused=%d", refused);
}

static int use_process_buffers(void)
{
	uint8_t per_thread = 0;
	size_t size = sizeof per_thread;

	return p_cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &per_thread);
}

static void enable(const char *word)
{
	if (strcmp(word, "callback") == 0) {
		enable_calls();
	} else if (strcmp(word, "domain") == 0) {
		client_report("domain %d", p_cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
		client_report("domain %d", p_cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API));
	} else if (strcmp(word, "process-buffers") == 0) {
		client_report("%s %d", word, use_process_buffers());
	} else if (strncmp(word, "kind=", 5) == 0) {
		client_report("%s %d", word, p_cuptiActivityEnable((CUpti_ActivityKind)atoi(word + 5)));
	}
}

int InitializeInjection(void)
{
	const char *words = getenv("GPU_CHECK_CLIENT");
	void *library = client_open_cupti();
	char copy[200];
	int rc;

	if (!library) {
		client_report("cupti %s", dlerror());
		return 1;
	}
	API(CLIENT_BIND)
	rc = p_cuptiSubscribe(&subscriber, called, NULL);
	client_report("subscribe %d", rc);
	if (rc)
		return 1;
	p_cuptiActivityRegisterCallbacks(request, completed);
	snprintf(copy, sizeof copy, "%s", words ? words : "");
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		enable(word);
	atexit(finish);
	return 1;
}
