/*
 * Part of play_profiled: profiles the program with CUPTI as libkineto does, from before the first call to after the last one, and writes a
 * line for each record.
 */
#include "test/programs/play_profiler.h"

#include <cupti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_SIZE (4u << 20)          /* as in libkineto */

struct kept {
	struct kept *next;
	uint8_t *buffer;
	size_t valid;
};

static const CUpti_ActivityKind kinds[] = {
	CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER,
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *all;
static CUpti_SubscriberHandle subscriber;

static void need(CUptiResult rc, const char *what)
{
	if (rc) {
		fprintf(stderr, "play_profiled: %s answers %d\n", what, rc);
		exit(1);
	}
}
#define CUPTI(fn, ...) need(fn(__VA_ARGS__), #fn)

static void CUPTIAPI ignore(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
	(void)user, (void)domain, (void)cbid, (void)data;
}

static void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *max)
{
	*buffer = aligned_alloc(8, BUFFER_SIZE);
	*size = BUFFER_SIZE;
	*max = 0;
}

static void CUPTIAPI completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct kept *k = malloc(sizeof(*k));

	(void)context, (void)stream, (void)size;
	*k = (struct kept){ .buffer = buffer, .valid = valid };
	pthread_mutex_lock(&lock);
	k->next = all;
	all = k;
	pthread_mutex_unlock(&lock);
}

void profiler_begin(void)
{
	CUPTI(cuptiSubscribe, &subscriber, ignore, NULL);
	CUPTI(cuptiActivityRegisterCallbacks, requested, completed);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		CUPTI(cuptiActivityEnable, kinds[i]);
}

#define ull unsigned long long

static void write_kernel(FILE *f, const CUpti_ActivityKernel10 *r)
{
	fprintf(f, "kernel %llu %llu %u %u %u %u %u %llu %d %d %d %d %d %d %u %d %s\n", (ull)r->start, (ull)(r->end - r->start),
		r->correlationId, r->contextId, r->streamId, r->deviceId, r->graphId, (ull)r->graphNodeId, r->gridX, r->gridY,
		r->gridZ, r->blockX, r->blockY, r->blockZ, r->registersPerThread, r->staticSharedMemory + r->dynamicSharedMemory,
		r->name);
}

static void write_copy(FILE *f, const CUpti_ActivityMemcpy6 *r)
{
	fprintf(f, "memcpy %llu %llu %u %u %u %u %u %llu %llu %u %u %u\n", (ull)r->start, (ull)(r->end - r->start), r->correlationId,
		r->contextId, r->streamId, r->deviceId, r->graphId, (ull)r->graphNodeId, (ull)r->bytes, r->copyKind, r->srcKind,
		r->dstKind);
}

static void write_set(FILE *f, const CUpti_ActivityMemset4 *r)
{
	fprintf(f, "memset %llu %llu %u %u %u %u %u %llu %llu %u\n", (ull)r->start, (ull)(r->end - r->start), r->correlationId,
		r->contextId, r->streamId, r->deviceId, r->graphId, (ull)r->graphNodeId, (ull)r->bytes, r->memoryKind);
}

static void write_wait(FILE *f, const CUpti_ActivitySynchronization2 *r)
{
	fprintf(f, "sync %llu %llu %u %u %u %u %u\n", (ull)r->start, (ull)(r->end - r->start), r->correlationId, r->contextId,
		r->streamId, r->type, r->cudaEventId);
}

static void write_record(FILE *f, const CUpti_Activity *r)
{
	const CUpti_ActivityAPI *call = (const void *)r;

	switch (r->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		write_kernel(f, (const void *)r);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		write_copy(f, (const void *)r);
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		write_set(f, (const void *)r);
		break;
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		write_wait(f, (const void *)r);
		break;
	case CUPTI_ACTIVITY_KIND_RUNTIME:
		fprintf(f, "runtime %u %u %u\n", call->threadId, call->cbid, call->correlationId);
		break;
	default:
		break;
	}
}

void profiler_end(const char *path)
{
	FILE *f = fopen(path, "w");
	size_t dropped = 0;

	CUPTI(cuptiActivityFlushAll, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		CUPTI(cuptiActivityDisable, kinds[i]);
	CUPTI(cuptiActivityGetNumDroppedRecords, NULL, 0, &dropped);
	for (struct kept *k = all, *next; f && k; k = next) {
		CUpti_Activity *record = NULL;

		while (cuptiActivityGetNextRecord(k->buffer, k->valid, &record) == CUPTI_SUCCESS)
			write_record(f, record);
		next = k->next;
		free(k->buffer);
		free(k);
	}
	all = NULL;
	if (!f || fprintf(f, "dropped %zu\n", dropped) < 0 || fclose(f))
		need(CUPTI_ERROR_UNKNOWN, path);
	CUPTI(cuptiUnsubscribe, subscriber);
}
