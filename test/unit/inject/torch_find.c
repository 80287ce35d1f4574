/* Finding libtorch_cpu, with a fake loader whose list of objects changes right after it was read. */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject/core/module.h"
#include "trace/wire.h"
#include "test/unit/test.h"

#define PATH_HERE "/somewhere/libtorch_cpu.so"

static bool lying;
static char loaders_own[64];
static char asked_for[64];              /* by dlopen() */

static int (*real_iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
static void *(*real_open)(const char *, int);

/* Early, as other tests measure what of the stack a call takes. */
__attribute__((constructor)) static void find_real(void)
{
	*(void **)&real_iterate = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	*(void **)&real_open = dlsym(RTLD_NEXT, "dlopen");
}

/* While lying: one library, which another thread closes as soon as the loader's lock is free. */
int dl_iterate_phdr(int (*see)(struct dl_phdr_info *, size_t, void *), void *arg)
{
	struct dl_phdr_info one = { .dlpi_name = loaders_own, .dlpi_adds = 1 };
	int rc;

	if (!real_iterate)
		find_real();
	if (!lying)
		return real_iterate(see, arg);
	strcpy(loaders_own, PATH_HERE);
	rc = see(&one, sizeof one, arg);
	memset(loaders_own, '#', sizeof loaders_own - 1);
	return rc;
}

void *dlopen(const char *path, int flags)
{
	if (lying) {
		snprintf(asked_for, sizeof asked_for, "%s", path);
		return NULL;
	}
	if (!real_open)
		find_real();
	return real_open(path, flags);
}

/* In a process of its own, as it begins a session. */
static int look_in(const char *folder)
{
	char path[200];

	snprintf(path, sizeof path, "%s/%s", folder, WIRE_TORCH);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	setenv(WIRE_ENV, folder, 1);
	session_module.init();
	lying = true;
	torch_module.init();
	lying = false;
	unlink(path);
	return strcmp(asked_for, PATH_HERE) == 0 ? 0 : 1;
}

TEST(a_library_that_is_closed_once_it_was_found_keeps_its_name)
{
	char folder[100];
	int status = -1;
	pid_t child;

	snprintf(folder, sizeof folder, "%s/find-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!CHECK(mkdtemp(folder) != NULL))
		return;
	child = fork();
	if (child == 0)
		_exit(look_in(folder));
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
	CHECK_EQ(rmdir(folder), 0);
}
