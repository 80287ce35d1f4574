#include "collector/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/unit/test.h"

static char folder[] = "/tmp/gprof-unit-XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[2][128];
	static int turn;

	turn ^= 1;
	snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
	return path[turn];
}

static void create(const char *name, bool overwrite, const char *want)
{
	char used[256];
	struct stat st;
	int fd = place_create(in_folder(name), overwrite, used, sizeof used);

	CHECK(fd >= 0);
	CHECK_STR(used, in_folder(want));
	CHECK_EQ(fstat(fd, &st), 0);
	CHECK_EQ(st.st_mode & 0777, 0600);
	close(fd);
}

TEST(names_are_never_taken_twice_unless_asked_for)
{
	static const char *const made[] = { "run.gtrace", "run.2.gtrace", "run.3.gtrace", "bare", "bare.2.gtrace" };
	char used[256];

	strcpy(folder, "/tmp/gprof-unit-XXXXXX");
	if (!CHECK(mkdtemp(folder) != NULL))
		return;
	create("run.gtrace", false, "run.gtrace");
	create("run.gtrace", false, "run.2.gtrace");
	create("run.gtrace", true, "run.gtrace");
	create("run.gtrace", false, "run.3.gtrace");
	create("bare", false, "bare");
	create("bare", false, "bare.2.gtrace");
	CHECK_EQ(place_create(in_folder("no/such.gtrace"), false, used, sizeof used), -1);
	CHECK_EQ(errno, ENOENT);
	for (size_t i = 0; i < sizeof made / sizeof *made; i++)
		CHECK_EQ(unlink(in_folder(made[i])), 0);
	CHECK_EQ(rmdir(folder), 0);
}

TEST(a_folder_or_a_link_in_the_way_is_left_alone)
{
	char used[256];
	int fd;

	strcpy(folder, "/tmp/gprof-unit-XXXXXX");
	if (!CHECK(mkdtemp(folder) != NULL))
		return;
	CHECK_EQ(mkdir(in_folder("dir.gtrace"), 0700), 0);
	create("dir.gtrace", true, "dir.2.gtrace");
	/* A link is replaced, what it points to is not written. */
	CHECK_EQ(symlink("dir.2.gtrace", in_folder("link.gtrace")), 0);
	fd = place_create(in_folder("link.gtrace"), true, used, sizeof used);
	CHECK_EQ(write(fd, "x", 1), 1);
	close(fd);

	struct stat st;

	CHECK(stat(in_folder("dir.2.gtrace"), &st) == 0 && st.st_size == 0);
	unlink(in_folder("link.gtrace"));
	unlink(in_folder("dir.2.gtrace"));
	rmdir(in_folder("dir.gtrace"));
	rmdir(folder);
}

TEST(the_log_stands_beside_its_trace)
{
	char log[64];

	place_log("dir/run.gtrace", log, sizeof log);
	CHECK_STR(log, "dir/run.gtrace.log");
	place_log("run", log, sizeof log);
	CHECK_STR(log, "run.gtrace.log");
}
