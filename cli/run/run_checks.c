/* Finds the command, and finds out whether it can be executed and recorded.  Reads the first bytes of files; runs nothing. */
#include "cli/run/run.h"
#include "cli/ui/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* ---- search ---- */

/* Whether execve() can most likely run the file.  0, or -1 with errno. */
static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -1;
	if (S_ISDIR(st.st_mode))
		return errno = EISDIR, -1;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS);
}

int path_search(const char *command, const char *list, char *out, size_t size)
{
	int found = ENOENT;

	if (strchr(command, '/')) {
		if ((size_t)snprintf(out, size, "%s", command) >= size)
			return errno = ENAMETOOLONG, -1;
		return executable(out);
	}
	for (const char *p = list; *command; p++) {
		int len = (int)strcspn(p, ":");

		if ((size_t)snprintf(out, size, "%.*s%s%s", len, p, len ? "/" : "./", command) < size) {
			if (executable(out) == 0)
				return 0;
			/* A folder without read permission counts as empty, as in a shell. */
			if (errno == EACCES && access(out, F_OK) == 0)
				found = EACCES;
		}
		p += len;
		if (!*p)
			break;
	}
	return errno = found, -1;
}

/* PATH, or glibc's default if it is not set. */
static const char *path_list(const struct env *e)
{
	const char *list = env_get(e, "PATH");

	return list ? list : "/bin:/usr/bin";
}

static int not_found(struct target *t, const char *command)
{
	t->status = EXIT_NOT_FOUND;
	fail("no such program%s: '%s'", strchr(command, '/') ? "" : " in PATH", command);
	if (strcmp(command, "profile") == 0)
		hint("gprof-run replaces 'nsys profile': leave the word 'profile' out");
	return -1;
}

int target_find(struct target *t, const char *command, const struct env *e)
{
	t->status = 0;
	if (path_search(command, path_list(e), t->path, sizeof t->path) == 0)
		return 0;
	if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG || errno == ELOOP)
		return not_found(t, command);
	t->status = EXIT_NOT_EXECUTABLE;
	return fail_errno("cannot run '%s'", command);
}

/* ---- scripts ---- */

static ssize_t read_head(const char *path, void *head, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : pread(fd, head, size, 0);

	if (fd >= 0)
		close(fd);
	return n;
}

/* Returns the next word of *line, NUL-terminated in place, and moves *line after it; NULL at the end. */
static char *next_word(char **line)
{
	char *word = *line + strspn(*line, " \t");

	if (!*word)
		return NULL;
	*line = word + strcspn(word, " \t");
	if (**line)
		*(*line)++ = '\0';
	return word;
}

/* The program in the arguments of env: for "-S VAR=x python3 -u", python3. */
static char *program_of_env(char **line)
{
	char *word;

	while ((word = next_word(line)))
		if (*word != '-' && !strchr(word, '='))
			return word;
	return NULL;
}

int target_interpreter(const char *path, const struct env *e, char *out, size_t size)
{
	char head[512], *line = head + 2, *word, *slash;
	ssize_t n = read_head(path, head, sizeof head - 1);

	if (n < 4 || head[0] != '#' || head[1] != '!')
		return -1;
	head[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	word = next_word(&line);
	slash = word ? strrchr(word, '/') : NULL;
	if (slash && strcmp(slash, "/env") == 0)
		word = program_of_env(&line);
	return word ? path_search(word, path_list(e), out, size) : -1;
}

/* Sets t->image: follows interpreters of scripts, at most 5, as the kernel does. */
static void find_image(struct target *t, const struct env *e)
{
	char next[PATH_MAX];

	snprintf(t->image, sizeof t->image, "%s", t->path);
	for (int depth = 0; depth < 5; depth++) {
		if (target_interpreter(t->image, e, next, sizeof next) < 0)
			return;
		memcpy(t->image, next, sizeof next);
	}
}

/* ---- programs ---- */

/* Whether the program gains rights (set-uid, set-gid, capabilities); then the loader ignores LD_PRELOAD. */
static bool gains_rights(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	if (st.st_mode & S_ISUID && st.st_uid != geteuid())
		return true;
	if (st.st_mode & S_ISGID && st.st_mode & S_IXGRP && st.st_gid != getegid())
		return true;
	return geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
}

/* Message for each kind of program; "": none. */
static const struct {
	const char *text;
	bool preload;                   /* LD_PRELOAD is harmless */
} kinds[] = {
	[IMAGE_UNKNOWN]   = { "", true },
	[IMAGE_OPEN]      = { "", true },
	[IMAGE_32BIT]     = { "is a 32-bit program: it is not recorded", false },
	[IMAGE_FOREIGN]   = { "is a program for another processor: it is not recorded", false },
	[IMAGE_STATIC]    = { "is a static program: only calls of the CUDA driver library and of NVTX are recorded", true },
	[IMAGE_MUSL]      = { "uses musl's libc, which gprof-run does not support: it is not recorded, but its children are", true },
	[IMAGE_SANITIZED] = { "", true },
};

void target_check(struct target *t, const struct env *e, bool say)
{
	enum image_kind kind;
	struct executable m;

	find_image(t, e);
	kind = image_look(&m, t->image);
	t->preload = kinds[kind].preload;
	strcpy(t->first, m.runtime);
	if (!say)
		return;
	if (*kinds[kind].text)
		note("'%s' %s", t->image, kinds[kind].text);
	else if (gains_rights(t->image))
		note("'%s' is set-uid or has capabilities, so Linux does not load gprof-run's library into it; start gprof-run with "
		     "those rights", t->image);
}

/* ---- launchers ---- */

/* Launchers whose processes do not inherit gprof-run's environment or are not its descendants, with the right order. */
static const struct launcher {
	const char *name, *better;
} launchers[] = {
	{ "srun", "srun gprof-run -- COMMAND" },
	{ "mpirun", "mpirun gprof-run -- COMMAND" },
	{ "mpiexec", "mpiexec gprof-run -- COMMAND" },
	{ "orterun", "orterun gprof-run -- COMMAND" },
	{ "jsrun", "jsrun gprof-run -- COMMAND" },
	{ "aprun", "aprun gprof-run -- COMMAND" },
	{ "ssh", "ssh HOST gprof-run -- COMMAND" },
	{ "docker", "docker run ... IMAGE gprof-run -- COMMAND" },
	{ "podman", "podman run ... IMAGE gprof-run -- COMMAND" },
	{ "apptainer", "apptainer exec IMAGE gprof-run -- COMMAND" },
	{ "singularity", "singularity exec IMAGE gprof-run -- COMMAND" },
	{ "enroot", "enroot start IMAGE gprof-run -- COMMAND" },
	{ "kubectl", "kubectl exec POD -- gprof-run -- COMMAND" },
	{ "ray", "ray job submit -- gprof-run -- COMMAND" },
	{ "sudo", "sudo gprof-run -- COMMAND" },
	{ "doas", "doas gprof-run -- COMMAND" },
	{ "systemd-run", "systemd-run gprof-run -- COMMAND" },
	{ "flux", "flux run gprof-run -- COMMAND" },
	{ "bsub", "bsub gprof-run -- COMMAND" },
	{ "sbatch", "gprof-run inside the batch script: srun gprof-run -- COMMAND" },
	{ "qsub", "gprof-run inside the batch script" },
};

void target_check_order(const struct request *r)
{
	const char *slash = strrchr(r->argv[0], '/'), *name = slash ? slash + 1 : r->argv[0];

	for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
		if (strcmp(name, launchers[i].name) == 0)
			note("programs that %s starts may run outside gprof-run; to record them: %s", name,
			     launchers[i].better);
}
