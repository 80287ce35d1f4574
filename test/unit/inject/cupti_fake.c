#include "test/unit/inject/cupti_fake.h"

#include <string.h>
#include <unistd.h>

#include "inject/cupti/cupti_activity.h"
#include "inject/cupti/cupti_api.h"
#include "inject/cupti/cupti_buffers.h"
#include "inject/process/lifecycle.h"

const struct cupti_version cupti_versions[] = {
	{ 13, 160, 72, 80, 72, 40, 40 },        /* 11.0 */
	{ 14, 160, 80, 88, 80, 40, 40 },        /* 11.1 */
	{ 15, 168, 80, 88, 80, 40, 40 },        /* 11.2 .. 11.4 */
	{ 16, 168, 80, 88, 80, 40, 40 },        /* 11.5 */
	{ 17, 176, 88, 96, 88, 40, 40 },        /* 11.6, 11.7 */
	{ 18, 200, 88, 96, 88, 40, 40 },        /* 11.8 */
	{ 19, 208, 88, 96, 88, 40, 40 },        /* 12.0, 12.1 */
	{ 20, 208, 88, 96, 88, 40, 48 },        /* 12.2 */
	{ 22, 208, 88, 96, 88, 40, 56 },        /* 12.4 */
	{ 24, 208, 88, 96, 88, 40, 56 },        /* 12.6 */
	{ 26, 208, 96, 96, 88, 56, 56 },        /* 12.8 */
	{ 28, 208, 96, 96, 88, 56, 56 },        /* 12.9 U1 */
	{ 130000, 216, 96, 96, 88, 56, 56 },    /* 13.0 */
	{ 130001, 216, 96, 96, 88, 56, 56 },
	{ 130101, 224, 96, 96, 88, 56, 56 },    /* 13.1, 13.2: from here on longer than what we read */
	{ 130301, 232, 96, 96, 88, 56, 56 },
	{ 130401, 248, 112, 96, 104, 56, 56 },
	{ 130500, 248, 112, 96, 104, 56, 56 },
};
const size_t n_cupti_versions = sizeof cupti_versions / sizeof *cupti_versions;

uint64_t health(enum health_reason reason)
{
	return guest->arena->health[reason].count;
}

#define MAX_FAKE 16384

struct cupti_fake_state cupti_fake_state;

static uint8_t *buffer;
static size_t buffer_size, used, tail;
static size_t starts[MAX_FAKE];
static size_t n_put, at_record;

/* The real one is of lifecycle.c, whose interposed _exit() is not for a test program. */
void lifecycle_at_exit(void)
{
}

static int get_next_record(uint8_t *from, size_t valid, uint8_t **record)
{
	if (!*record)
		at_record = 0;
	else if (!cupti_fake_state.stand_still)
		at_record++;
	if (at_record >= n_put)
		return valid <= used - tail ? RESULT_MAX_LIMIT : RESULT_INVALID_KIND;
	*record = from + starts[at_record];
	return RESULT_OK;
}

static int get_num_dropped(void *context, uint32_t stream, size_t *dropped)
{
	(void)context;
	(void)stream;
	*dropped = cupti_fake_state.dropped;
	cupti_fake_state.dropped = 0;
	return RESULT_OK;
}

static int flush_all(uint32_t flag)
{
	while (__atomic_load_n(&cupti_fake_state.hang, __ATOMIC_ACQUIRE))
		usleep(1000);
	__atomic_fetch_add(flag ? &cupti_fake_state.forced : &cupti_fake_state.flushes, 1, __ATOMIC_RELAXED);
	return RESULT_OK;
}

static int get_callback_name(int domain, uint32_t cbid, const char **name)
{
	cupti_fake_state.names_asked++;
	*name = domain == DOMAIN_RUNTIME && cbid == 211 ? "cudaLaunchKernel_v7000" :
		domain == DOMAIN_DRIVER && cbid == 307 ? "cuLaunchKernel" : NULL;
	return *name ? RESULT_OK : 1;
}

void cupti_fake(uint32_t version)
{
	fake_session(8, 32);
	stream_self.scratch = 0;
	cupti_fake_state = (struct cupti_fake_state){ 0 };
	cupti_api_forget();
	memset(&tracer, 0, sizeof tracer);
	tracer.fn.ActivityGetNextRecord = get_next_record;
	tracer.fn.ActivityGetNumDroppedRecords = get_num_dropped;
	tracer.fn.ActivityFlushAll = flush_all;
	tracer.fn.GetCallbackName = get_callback_name;
	tracer.version = version;
	tracer.pid = getpid();
	tracer.state = TRACER_UP;
	tracer.ready = 1;
	cupti_layouts_choose(&tracer.layout, version);
	cupti_buffers_forget();
	cupti_buffers_init(4);
	buffer = NULL;
	used = n_put = tail = 0;
	gate_now();
}

uint8_t *cupti_fake_record(uint32_t kind, uint32_t size)
{
	uint8_t *record;
	size_t max;

	if (!buffer)
		cupti_buffers_request(&buffer, &buffer_size, &max);
	record = buffer + used;
	memset(record, 0, size);
	put32(record, 0, kind);
	starts[n_put++] = used;
	used += size;
	return record;
}

void cupti_fake_tail(uint32_t n, int byte)
{
	memset(buffer + used, byte, n);
	used += n;
	tail = n;
}

void cupti_fake_deliver(void)
{
	cupti_activity_complete(NULL, 0, buffer, buffer_size, used);
	buffer = NULL;
	used = n_put = tail = 0;
}

void put64(uint8_t *record, unsigned offset, uint64_t value)
{
	memcpy(record + offset, &value, sizeof value);
}

void put32(uint8_t *record, unsigned offset, uint32_t value)
{
	memcpy(record + offset, &value, sizeof value);
}

void put16(uint8_t *record, unsigned offset, uint16_t value)
{
	memcpy(record + offset, &value, sizeof value);
}
