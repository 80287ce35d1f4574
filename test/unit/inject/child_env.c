#include "inject/child_env.h"

#include <alloca.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/unit/test.h"
#include "trace/wire.h"

static char path[4096];                 /* of this program, which is where the code is */

static void set_up(void)
{
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	CHECK(n > 0);
	setenv(WIRE_ENV, "/tmp/session", 1);
	setenv("LD_PRELOAD", path, 1);
	setenv("CUDA_INJECTION64_PATH", path, 1);
	setenv("NVTX_INJECTION64_PATH", "/another.so", 1);
	child_env_init(path);
}

TEST(a_cleaned_environment_gets_what_is_ours_and_keeps_its_own)
{
	char *cleaned[] = { "B=2", "A=1", NULL };
	char *const *got;
	size_t room;

	set_up();
	room = child_env_room(cleaned);
	CHECK(room >= 6 * sizeof *got);
	got = child_env_fill(alloca(room), cleaned);
	CHECK_STR(got[0], "B=2");
	CHECK_STR(got[1], "A=1");
	CHECK_STR(got[2], WIRE_ENV "=/tmp/session");
	CHECK(strncmp(got[3], "CUDA_INJECTION64_PATH=", 22) == 0);
	CHECK(strncmp(got[4], "LD_PRELOAD=", 11) == 0);
	CHECK_STR(got[4] + 11, path);
	CHECK(!got[5]);
}

TEST(an_environment_of_nothing_gets_what_is_ours)
{
	char *none[] = { NULL };
	char *const *got;

	set_up();
	got = child_env_fill(alloca(child_env_room(none)), none);
	CHECK(got[0] && got[1] && got[2] && !got[3]);
	got = child_env_fill(alloca(child_env_room(NULL)), NULL);
	CHECK(got[0] && got[1] && got[2] && !got[3]);
}

TEST(a_preload_list_of_others_is_joined_and_an_empty_one_replaced)
{
	char *foreign[] = { "LD_PRELOAD=/x.so:/y.so", WIRE_ENV "=/tmp/session", NULL };
	char *empty[] = { "LD_PRELOAD=", "A=1", NULL };
	char *const *got;

	set_up();
	got = child_env_fill(alloca(child_env_room(foreign)), foreign);
	CHECK_STR(got[0], WIRE_ENV "=/tmp/session");
	CHECK(strncmp(got[1], "LD_PRELOAD=/x.so:/y.so:/", 24) == 0 && !got[2]);
	got = child_env_fill(alloca(child_env_room(empty)), empty);
	CHECK_STR(got[0], "A=1");
	CHECK(strcmp(got[3] + 11, path) == 0 && !got[4]);
}

TEST(what_was_not_cleaned_is_left_alone)
{
	char *whole[] = { WIRE_ENV "=/tmp/session", NULL, NULL };
	char *taken_off[] = { WIRE_ENV "=/tmp/session", "LD_PRELOAD=", NULL };
	char *refused[] = { WIRE_ENV "=", NULL };
	char *another[] = { WIRE_ENV "=/tmp/inner", "LD_PRELOAD=/x.so", NULL };
	char preload[5000] = "LD_PRELOAD=";
	static char *many[4000];

	set_up();
	whole[1] = strcat(preload, path);
	CHECK(child_env_room(whole) == 0);
	CHECK(child_env_room(taken_off) == 0);
	CHECK(child_env_room(refused) == 0);
	CHECK(child_env_room(another) == 0);
	for (int i = 0; i < 3999; i++)
		many[i] = "A=1";
	CHECK(child_env_room(many) == 0);
}
