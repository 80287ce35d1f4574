/*
 * FOLDER/PID.gpraw: what CUPTI delivered, byte for byte.  Buffers in order of delivery, each appended by one write, so that a kill leaves
 * whole ones (the last may be cut: its length says so).  Little endian, everything aligned to 8:
 *
 *	struct raw_head
 *	`valid` bytes as CUPTI wrote them, padded to 8
 *	n_records times struct raw_record: offset and size of each record, as the library's walk found them
 *	n_strings times struct raw_string and its bytes: the strings that pointers in the records point to
 *
 * Pointers in the bytes are valid in the recorded process only; replay replaces them by its own.  Of the compiler cache's folder only the
 * last component is stored: recordings are given away, and the rest names a user.
 */
#include "inject/cupti/cupti_raw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "inject/core/health.h"
#include "inject/core/memory.h"
#include "inject/core/seccomp.h"
#include "inject/core/session.h"
#include "inject/cupti/cupti.h"
#include "inject/cupti/cupti_buffers.h"
#include "inject/cupti/cupti_walk.h"

#define MAX_RECORDS 65536u              /* 1 MiB has at most so many records of 16 bytes */
#define STRING_ROOM (3u << 20)
#define SEEN 4096u                      /* cache of pointers; when two collide, a string may be stored twice */
#define MAX_STRING 32000u

struct raw_scratch {
	struct raw_record records[MAX_RECORDS];
	uint64_t seen[SEEN];
	char strings[STRING_ROOM];
	char path[CONFIG_TEXT + 32];
};

struct raw {
	struct raw_head head;
	struct raw_scratch *scratch;
	size_t string_bytes;
};

static bool seen_before(struct raw_scratch *s, uint64_t pointer)
{
	uint64_t *place = &s->seen[(pointer * 0x9e3779b97f4a7c15ull) >> 52];
	bool seen = *place == pointer;

	*place = pointer;
	return seen;
}

static void add_string(struct raw *raw, uint64_t pointer, bool is_path)
{
	const char *text = (const char *)(uintptr_t)pointer, *slash;
	struct raw_string *out = (struct raw_string *)(raw->scratch->strings + raw->string_bytes);
	size_t n, padded;

	if (!pointer || seen_before(raw->scratch, pointer))
		return;
	slash = is_path ? strrchr(text, '/') : NULL;
	text = slash ? slash + 1 : text;
	n = strnlen(text, MAX_STRING);
	padded = (n + 7) & ~(size_t)7;
	if (raw->string_bytes + sizeof *out + padded > STRING_ROOM) {
		raw->head.truncated = 1;
		return;
	}
	*out = (struct raw_string){ .pointer = pointer, .length = (uint32_t)n };
	memcpy(out + 1, text, n);
	raw->string_bytes += sizeof *out + padded;
	raw->head.n_strings++;
}

static void add_record(struct raw *raw, const uint8_t *buffer, const uint8_t *record, uint32_t size)
{
	uint32_t kind = at32(record, 0);

	if (raw->head.n_records == MAX_RECORDS) {
		raw->head.truncated = 1;
		return;
	}
	raw->scratch->records[raw->head.n_records++] = (struct raw_record){
		.offset = (uint32_t)(record - buffer), .kind = kind, .size = size,
	};
	if ((kind == KIND_KERNEL || kind == KIND_CONCURRENT_KERNEL) && size >= KERNEL_NAME + 8)
		add_string(raw, at64(record, KERNEL_NAME), false);
	if (kind == KIND_DEVICE && size >= DEVICE_NAME + 8)
		add_string(raw, at64(record, DEVICE_NAME), false);
	if (kind == KIND_MEMORY && size >= MEMORY_NAME + 8)
		add_string(raw, at64(record, MEMORY_NAME), false);
	if (kind == KIND_JIT && size >= JIT_CACHE_PATH + 8)
		add_string(raw, at64(record, JIT_CACHE_PATH), true);
}

static void add_records(struct raw *raw, uint8_t *buffer, size_t valid)
{
	struct cupti_walk walk;
	uint8_t *r;
	size_t size;

	cupti_walk_begin(&walk, buffer, valid);
	while (cupti_walk(&walk, &r, &size))
		add_record(raw, buffer, r, (uint32_t)size);
	raw->head.end = walk.result == WALK_STRAYED ? RESULT_OK : walk.result;
}

static int write_out(struct raw *raw, const uint8_t *buffer)
{
	static const char zeroes[8];
	size_t valid = raw->head.valid;
	struct iovec parts[] = {
		{ &raw->head, sizeof raw->head },
		{ (void *)(uintptr_t)buffer, valid },
		{ (void *)(uintptr_t)zeroes, -valid & 7 },
		{ raw->scratch->records, raw->head.n_records * sizeof *raw->scratch->records },
		{ raw->scratch->strings, raw->string_bytes },
	};
	char *path = raw->scratch->path;
	ssize_t written;
	int fd;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		raw->head.length += parts[i].iov_len;
	snprintf(path, sizeof raw->scratch->path, "%s/%d.gpraw", guest->config.record_raw, session_real_pid());
	errno = EPERM;
	fd = !seccomp_allows(SECCOMP_FILE) ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -1;
	written = writev(fd, parts, sizeof parts / sizeof *parts);
	if (written >= 0 && written < (ssize_t)raw->head.length)
		errno = ENOSPC;
	if (written != (ssize_t)raw->head.length) {
		int e = errno;

		close(fd);
		errno = e;
		return -1;
	}
	return close(fd);
}

void cupti_raw_append(uint8_t *buffer, size_t size, size_t valid, uint64_t dropped)
{
	static uint64_t sequence;
	struct raw raw = {
		.head = {
			.magic = "GPRAWBUF",
			.sequence = __atomic_add_fetch(&sequence, 1, __ATOMIC_RELAXED),
			.version = tracer.version,
			.thread = (uint32_t)syscall(SYS_gettid),
			.requested = cupti_buffers_asked(buffer),
			.completed = clock_ns(CLOCK_REALTIME),
			.completed_mono = clock_ns(CLOCK_MONOTONIC),
			.size = size,
			.valid = valid,
			.dropped = dropped,
		},
	};

	raw.scratch = memory_map_file(sizeof *raw.scratch, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (!raw.scratch) {
		health_note(HEALTH_raw_failed, "not enough memory for the index of a buffer's records");
		return;
	}
	add_records(&raw, buffer, valid);
	if (write_out(&raw, buffer) < 0)
		health_note(HEALTH_raw_failed, "%s: %m", guest->config.record_raw);
	munmap(raw.scratch, sizeof *raw.scratch);
}
