/*
 * execs HOW PROGRAM [WORD]: executes PROGRAM, or starts it and waits, with the environment A=1 only.  HOW: execl execle
 * execlp execv execve execvp execvpe execveat fexecve, vfork (and execve in the child), spawn, spawnp.  Ends with
 * the status of the program.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int execveat(int dir, const char *path, char *const argv[], char *const envp[], int flags);

static char *clean[] = { "A=1", NULL };

static int end_of(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

static int children(const char *how, char **argv)
{
	pid_t child = -1;

	if (!strcmp(how, "vfork")) {
		child = vfork();
		if (child == 0) {
			execve(argv[0], argv, clean);
			_exit(97);
		}
	} else if (!strcmp(how, "spawn")) {
		posix_spawn(&child, argv[0], NULL, NULL, argv, clean);
	} else if (!strcmp(how, "spawnp")) {
		posix_spawnp(&child, strrchr(argv[0], '/') + 1, NULL, NULL, argv, clean);
	}
	return end_of(child);
}

int main(int argc, char **argv)
{
	char *how = argv[1], *path, *file, **words = argv + 2;

	if (argc < 3)
		return 2;
	path = words[0];
	file = strrchr(path, '/') + 1;
	if (!strcmp(how, "vfork") || !strncmp(how, "spawn", 5))
		return children(how, words);
	environ = clean;
	if (!strcmp(how, "execl"))
		execl(path, path, words[1], (char *)NULL);
	if (!strcmp(how, "execle") && !words[1])
		execle(path, path, (char *)NULL, clean);
	if (!strcmp(how, "execle"))
		execle(path, path, words[1], (char *)NULL, clean);
	if (!strcmp(how, "execlp"))
		execlp(file, path, words[1], (char *)NULL);
	if (!strcmp(how, "execv"))
		execv(path, words);
	if (!strcmp(how, "execve"))
		execve(path, words, clean);
	if (!strcmp(how, "execvp"))
		execvp(file, words);
	if (!strcmp(how, "execvpe"))
		execvpe(file, words, clean);
	if (!strcmp(how, "execveat"))
		execveat(AT_FDCWD, path, words, clean, 0);
	if (!strcmp(how, "fexecve"))
		fexecve(open(path, O_RDONLY | O_CLOEXEC), words, clean);
	perror(how);
	return 99;
}
