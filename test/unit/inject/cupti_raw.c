/* --record-raw: files of activity buffers. */
#include "inject/cupti/cupti_raw.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inject/cupti/cupti_buffers.h"
#include "test/unit/inject/cupti_fake.h"
#include "test/unit/test.h"

TEST(raw_buffers_are_kept_with_their_index_and_strings)
{
	char folder[] = "/tmp/gprof-raw-XXXXXX", path[64];
	struct raw_record index[2];
	struct raw_string string;
	struct raw_head head;
	char name[16] = "";
	uint8_t *r;
	int fd;

	cupti_fake(130001);
	if (!CHECK(mkdtemp(folder) != NULL))
		return;
	strcpy(guest->config.record_raw, folder);
	r = cupti_fake_record(10, 216);
	put64(r, 104, (uintptr_t)"_Z4spinv");
	put64(cupti_fake_record(10, 216), 104, at64(r, 104));
	cupti_fake_state.dropped = 3;
	cupti_fake_deliver();
	snprintf(path, sizeof path, "%s/%d.gpraw", folder, getpid());
	fd = open(path, O_RDONLY);
	CHECK(read(fd, &head, sizeof head) == sizeof head);
	CHECK(memcmp(head.magic, "GPRAWBUF", 8) == 0);
	CHECK_EQ(head.version, 130001);
	CHECK_EQ(head.valid, 432);
	CHECK_EQ(head.size, CUPTI_BUFFER_SIZE);
	CHECK_EQ(head.dropped, 3);
	CHECK_EQ(head.n_records, 2);
	CHECK_EQ(head.n_strings, 1);
	CHECK(head.requested && head.requested <= head.completed);
	CHECK_EQ(head.length, lseek(fd, 0, SEEK_END));
	CHECK(pread(fd, index, sizeof index, sizeof head + 432) == sizeof index);
	CHECK_EQ(index[1].offset, 216);
	CHECK_EQ(index[1].size, 216);
	CHECK_EQ(index[1].kind, 10);
	CHECK(pread(fd, &string, sizeof string, sizeof head + 432 + sizeof index) == sizeof string);
	CHECK_EQ(string.length, 8);
	CHECK(pread(fd, name, 8, sizeof head + 432 + sizeof index + sizeof string) == 8);
	CHECK_STR(name, "_Z4spinv");
	close(fd);
	unlink(path);
	rmdir(folder);
	CHECK_EQ(guest->arena->health[HEALTH_raw_failed].count, 0);
}

TEST(a_recording_names_no_folder_of_the_user_and_says_how_the_walk_ended)
{
	static const char path[] = "/home/somebody/.nv/ComputeCache";
	char folder[] = "/tmp/gprof-raw-XXXXXX", file[64], all[1024];
	struct raw_head head;
	ssize_t n;
	int fd;

	cupti_fake(130001);
	if (!CHECK(mkdtemp(folder) != NULL))
		return;
	strcpy(guest->config.record_raw, folder);
	put64(cupti_fake_record(52, 72), 56, (uintptr_t)path);
	cupti_fake_tail(4, 0);
	cupti_fake_deliver();
	snprintf(file, sizeof file, "%s/%d.gpraw", folder, getpid());
	fd = open(file, O_RDONLY);
	n = read(fd, all, sizeof all);
	close(fd);
	unlink(file);
	rmdir(folder);
	if (!CHECK(n > (ssize_t)sizeof head))
		return;
	memcpy(&head, all, sizeof head);
	CHECK_EQ(head.end, 21);
	CHECK(memmem(all, (size_t)n, "ComputeCache", 12) != NULL);
	CHECK(memmem(all, (size_t)n, "somebody", 8) == NULL);
}

TEST(a_raw_folder_that_is_not_there_is_counted_and_rows_go_on)
{
	cupti_fake(130001);
	strcpy(guest->config.record_raw, "/nonexistent");
	put64(cupti_fake_record(10, 216), 16, 5000);
	cupti_fake_deliver();
	CHECK_EQ(guest->arena->health[HEALTH_raw_failed].count, 1);
	CHECK_EQ(fake_count(ROW_kernel), 1);
}
