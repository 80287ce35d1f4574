/*
 * A program that checks for side effects of the injected object.  It closes every descriptor, opens its own files with all these numbers,
 * uses NVTX, forks, and ends a vfork child with _exit.  Then it checks that its descriptors, errno, signals and parent are unchanged.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_FILES 64

static char why[256];

static void not_so(const char *what, long n)
{
	if (!why[0])
		snprintf(why, sizeof why, "%s (%ld)", what, n);
}

static void ranges(int n)
{
	for (int i = 0; i < n; i++) {
		nvtxRangePushA("work");
		nvtxMarkA("tick");
		nvtxRangePop();
	}
}

static void path_of(char *path, int i)
{
	sprintf(path, "own.%d", i);
}

static void take_all_numbers(void)
{
	char path[32];

	for (int i = 0; i < N_FILES; i++) {
		path_of(path, i);
		if (open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) != i)
			not_so("open() does not give the lowest number", i);
	}
}

static int count_open(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n - 3;           /* ".", ".." and the descriptor of the folder */
}

/* Checks that each descriptor is still its file, and that each file contains only its number. */
static void check_files(void)
{
	char path[32], text[64];

	for (int i = 0; i < N_FILES; i++) {
		struct stat by_fd, by_path;
		ssize_t n;

		path_of(path, i);
		if (fstat(i, &by_fd) < 0 || stat(path, &by_path) < 0 || by_fd.st_ino != by_path.st_ino)
			not_so("a descriptor is another file now", i);
		n = pread(i, text, sizeof text - 1, 0);
		text[n < 0 ? 0 : n] = '\0';
		if (atoi(text) != i || n != (ssize_t)strlen(text) || !strchr(text, '\n') || strchr(text, '\n')[1])
			not_so("a file of ours was written to", i);
	}
}

static void forked_child(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		ranges(10);
		check_files();
		_exit(why[0] ? 1 : 7);
	}
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
		not_so("the forked child did not end as it should", status);
}

static void vforked_child(void)
{
	volatile int here = 1;
	pid_t pid = vfork();
	int status;

	if (pid == 0)
		_exit(9);
	here++;
	waitpid(pid, &status, 0);
	if (here != 2 || !WIFEXITED(status) || WEXITSTATUS(status) != 9)
		not_so("the vfork child did not end as it should", status);
}

static void execed_child(void)
{
	char *const argv[] = { "/bin/sh", "-c", "exit 5", NULL };
	pid_t pid = vfork();
	int status;

	if (pid == 0) {
		execv(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 5)
		not_so("the exec'ed child did not end as it should", status);
}

int main(int argc, char **argv)
{
	const char *report = argc > 1 ? argv[1] : "manners.txt";
	sigset_t before, after;
	int open_before;

	syscall(SYS_close_range, 0, ~0u, 0);
	take_all_numbers();
	for (int i = 0; i < N_FILES; i++)
		dprintf(i, "%d\n", i);
	sigprocmask(SIG_SETMASK, NULL, &before);
	open_before = count_open();

	errno = 4242;
	ranges(1000);
	if (errno != 4242)
		not_so("errno was changed", errno);
	forked_child();
	vforked_child();
	execed_child();
	ranges(1000);

	if (count_open() != open_before)
		not_so("the number of open descriptors changed by", count_open() - open_before);
	sigprocmask(SIG_SETMASK, NULL, &after);
	if (memcmp(&before, &after, sizeof before))
		not_so("the signal mask was changed", 0);
	check_files();

	FILE *f = fopen(report, "w");

	fprintf(f, "%s\n", why[0] ? why : "untouched");
	fclose(f);
	return why[0] ? 1 : 0;
}
