#include "inject/process/child_env.h"

#include <alloca.h>
#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
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

static struct child_plan plan;

static size_t room_for(char *const envp[])
{
	return child_env_plan(&plan, envp, &(struct child_file){ AT_FDCWD, path, false });
}

TEST(a_cleaned_environment_gets_what_is_ours_and_keeps_its_own)
{
	char *cleaned[] = { "B=2", "A=1", NULL };
	char *const *got;
	size_t room;

	set_up();
	room = room_for(cleaned);
	CHECK(room >= 6 * sizeof *got);
	got = child_env_fill(&plan, alloca(room), cleaned);
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
	got = child_env_fill(&plan, alloca(room_for(none)), none);
	CHECK(got[0] && got[1] && got[2] && !got[3]);
	got = child_env_fill(&plan, alloca(room_for(NULL)), NULL);
	CHECK(got[0] && got[1] && got[2] && !got[3]);
}

TEST(a_preload_list_of_others_is_joined_and_an_empty_one_replaced)
{
	char *foreign[] = { "LD_PRELOAD=/x.so:/y.so", WIRE_ENV "=/tmp/session", NULL };
	char *empty[] = { "LD_PRELOAD=", "A=1", NULL };
	char *const *got;

	set_up();
	got = child_env_fill(&plan, alloca(room_for(foreign)), foreign);
	CHECK_STR(got[1], WIRE_ENV "=/tmp/session");
	CHECK(strncmp(got[0], "LD_PRELOAD=/x.so:/y.so:/", 24) == 0 && !got[2]);
	got = child_env_fill(&plan, alloca(room_for(empty)), empty);
	CHECK(strcmp(got[0] + 11, path) == 0);
	CHECK_STR(got[1], "A=1");
	CHECK(got[3] && !got[4]);
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
	CHECK(room_for(whole) == 0);
	CHECK(room_for(taken_off) == 0);
	CHECK(room_for(refused) == 0);
	CHECK(room_for(another) == 0);
	for (int i = 0; i < 3999; i++)
		many[i] = "A=1";
	CHECK(room_for(many) == 0);
}

/* A file with these bytes; its path. */
static const char *file_of(const char *name, const void *bytes, size_t n)
{
	static char at[64];
	int fd;

	snprintf(at, sizeof at, "/tmp/gprof-unit-%s-%d", name, (int)getpid());
	fd = open(at, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0755);
	CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	close(fd);
	return at;
}

/* A program of 32 bits, with a loader or without. */
struct old {
	Elf32_Ehdr head;
	Elf32_Phdr interp;
};

static struct old old_program(bool loads)
{
	struct old o = { .head = { .e_ident = ELFMAG, .e_phoff = offsetof(struct old, interp), .e_phentsize = sizeof(Elf32_Phdr),
				   .e_phnum = 1, .e_machine = EM_386 },
			 .interp = { .p_type = loads ? PT_INTERP : PT_LOAD } };

	o.head.e_ident[EI_CLASS] = ELFCLASS32;
	return o;
}

static size_t room_of_file(char *const envp[], const char *at)
{
	return child_env_plan(&plan, envp, &(struct child_file){ AT_FDCWD, at, false });
}

TEST(a_32_bit_program_gets_what_it_had_without_our_object)
{
	struct old dynamic = old_program(true), fixed = old_program(false);
	char list[5000], alone[5000];
	char *whole[] = { "A=1", list, WIRE_ENV "=/tmp/session", NULL };
	char *ours[] = { "A=1", alone, WIRE_ENV "=/tmp/session", NULL };
	char *cleaned[] = { "A=1", NULL };
	char *const *got;
	const char *at;
	size_t room;

	set_up();
	snprintf(list, sizeof list, "LD_PRELOAD=/x.so %s:/y.so", path);
	snprintf(alone, sizeof alone, "LD_PRELOAD=%s", path);
	at = file_of("old", &dynamic, sizeof dynamic);
	CHECK((room = room_of_file(whole, at)) > 0);
	got = child_env_fill(&plan, alloca(room), whole);
	CHECK_STR(got[0], "A=1");
	CHECK_STR(got[1], "LD_PRELOAD=/x.so:/y.so");
	CHECK_STR(got[2], WIRE_ENV "=/tmp/session");
	CHECK(!got[3]);
	CHECK((room = room_of_file(ours, at)) > 0);
	got = child_env_fill(&plan, alloca(room), ours);
	CHECK_STR(got[1], WIRE_ENV "=/tmp/session");
	CHECK(!got[2]);
	CHECK_EQ(room_of_file(cleaned, at), 0);
	unlink(at);
	at = file_of("static", &fixed, sizeof fixed);
	CHECK_EQ(room_of_file(whole, at), 0);
	unlink(at);
}

TEST(the_interpreter_of_a_script_is_what_runs)
{
	struct old dynamic = old_program(true);
	char list[5000], script[5000], old[64];
	char *whole[] = { list, WIRE_ENV "=/tmp/session", NULL };
	const char *at;

	set_up();
	snprintf(list, sizeof list, "LD_PRELOAD=%s", path);
	snprintf(old, sizeof old, "%s", file_of("old", &dynamic, sizeof dynamic));
	snprintf(script, sizeof script, "#! %s -x\necho\n", old);
	at = file_of("script", script, strlen(script));
	CHECK(room_of_file(whole, at) > 0);
	CHECK_EQ(plan.preload, CHILD_WITHOUT);
	unlink(at);
	snprintf(script, sizeof script, "#!%s\n", path);
	at = file_of("script", script, strlen(script));
	CHECK_EQ(room_of_file(whole, at), 0);
	snprintf(script, sizeof script, "#!%s\n", at);          /* itself, for ever */
	at = file_of("script", script, strlen(script));
	CHECK_EQ(room_of_file(whole, at), 0);
	unlink(at);
	unlink(old);
	CHECK_EQ(room_of_file(whole, "/none"), 0);
	CHECK_EQ(room_of_file(whole, NULL), 0);
}
