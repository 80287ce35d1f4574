/*
 * The smallest CUPTI client, as CUDA_INJECTION64_PATH: what a launch costs when CUPTI is used and nothing is done with what it says.
 * GPU_CHECK_CLIENT has words with blanks between them:
 *
 *	subscribe         subscribes and enables nothing (so do all that follow)
 *	callback          an empty callback on the API calls that gprof-run records
 *	domain            an empty callback on all runtime and driver calls
 *	process-buffers   activity buffers are the process's, not each thread's (the default since 13.0)
 *	zeroed            attribute 5: buffers are handed out zeroed, and CUPTI clears none
 *	count             counts records by kind ("records.KIND N"); without it buffers come back unread
 *	kind=N            enables activity kind N; may stand several times
 *
 * At the end "word result" lines and the bytes of records that came go to the file GPU_CHECK_REPORT.
 */
#include "client.h"

#include <stdatomic.h>
#include <stdbool.h>

#define API(X)                                                                                                   \
	X(cuptiGetVersion) X(cuptiSubscribe) X(cuptiEnableCallback) X(cuptiEnableDomain) X(cuptiActivityRegisterCallbacks) \
	X(cuptiActivityEnable) X(cuptiActivityFlushAll) X(cuptiActivityGetNumDroppedRecords) X(cuptiActivitySetAttribute) \
	X(cuptiActivityGetNextRecord)

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
#include "inject/cupti/cupti_calls.def"
#undef CUPTI_CALL
};

static CUpti_SubscriberHandle subscriber;
static atomic_ullong bytes, buffers;
#define KINDS 128
static atomic_ullong records[KINDS];
static bool counting, zeroed;

static void called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
	(void)user, (void)domain, (void)cbid, (void)data;
}

static void request(uint8_t **buffer, size_t *size, size_t *max)
{
	*size = BUFFER_SIZE;
	*buffer = zeroed ? calloc(1, BUFFER_SIZE) : aligned_alloc(4096, BUFFER_SIZE);
	*max = 0;
}

static void completed(CUcontext ctx, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	CUpti_Activity *record = NULL;

	(void)ctx, (void)stream, (void)size;
	while (counting && p_cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
		atomic_fetch_add(&records[record->kind < KINDS ? record->kind : 0], 1);
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
	for (int i = 0; i < KINDS; i++)
		if (records[i])
			client_report("records.%d %llu", i, (unsigned long long)records[i]);
}

static void enable_calls(void)
{
	int refused = 0;

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		refused += p_cuptiEnableCallback(1, subscriber, calls[i].domain, calls[i].cbid) != CUPTI_SUCCESS;
	client_report("callback 0 refused=%d", refused);
}

static int set(CUpti_ActivityAttribute attribute, uint8_t value)
{
	size_t size = sizeof value;

	return p_cuptiActivitySetAttribute(attribute, &size, &value);
}

static void enable(const char *word)
{
	if (strcmp(word, "callback") == 0) {
		enable_calls();
	} else if (strcmp(word, "domain") == 0) {
		client_report("domain %d", p_cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
		client_report("domain %d", p_cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API));
	} else if (strcmp(word, "process-buffers") == 0) {
		client_report("%s %d", word, set(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, 0));
	} else if (strcmp(word, "zeroed") == 0) {
		zeroed = true;
		client_report("%s %d", word, set(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 1));
	} else if (strcmp(word, "count") == 0) {
		counting = true;
	} else if (strncmp(word, "kind=", 5) == 0) {
		client_report("%s %d", word, p_cuptiActivityEnable((CUpti_ActivityKind)atoi(word + 5)));
	}
}

int InitializeInjection(void)
{
	const char *words = getenv("GPU_CHECK_CLIENT");
	void *library = client_open_cupti();
	uint32_t version = 0;
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
	p_cuptiGetVersion(&version);
	client_report("version %u", version);
	p_cuptiActivityRegisterCallbacks(request, completed);
	snprintf(copy, sizeof copy, "%s", words ? words : "");
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		enable(word);
	atexit(finish);
	return 1;
}
