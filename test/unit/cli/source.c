#include "cli/import/bytes/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "test/unit/test.h"
#include "trace/file.h"

#define MUCH (60u << 20)

static char path[] = "/tmp/gprof-unit-source-XXXXXX";

static void put_file(const void *data, size_t n)
{
	int fd;

	strcpy(path + sizeof path - 7, "XXXXXX");
	fd = mkstemp(path);
	CHECK(fd >= 0 && write(fd, data, n) == (ssize_t)n);
	close(fd);
}

/* Eight bytes that say where they stand. */
static void put_places(uint8_t *to, size_t n)
{
	for (size_t i = 0; i + 8 <= n; i += 8)
		memcpy(to + i, &(uint64_t){ i * 0x9e3779b97f4a7c15 >> 20 }, 8);
}

static bool are_places(const uint8_t *base, size_t from, size_t to)
{
	for (size_t i = (from + 7) & ~(size_t)7; i + 8 <= to; i += 8)
		if (memcmp(base + i, &(uint64_t){ i * 0x9e3779b97f4a7c15 >> 20 }, 8) != 0)
			return false;
	return true;
}

/* Bytes of the first n that this process has memory for: of a mapped file mincore() tells what the kernel has. */
static size_t resident(const uint8_t *base, size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = n / page, count = 0;
	uint64_t *of = calloc(pages + 1, sizeof *of);
	int fd = open("/proc/self/pagemap", O_RDONLY);

	CHECK(fd >= 0 && pread(fd, of, pages * 8, (off_t)((uintptr_t)base / page * 8)) == (ssize_t)(pages * 8));
	for (size_t i = 0; i < pages; i++)
		count += of[i] >> 63;
	close(fd);
	free(of);
	return count * page;
}

struct reading {
	size_t bytes, resident;
	char trouble[80];
};

/* Reads the file as the scanner does, but holds on to the last `held` bytes; removes it. */
static struct reading read_through(size_t held)
{
	struct trace_error err = { 0 };
	struct source *s = source_open(path, &err);
	struct reading r = { 0 };
	size_t kept = 0, now;

	CHECK_STR(err.text, "");
	while (s && (now = source_wait(s, r.bytes)) > r.bytes) {
		CHECK(are_places(source_base(s), kept, now));
		r.bytes = now;
		kept = now > held ? now - held : 0;
		source_release(s, kept);
	}
	if (s) {
		snprintf(r.trouble, sizeof r.trouble, "%s", source_trouble(s) ? source_trouble(s) : "");
		r.resident = resident(source_base(s), r.bytes);
	}
	source_close(s);
	unlink(path);
	return r;
}

TEST(files_of_all_sizes_arrive_whole_and_in_little_memory)
{
	static const size_t sizes[] = { 1, 8, 4096, 1 << 20, (1 << 20) + 1, 3 << 20, MUCH };
	uint8_t *data = malloc(MUCH);

	put_places(data, MUCH);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct reading r;

		put_file(data, sizes[i]);
		r = read_through(100);
		CHECK_EQ(r.bytes, sizes[i]);
		CHECK_STR(r.trouble, "");
		CHECK(r.resident <= 32 << 20);
	}
	free(data);
}

TEST(what_is_still_needed_stays_where_it_is)
{
	uint8_t *data = malloc(MUCH);
	struct reading r;

	put_places(data, MUCH);
	put_file(data, MUCH);
	r = read_through(50 << 20);
	CHECK_EQ(r.bytes, MUCH);
	CHECK(r.resident >= 50 << 20);
	free(data);
}

TEST(packed_files_arrive_whole_however_much_they_become)
{
	static const size_t sizes[] = { 100, 1 << 20, 9 << 20, MUCH };
	uint8_t *data = malloc(MUCH), *packed = malloc(ZSTD_compressBound(MUCH));

	put_places(data, MUCH);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		size_t n = ZSTD_compress(packed, ZSTD_compressBound(MUCH), data, sizes[i], 1);
		struct reading r;

		put_file(packed, n);
		r = read_through(100);
		CHECK_EQ(r.bytes, sizes[i]);
		CHECK_STR(r.trouble, "");
		CHECK(r.resident <= 32 << 20);
		put_file(packed, n - 5);
		r = read_through(100);
		CHECK(r.bytes < sizes[i] || sizes[i] <= 128 << 10);
		CHECK_STR(r.trouble, "the compressed data ends too early");
	}
	free(data);
	free(packed);
}

/* A few KiB that become much: begun without a thread, finished with one. */
TEST(a_small_file_that_becomes_a_large_one_arrives_whole)
{
	size_t n = 60 << 20;
	uint8_t *data = calloc(1, n), *packed = malloc(ZSTD_compressBound(n));
	struct trace_error err = { 0 };
	struct source *s;
	size_t size = ZSTD_compress(packed, ZSTD_compressBound(n), data, n, 1), have = 0, now;

	CHECK(size < 64 << 10);
	put_file(packed, size);
	s = source_open(path, &err);
	while (s && (now = source_wait(s, have)) > have) {
		CHECK(memcmp(source_base(s) + have, data, now - have) == 0);
		have = now;
		source_release(s, have);
	}
	CHECK_EQ(have, n);
	source_close(s);
	unlink(path);
	free(data);
	free(packed);
}

/* Its last four bytes say that it becomes less than it does, as they do where a file has several members. */
TEST(a_small_file_that_says_less_than_it_becomes_arrives_whole)
{
	static const uint8_t header[10] = { 0x1f, 0x8b, 8 };
	uint8_t file[2 * (sizeof header + 5 + 3000 + 8)], *to = file;
	struct trace_error err = { 0 };
	struct source *s;
	size_t have = 0, now;

	for (size_t i = 0, n; i < 2; i++) {             /* members of one stored block each, of 3000 bytes and of 7 */
		uint8_t text[3000];

		n = i ? 7 : sizeof text;
		memset(text, 'a' + (int)i, sizeof text);
		to = mempcpy(to, header, sizeof header);
		to = mempcpy(to, (uint8_t[]){ 1, (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)~n, (uint8_t)(~n >> 8) }, 5);
		to = mempcpy(to, text, n);
		to = mempcpy(to, &(uint32_t){ crc32_of(0, text, n) }, 4);
		to = mempcpy(to, &(uint32_t){ (uint32_t)n }, 4);
	}
	put_file(file, (size_t)(to - file));
	s = source_open(path, &err);
	CHECK_STR(err.text, "");
	while (s && (now = source_wait(s, have)) > have)
		have = now;
	CHECK_EQ(have, 3007u);
	CHECK(!s || (source_base(s)[2999] == 'a' && source_base(s)[3006] == 'b' && !source_trouble(s)));
	source_close(s);
	unlink(path);
}

TEST(who_stops_early_waits_for_nothing)
{
	uint8_t *data = malloc(MUCH);
	struct trace_error err = { 0 };
	struct source *s;

	put_places(data, MUCH);
	put_file(data, MUCH);
	s = source_open(path, &err);
	CHECK(s && source_wait(s, 0) > 0);
	source_close(s);
	unlink(path);
	free(data);
}

TEST(the_beginning_of_a_file_is_had_without_the_rest)
{
	uint8_t *data = malloc(1 << 20), *packed = malloc(ZSTD_compressBound(1 << 20)), head[5000];
	bool all;

	put_places(data, 1 << 20);
	for (size_t size = 100; size <= 1 << 20; size = size * 3 + 1) {
		size_t n = ZSTD_compress(packed, ZSTD_compressBound(1 << 20), data, size, 1), most = size < sizeof head ? size : sizeof head;

		put_file(data, size);
		CHECK_EQ(source_head(path, head, sizeof head, &all), (ssize_t)most);
		CHECK(are_places(head, 0, most));
		CHECK_EQ(all, size <= sizeof head);
		unlink(path);
		put_file(packed, n);
		CHECK(source_head(path, head, sizeof head, &all) >= 0);
		CHECK_EQ(all, size < sizeof head);
		unlink(path);
		put_file(packed, n - 5);
		CHECK(source_head(path, head, sizeof head, &all) >= 0);
		CHECK(!all);
		unlink(path);
	}
	CHECK_EQ(source_head(path, head, sizeof head, &all), -1);
	CHECK_EQ(source_head("/tmp", head, sizeof head, &all), -1);
	free(data);
	free(packed);
}
