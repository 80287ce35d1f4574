/*
 * Random records and buffers: decoding must not read outside them.  A single record has an exact allocation, for AddressSanitizer; a buffer
 * ends at an inaccessible page.  GPROF_FUZZ=N: N times as many.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "inject/cupti/cupti_activity.h"
#include "inject/cupti/cupti_buffers.h"
#include "inject/cupti/cupti_rows.h"
#include "test/unit/inject/cupti_fake.h"
#include "test/unit/test.h"

#define LONGEST 320u
#define PAGE 4096u

/* Of these the kinds that are read, one that is not, and nonsense. */
static const uint32_t kinds[] = { 1, 2, 3, 8, 9, 10, 17, 22, 25, 36, 37, 38, 45, 49, 50, 51, 52, 53, 0, 4242, 0xffffffff };
#define N_KINDS (sizeof kinds / sizeof *kinds)

static const char name[] = "_Z4spinv";
static uint32_t seed;

static uint32_t any(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static unsigned rounds(unsigned n)
{
	const char *times = getenv("GPROF_FUZZ");

	return times && atoi(times) > 0 ? n * (unsigned)atoi(times) : n;
}

/* What is a pointer in a record that is long enough stays one. */
static void put_pointer(uint8_t *record, size_t size, unsigned offset, const void *pointer)
{
	if (size >= offset + 8u)
		put64(record, offset, any(3) ? (uintptr_t)pointer : 0);
}

static void fill(uint8_t *record, size_t size)
{
	uint32_t kind = kinds[any(N_KINDS)];

	for (size_t i = 0; i < size; i++)
		record[i] = any(4) ? (uint8_t)any(256) : any(2) ? 0 : 0xff;
	put32(record, 0, kind);
	if (kind == 3 || kind == 10)
		put_pointer(record, size, 104, name);
	if (kind == 49)
		put_pointer(record, size, 64, name);
	if (kind == 52)
		put_pointer(record, size, 56, name);
	if (kind == 8)                  /* may be freed: nothing, or what lives on */
		put64(record, size >= 144 ? 136 : 0, size >= 184 ? 0 : size >= 144 ? (uintptr_t)name : kind);
	if (kind == 17 && size >= 56)
		put64(record, 48, 0);
}

static uint32_t version(void)
{
	return cupti_versions[any((uint32_t)n_cupti_versions)].version;
}

TEST(no_record_of_any_kind_and_size_is_read_beyond_its_end)
{
	struct cupti_pass p;

	for (seed = 1; seed < rounds(20); seed += 2) {
		uint32_t start = seed;

		cupti_fake(version());
		cupti_pass_init(&p, stream_enter());
		for (unsigned i = 0; i < 500; i++) {
			size_t size = 8 + (any(4) ? any(40) * 8 : any(LONGEST));
			uint8_t *record = malloc(size);

			fill(record, size);
			cupti_pass_record(&p, record, size);
			free(record);
		}
		stream_leave(p.s);
		CHECK(p.unknown > 0);
		seed = start;
	}
}

/* ---- whole buffers, and a library that walks over them as it likes ---- */

static size_t steps[512];
static size_t n_steps, at_step;

static int walk(uint8_t *buffer, size_t valid, uint8_t **record)
{
	(void)valid;
	if (!*record)
		at_step = 0;
	if (at_step >= n_steps)
		return any(2) ? RESULT_MAX_LIMIT : 13;
	*record = buffer + steps[at_step++];
	return RESULT_OK;
}

/* Mostly where records are; sometimes back, to the same place, between two, behind the end. */
static void choose_steps(size_t valid)
{
	size_t at = 0;

	for (n_steps = 0; n_steps < 512 && at < valid; n_steps++) {
		steps[n_steps] = any(200) ? at : any(3) ? any((uint32_t)valid + 64) : valid + any(1 << 20);
		at += 8 + any(40) * 8;
	}
}

static bool has_pointers(uint32_t kind)
{
	return kind == 3 || kind == 8 || kind == 10 || kind == 17 || kind == 49 || kind == 52;
}

/* Wherever the library points, there is no record with a pointer: it would be one to nowhere. */
static void without_pointers(uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i + 4 <= n; i++)
		if (has_pointers(at32(bytes + i, 0)))
			bytes[i + 3] = 0xff;
}

TEST(a_buffer_of_nonsense_is_not_read_beyond_its_end_and_comes_back)
{
	for (unsigned round = 0; round < rounds(100); round++) {
		size_t size, max, valid;
		uint8_t *buffer = NULL, *end;

		seed = 77 + round;
		cupti_fake(version());
		tracer.fn.ActivityGetNextRecord = walk;
		cupti_buffers_request(&buffer, &size, &max);
		if (!CHECK(buffer != NULL))
			return;
		end = (uint8_t *)((uintptr_t)(buffer + size) & -(uintptr_t)PAGE) - PAGE;
		valid = 256 + any(16384);
		if (valid % 8 && any(2))
			valid &= ~7ul;
		/* The records end where the page begins, so the buffer is taken to begin later than it does. */
		memset(end - valid, 0, valid);
		choose_steps(valid);
		for (size_t i = 0; i < n_steps; i++) {
			size_t room = steps[i] < valid ? valid - steps[i] : 0;

			if (room >= 8)
				fill(end - valid + steps[i], room < LONGEST ? room : LONGEST);
		}
		without_pointers(end - valid, valid);
		mprotect(end, PAGE, PROT_NONE);
		cupti_activity_complete(NULL, 0, end - valid, valid, valid);
		mprotect(end, PAGE, PROT_READ | PROT_WRITE);
		CHECK_EQ(cupti_buffers_out(), 0);
	}
}
