/*
 * Activity buffers.  A record is written into the calling thread's buffer, or the buffer shared by all threads, when the operation is
 * submitted.  A buffer goes back to the client after it is full or flushed and its last operation has ended.  A worker thread returns full
 * buffers, and writes records of devices, contexts and streams into its own buffer.
 *
 * Records are written as CUPTI writes them: only bytes that are not 0.  If the client promises zeroed buffers (attribute
 * ZEROED_OUT_ACTIVITY_BUFFER) and gives one with other content, its records are garbage.  Without that promise the whole buffer is zeroed
 * here, on the thread that requested the buffer.
 */
#include "test/sim/release.h"
#include "test/sim/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST 256                    /* smallest buffer accepted: the longest record fits */
#define TIMES_AT 16                     /* u64 start, end; for kernels also completed */

struct buffer {
	uint8_t *data;
	size_t size, used, n, max;
	uint64_t ready;                 /* end of its last operation, ns */
	bool torn;                      /* flushed while its thread may have been writing into it */
	struct buffer *next;
};

/* The buffer being filled by one thread, by the worker, or by all threads together. */
struct lane {
	pthread_mutex_t lock;
	struct buffer *now;
	struct lane *next;
};

struct later {
	struct later *next;
	size_t size;
	uint8_t record[];
};

static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* protects the lists below */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct lane *lanes;
static struct buffer *retired;          /* closed buffers that wait for delivery */
static struct later *later, **later_end = &later;
static int delivering;
static bool worker_runs, stopping;
static uint32_t period_ms;
static struct lane shared = { .lock = PTHREAD_MUTEX_INITIALIZER }, worker_lane = { .lock = PTHREAD_MUTEX_INITIALIZER };
static __thread struct lane *own;
static __thread bool in_client;
static _Atomic size_t dropped, outstanding;
static _Atomic int completing;

bool buffer_in_client(void)
{
	return in_client;
}

bool buffer_completing(void)
{
	return completing;
}

size_t buffer_take_dropped(void)
{
	return __atomic_exchange_n((size_t *)&dropped, 0, __ATOMIC_SEQ_CST);
}

void buffer_add_dropped(size_t n)
{
	dropped += n;
}

static uint64_t env(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value && *value ? strtoull(value, NULL, 0) : otherwise;
}

static uint64_t delay_ns(void)
{
	static _Atomic uint64_t ns = UINT64_MAX;

	if (ns == UINT64_MAX)
		ns = env("SIM_DELAY_MS", 0) * 1000000;
	return ns;
}

/* ---- filling ---- */

/* The client gave no buffer.  CUPTI 12.9 and later report it with a callback; some earlier releases crash. */
static void refused(void)
{
	if (sim_release() >= RELEASE(12, 9, 0)) {
		cupti_state(CUPTI_CBID_STATE_WARNING, CUPTI_ERROR_OUT_OF_MEMORY, "the client gave no activity buffer");
		return;
	}
	fprintf(stderr, "sim: the client gave no activity buffer, which CUPTI before 12.9 may not survive\n");
	abort();
}

static void write_record(uint8_t *at, const uint8_t *record, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (record[i])
			at[i] = record[i];
}

static struct buffer *buffer_new(void)
{
	struct buffer *b;
	uint8_t *data = NULL;
	size_t size = 0, max = 0;

	if (!request || outstanding >= env("SIM_MAX_BUFFERS", SIZE_MAX))
		return NULL;
	in_client = true;
	cupti_pay();
	request(&data, &size, &max);
	in_client = false;
	if (!data) {
		refused();
		return NULL;
	}
	if ((uintptr_t)data % 8) {
		fprintf(stderr, "sim: the client gave an activity buffer that is not aligned to 8 bytes\n");
		abort();
	}
	if (size < SMALLEST) {
		fprintf(stderr, "sim: the client gave an activity buffer of %zu bytes, in which no record fits\n", size);
		abort();
	}
	if (!activity_zeroed())
		memset(data, 0, size);
	outstanding++;
	b = calloc(1, sizeof(*b));
	b->data = data;
	b->size = size;
	b->max = env("SIM_BUFFER_RECORDS", max ? max : SIZE_MAX);
	return b;
}

static void retire(struct buffer *b)
{
	pthread_mutex_lock(&lock);
	b->next = retired;
	retired = b;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static enum op_fate lane_put(struct lane *l, const void *record, size_t size, uint64_t ready)
{
	enum op_fate fate = OP_DROPPED;

	pthread_mutex_lock(&l->lock);
	if (l->now && (l->now->used + size > l->now->size || l->now->n >= l->now->max)) {
		retire(l->now);
		l->now = NULL;
	}
	if (!l->now)
		l->now = buffer_new();
	if (l->now && l->now->used + size <= l->now->size) {
		write_record(l->now->data + l->now->used, record, size);
		l->now->used += size;
		l->now->n++;
		if (ready > l->now->ready)
			l->now->ready = ready;
		fate = OP_RECORDED;
		if (l->now->n >= l->now->max) {
			retire(l->now);
			l->now = NULL;
		}
	} else {
		dropped++;
	}
	pthread_mutex_unlock(&l->lock);
	return fate;
}

static struct lane *lane_mine(void)
{
	if (!activity_per_thread())
		return &shared;
	if (!own) {
		own = calloc(1, sizeof(*own));
		pthread_mutex_init(&own->lock, NULL);
		pthread_mutex_lock(&lock);
		own->next = lanes;
		lanes = own;
		pthread_mutex_unlock(&lock);
	}
	return own;
}

enum op_fate buffer_put(const void *record, size_t size, uint64_t ready)
{
	return lane_put(lane_mine(), record, size, ready);
}

void buffer_put_later(const void *record, size_t size)
{
	struct later *l = malloc(sizeof(*l) + size);

	l->next = NULL;
	l->size = size;
	memcpy(l->record, record, size);
	pthread_mutex_lock(&lock);
	*later_end = l;
	later_end = &l->next;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void write_later_ones(void)
{
	struct later *l, *next;

	pthread_mutex_lock(&lock);
	l = later;
	later = NULL;
	later_end = &later;
	pthread_mutex_unlock(&lock);
	for (; l; l = next) {
		next = l->next;
		lane_put(&worker_lane, l->record, l->size, 0);
		free(l);
	}
}

/* ---- handing back ---- */

/* A forced flush delivers records of unfinished operations with end 0.  They are not delivered a second time. */
static void cut_unfinished(struct buffer *b)
{
	uint64_t now = cupti_now(), t[3];
	size_t at, size;

	if (b->ready <= now)
		return;
	for (at = 0; at < b->used; at += size) {
		uint32_t kind = *(uint32_t *)(b->data + at);

		size = record_size(kind);
		if (!record_has_gpu_times(kind))
			continue;
		memcpy(t, b->data + at + TIMES_AT, sizeof(t));
		if (t[1] <= now)
			continue;
		t[0] = t[0] > now ? 0 : t[0];
		t[1] = t[2] = 0;
		memcpy(b->data + at + TIMES_AT, t,
		       kind == CUPTI_ACTIVITY_KIND_KERNEL || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? 24 : 16);
	}
}

/* CUPTI does not define the order of records in a buffer.  SIM_SHUFFLE=0 keeps the order of submission. */
static void shuffle(struct buffer *b)
{
	static uint32_t seed;
	size_t *offset, n = 0, at, used = 0;
	uint8_t *copy;

	if (!seed)
		seed = (uint32_t)env("SIM_SHUFFLE", 1) * 2654435761u;
	if (!seed || b->n < 2)
		return;
	offset = malloc(b->n * sizeof(*offset));
	copy = malloc(b->used);
	memcpy(copy, b->data, b->used);
	for (at = 0; at < b->used && n < b->n; at += record_size(*(uint32_t *)(copy + at)))
		offset[n++] = at;
	for (size_t i = n - 1; i > 0; i--) {
		size_t other, was = offset[i];

		seed = seed * 1664525u + 1013904223u;
		other = (seed >> 8) % (i + 1);
		offset[i] = offset[other];
		offset[other] = was;
	}
	for (size_t i = 0; i < n; i++) {
		size_t size = record_size(*(uint32_t *)(copy + offset[i]));

		memcpy(b->data + used, copy + offset[i], size);
		used += size;
	}
	free(offset);
	free(copy);
}

/* SIM_TAIL_BYTES=N: the valid part of a buffer ends with N zero bytes that are no record; its size may be no multiple of 8. */
static size_t tail(const struct buffer *b)
{
	size_t n = env("SIM_TAIL_BYTES", 0);

	if (!b->used || n > b->size - b->used)
		return 0;
	memset(b->data + b->used, 0, n);
	return n;
}

/* SIM_EMPTY_BUFFERS=1: before each buffer an empty buffer is returned. */
static void deliver_nothing(void)
{
	uint8_t *data = NULL;
	size_t size = 0, max = 0;

	request(&data, &size, &max);
	if (data)
		complete(NULL, 0, data, size, 0);
}

static void tear(struct buffer *b)
{
	size_t last = 0, size;

	for (size_t at = 0; at < b->used; at += size) {
		last = at;
		size = record_size(*(uint32_t *)(b->data + at));
	}
	memset(b->data + last, 0xab, b->used - last);
}

static void deliver(struct buffer *b)
{
	cut_unfinished(b);
	shuffle(b);
	clock_stamp(b->data, b->used);
	if (b->torn)
		tear(b);
	in_client = true;
	completing++;
	cupti_pay();
	if (env("SIM_EMPTY_BUFFERS", 0))
		deliver_nothing();
	complete(NULL, 0, b->data, b->size, b->used + tail(b));
	completing--;
	in_client = false;
	outstanding--;
	free(b);
}

/* Takes a retired buffer that may be delivered now.  NULL: none; then *when is the time at which the first one may. */
static struct buffer *take_ready(bool forced, uint64_t *when)
{
	uint64_t now = cupti_now();

	*when = UINT64_MAX;
	for (struct buffer **at = &retired, *b; (b = *at); at = &b->next) {
		uint64_t ready = b->ready + delay_ns();

		if (forced || ready <= now) {
			*at = b->next;
			delivering++;
			return b;
		}
		if (ready < *when)
			*when = ready;
	}
	return NULL;
}

static void deliver_ready(bool forced)
{
	struct buffer *b;
	uint64_t when;

	pthread_mutex_lock(&lock);
	while ((b = take_ready(forced, &when))) {
		pthread_mutex_unlock(&lock);
		deliver(b);
		pthread_mutex_lock(&lock);
		delivering--;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
}

/*
 * Before 12.6 Update 2 a flush races with other threads that write into per-thread buffers.  Here the flush always damages the last record
 * of such a buffer, unless no kernel kind is enabled, or SIM_PER_THREAD chose the buffers instead of the client.
 */
static bool tears(const struct lane *l)
{
	return l != &shared && l != &worker_lane && l != own && !getenv("SIM_PER_THREAD") && sim_release() < RELEASE(12, 6, 80) &&
	       (kind_on[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] || kind_on[CUPTI_ACTIVITY_KIND_KERNEL]);
}

static void lane_retire(struct lane *l, bool forced)
{
	pthread_mutex_lock(&l->lock);
	if (l->now && tears(l))
		l->now->torn = true;
	if (l->now && (forced || (l->now->used && l->now->ready + delay_ns() <= cupti_now()))) {
		retire(l->now);
		l->now = NULL;
	}
	pthread_mutex_unlock(&l->lock);
}

void buffer_flush(bool forced)
{
	struct lane *l;

	write_later_ones();
	lane_retire(&shared, forced);
	lane_retire(&worker_lane, forced);
	pthread_mutex_lock(&lock);
	l = lanes;
	pthread_mutex_unlock(&lock);
	for (; l; l = l->next)          /* threads are only added, at the head */
		lane_retire(l, forced);
	deliver_ready(forced);
	pthread_mutex_lock(&lock);
	while (delivering)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

/* ---- records lost with a context ---- */

static void lose_from(struct buffer *b, uint32_t context)
{
	size_t used = 0, size;

	for (size_t at = 0; b && at < b->used; at += size) {
		uint8_t *r = b->data + at;
		uint32_t kind = *(uint32_t *)r;

		size = record_size(kind);
		if (record_has_gpu_times(kind) && record_context(r) == context) {
			b->n--;
			continue;
		}
		memmove(b->data + used, r, size);
		used += size;
	}
	if (b && used < b->used)
		memset(b->data + used, 0, b->used - used);
	if (b)
		b->used = used;
}

void buffer_lose(uint32_t context)
{
	struct lane *l;

	pthread_mutex_lock(&lock);
	for (struct buffer *b = retired; b; b = b->next)
		lose_from(b, context);
	l = lanes;
	pthread_mutex_unlock(&lock);
	for (; l; l = l->next) {
		pthread_mutex_lock(&l->lock);
		lose_from(l->now, context);
		pthread_mutex_unlock(&l->lock);
	}
	pthread_mutex_lock(&shared.lock);
	lose_from(shared.now, context);
	pthread_mutex_unlock(&shared.lock);
}

/* ---- the worker ---- */

static void *worker(void *unused)
{
	struct buffer *b;
	uint64_t when;

	(void)unused;
	pthread_mutex_lock(&lock);
	while (!stopping) {
		struct timespec until;

		if (later) {
			pthread_mutex_unlock(&lock);
			write_later_ones();
			pthread_mutex_lock(&lock);
			continue;
		}
		b = take_ready(false, &when);
		if (b) {
			pthread_mutex_unlock(&lock);
			deliver(b);
			pthread_mutex_lock(&lock);
			delivering--;
			pthread_cond_broadcast(&changed);
			continue;
		}
		if (period_ms && when > cupti_now() + (uint64_t)period_ms * 1000000)
			when = cupti_now() + (uint64_t)period_ms * 1000000;
		if (when == UINT64_MAX) {
			pthread_cond_wait(&changed, &lock);
			continue;
		}
		until = (struct timespec){ (time_t)(when / 1000000000u), (long)(when % 1000000000u) };
		pthread_cond_timedwait(&changed, &lock, &until);
	}
	worker_runs = false;
	pthread_mutex_unlock(&lock);
	return NULL;
}

void buffer_callbacks(CUpti_BuffersCallbackRequestFunc r, CUpti_BuffersCallbackCompleteFunc c)
{
	pthread_t thread;

	pthread_mutex_lock(&lock);
	request = r;
	complete = c;
	stopping = false;
	if (!worker_runs && !pthread_create(&thread, NULL, worker, NULL)) {
		worker_runs = true;
		pthread_detach(thread);
	}
	pthread_mutex_unlock(&lock);
}

void buffer_period(uint32_t ms)
{
	pthread_mutex_lock(&lock);
	period_ms = ms;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void buffer_stop(void)
{
	pthread_mutex_lock(&lock);
	stopping = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}
