/*
 * SIM_REPLAY=FILE.gpraw: delivers the activity buffers that --record-raw wrote, in the order of the file.  The program's own operations
 * get no records.  The version is that of the recording.  cuptiActivityGetNextRecord() uses the recorded index, so records of any version
 * can be delivered, including kinds that the simulation does not know.
 *
 * Two things differ from the recording.  Pointers point to copies of the recorded strings; other pointers are NULL.  Times are shifted by
 * one amount, so that the earliest is now, because the client ignores records from before its start; 0 stays 0.
 */
#include "test/sim/tool.h"

#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inject/cupti/cupti_raw.h"

#define OLDEST_OWNED_NAME 184           /* in device records of this size or more, the client frees the name */

/* Offsets of the times and of the string pointer in each kind; 0: none. */
static const struct place {
	uint32_t kind;
	uint16_t times[5], text;
} places[] = {
	{ CUPTI_ACTIVITY_KIND_KERNEL, { 16, 24, 32, 120, 128 }, offsetof(CUpti_ActivityKernel10, name) },
	{ CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, { 16, 24, 32, 120, 128 }, offsetof(CUpti_ActivityKernel10, name) },
	{ CUPTI_ACTIVITY_KIND_MEMCPY, { 16, 24 }, 0 },
	{ CUPTI_ACTIVITY_KIND_MEMCPY2, { 16, 24 }, 0 },
	{ CUPTI_ACTIVITY_KIND_MEMSET, { 16, 24 }, 0 },
	{ CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, { 8, 16 }, 0 },
	{ CUPTI_ACTIVITY_KIND_OVERHEAD, { 24, 32 }, 0 },
	{ CUPTI_ACTIVITY_KIND_GRAPH_TRACE, { 8, 16 }, 0 },
	{ CUPTI_ACTIVITY_KIND_MEMORY2, { 32 }, offsetof(CUpti_ActivityMemory4, name) },
	{ CUPTI_ACTIVITY_KIND_MEMORY_POOL, { 56 }, 0 },
	{ CUPTI_ACTIVITY_KIND_JIT, { 16, 24 }, offsetof(CUpti_ActivityJit2, cachePath) },
	{ CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, { 16, 24 }, 0 },
	{ CUPTI_ACTIVITY_KIND_DEVICE, { 0 }, offsetof(CUpti_ActivityDevice5, name) },
};

/* One recorded buffer; pointers into the mapped file. */
struct played {
	const struct raw_head *head;
	const uint8_t *bytes;
	const struct raw_record *records;
	const uint8_t *strings;
	uint8_t *buffer;                /* the client's buffer, during its completion callback */
	uint32_t at;                    /* index of the record returned last */
};

static struct played *all;
static size_t n_all;
static uint64_t shift;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static enum { NOT_BEGUN, PLAYING, OVER } state;
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;

static _Noreturn void give_up(const char *why)
{
	fprintf(stderr, "sim: SIM_REPLAY=%s: %s\n", getenv("SIM_REPLAY"), why);
	abort();
}

/* ---- the file ---- */

static void split(const uint8_t *file, size_t size)
{
	for (size_t at = 0; at < size; at += all[n_all - 1].head->length) {
		const struct raw_head *head = (const void *)(file + at);
		struct played p = { .head = head, .bytes = file + at + sizeof(*head) };
		size_t data = (size_t)(size - at < sizeof(*head) ? 0 : (head->valid + 7) & ~7ull);

		if (size - at < sizeof(*head) || memcmp(head->magic, "GPRAWBUF", 8) != 0)
			give_up("no recording of activity buffers");
		if (head->length > size - at || sizeof(*head) + data + head->n_records * sizeof(*p.records) > head->length)
			give_up("the last buffer is cut off");
		if (head->truncated)
			give_up("its index or its strings are not complete");
		p.records = (const void *)(p.bytes + data);
		p.strings = (const uint8_t *)(p.records + head->n_records);
		all = realloc(all, (n_all + 1) * sizeof(*all));
		all[n_all++] = p;
	}
}

static void load(void)
{
	int fd = open(getenv("SIM_REPLAY"), O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *file;

	if (fd < 0 || fstat(fd, &st) < 0 || !st.st_size)
		give_up("cannot be read, or is empty");
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		give_up("cannot be mapped");
	split(file, (size_t)st.st_size);
}

static bool on;

static void look_for_it(void)
{
	const char *path = getenv("SIM_REPLAY");

	on = path && *path;
	if (on)
		load();
}

bool replay_on(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, look_for_it);
	return on;
}

uint32_t replay_version(void)
{
	return all[0].head->version;
}

/* ---- playing ---- */

static const struct place *place_of(uint32_t kind)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (places[i].kind == kind)
			return &places[i];
	return NULL;
}

/* Calls `see` for each time field of the buffer, whose content is in `bytes`. */
static void each_time(const struct played *p, uint8_t *bytes, void (*see)(uint8_t *time))
{
	for (uint32_t i = 0; i < p->head->n_records; i++) {
		const struct raw_record *r = &p->records[i];
		const struct place *place = place_of(r->kind);

		for (size_t k = 0; place && k < 5 && place->times[k] && place->times[k] + 8u <= r->size; k++)
			see(bytes + r->offset + place->times[k]);
	}
}

static uint64_t earliest = UINT64_MAX;

static void look(uint8_t *time)
{
	uint64_t t;

	memcpy(&t, time, sizeof(t));
	if (t && t < earliest)
		earliest = t;
}

static void move(uint8_t *time)
{
	uint64_t t;

	memcpy(&t, time, sizeof(t));
	t += t ? shift : 0;
	memcpy(time, &t, sizeof(t));
}

static char *text_of(const struct played *p, uint64_t pointer)
{
	const uint8_t *at = p->strings;

	for (uint32_t i = 0; i < p->head->n_strings; i++) {
		const struct raw_string *s = (const void *)at;

		if (s->pointer == pointer)
			return strndup((const char *)(s + 1), s->length);
		at += sizeof(*s) + ((s->length + 7) & ~7u);
	}
	return NULL;
}

/* Copies of names are never freed, as in CUPTI.  The cache holds one copy per pointer. */
static char *kept_text(const struct played *p, uint64_t pointer)
{
	static struct { uint64_t pointer; char *text; } seen[4096];
	static const struct played *of;
	size_t place = (pointer * 0x9e3779b97f4a7c15ull) >> 52;

	if (of != p)
		memset(seen, 0, sizeof(seen));
	of = p;
	if (seen[place].pointer != pointer) {
		seen[place].pointer = pointer;
		seen[place].text = text_of(p, pointer);
	}
	return seen[place].text;
}

static void put_pointer(uint8_t *field, const void *pointer)
{
	memcpy(field, &pointer, sizeof(pointer));
}

static void set_pointers(const struct played *p, uint8_t *bytes)
{
	for (uint32_t i = 0; i < p->head->n_records; i++) {
		const struct raw_record *r = &p->records[i];
		const struct place *place = place_of(r->kind);
		uint8_t *record = bytes + r->offset;
		uint64_t pointer;

		if (place && place->text && place->text + 8u <= r->size) {
			memcpy(&pointer, record + place->text, sizeof(pointer));
			put_pointer(record + place->text, r->kind == CUPTI_ACTIVITY_KIND_DEVICE && r->size >= OLDEST_OWNED_NAME ?
								  text_of(p, pointer) : kept_text(p, pointer));
		}
		/* The client frees overheadData; it does not read `source`. */
		if (r->kind == CUPTI_ACTIVITY_KIND_OVERHEAD && r->size >= sizeof(CUpti_ActivityOverhead3))
			put_pointer(record + offsetof(CUpti_ActivityOverhead3, overheadData), malloc(8));
		if (r->kind == CUPTI_ACTIVITY_KIND_MEMORY2 && r->size >= sizeof(CUpti_ActivityMemory4))
			put_pointer(record + offsetof(CUpti_ActivityMemory4, source), NULL);
	}
}

static void play_buffer(struct played *p)
{
	size_t size = 0, max = 0;

	request(&p->buffer, &size, &max);
	if (!p->buffer || size < p->head->valid)
		give_up("the client's buffer cannot take what was recorded");
	memcpy(p->buffer, p->bytes, p->head->valid);
	set_pointers(p, p->buffer);
	each_time(p, p->buffer, move);
	buffer_add_dropped(p->head->dropped);
	p->at = UINT32_MAX;
	complete(NULL, 0, p->buffer, size, p->head->valid);
	p->buffer = NULL;
}

static void *play(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < n_all; i++)
		each_time(&all[i], (uint8_t *)(uintptr_t)all[i].bytes, look);
	shift = earliest == UINT64_MAX ? 0 : cupti_now() - earliest;
	for (size_t i = 0; i < n_all; i++)
		play_buffer(&all[i]);
	pthread_mutex_lock(&lock);
	state = OVER;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

void replay_to(CUpti_BuffersCallbackRequestFunc r, CUpti_BuffersCallbackCompleteFunc c)
{
	request = r;
	complete = c;
}

void replay_begin(void)
{
	pthread_t thread;

	pthread_mutex_lock(&lock);
	if (request && state == NOT_BEGUN && !pthread_create(&thread, NULL, play, NULL)) {
		state = PLAYING;
		pthread_detach(thread);
	}
	pthread_mutex_unlock(&lock);
}

void replay_wait(void)
{
	pthread_mutex_lock(&lock);
	while (state == PLAYING)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

CUptiResult replay_next(uint8_t *buffer, CUpti_Activity **record)
{
	struct played *p = all;

	while (p < all + n_all && p->buffer != buffer)
		p++;
	if (p == all + n_all)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	p->at = *record ? p->at + 1 : 0;
	if (p->at >= p->head->n_records)
		return (CUptiResult)p->head->end;
	*record = (CUpti_Activity *)(buffer + p->records[p->at].offset);
	return CUPTI_SUCCESS;
}
