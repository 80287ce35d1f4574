/*
 * Runs a fuzz target, without a fuzzer, on each file in the folders given as arguments.  `make check` does so with all kept inputs, as
 * regression tests.  Prints "ok N inputs"; a failing input ends the program through a sanitizer or abort().
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char now[PATH_MAX + 32];

/* Prints the name of the failing input. */
static void on_abort(int sig)
{
	if (write(STDOUT_FILENO, now, strlen(now)) < 0)
		_exit(1);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void replay(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint8_t *data;

	if (fd < 0 || fstat(fd, &st) < 0 || !(data = malloc((size_t)st.st_size + 1)) || read(fd, data, (size_t)st.st_size) != st.st_size) {
		printf("cannot read '%s'\n", path);
		exit(1);
	}
	close(fd);
	snprintf(now, sizeof now, "FAIL input %s\n", path);
	LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
	free(data);
}

static int no_dot(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static size_t replay_folder(const char *folder)
{
	struct dirent **files;
	int n = scandir(folder, &files, no_dot, alphasort);
	char path[PATH_MAX];

	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, files[i]->d_name);
		replay(path);
		free(files[i]);
	}
	if (n >= 0)
		free(files);
	return n < 0 ? 0 : (size_t)n;
}

int main(int argc, char **argv)
{
	size_t n = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGABRT, on_abort);
	signal(SIGSEGV, on_abort);
	for (int i = 1; i < argc; i++)
		n += replay_folder(argv[i]);
	printf("%s %zu inputs\n", n ? "ok" : "FAIL no", n);
	return n ? 0 : 1;
}
