/* What the command is: found, executable, open to us?  Reads the first bytes of files; runs nothing. */
#include "cli/fail.h"
#include "cli/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* ---- finding it ---- */

/* 0, or -1 with errno: as execve would see it, as far as can be told. */
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
			/* A folder that we may not read holds nothing, as for a shell. */
			if (errno == EACCES && access(out, F_OK) == 0)
				found = EACCES;
		}
		p += len;
		if (!*p)
			break;
	}
	return errno = found, -1;
}

/* glibc's own, where PATH is not set. */
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
		hint("gprof-run takes the place of 'nsys profile': leave the word 'profile' out");
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

/* Next word of *line, zero-terminated in place; NULL at its end. */
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

/* "env -S VAR=x python3 -u" -> python3 */
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

/* The ELF file behind the path: scripts of scripts, as deep as the kernel goes. */
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

/* The kernel drops LD_PRELOAD where a file gives other rights than those of who runs it. */
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

/* What is said of each kind; "" nothing. */
static const struct {
	const char *text;
	bool preload;                   /* LD_PRELOAD does no harm */
} kinds[] = {
	[IMAGE_UNKNOWN]   = { "", true },
	[IMAGE_OPEN]      = { "", true },
	[IMAGE_32BIT]     = { "is a 32-bit program: it is not recorded", false },
	[IMAGE_FOREIGN]   = { "is a program for another processor: it is not recorded", false },
	[IMAGE_STATIC]    = { "is a static program: only what goes through the CUDA driver's library or NVTX is recorded", true },
	[IMAGE_MUSL]      = { "uses musl's libc, where our object cannot be loaded: it is not recorded", false },
	[IMAGE_SANITIZED] = { "is built with a sanitizer, which must be loaded first: only what goes through the CUDA driver or NVTX "
			      "is recorded", false },
};

void target_check(struct target *t, const struct env *e, bool say)
{
	enum image_kind kind;

	find_image(t, e);
	kind = image_kind(t->image);
	t->preload = kinds[kind].preload;
	if (!say)
		return;
	if (*kinds[kind].text)
		note("'%s' %s", t->image, kinds[kind].text);
	else if (gains_rights(t->image))
		note("'%s' is set-uid or has capabilities, so the system keeps us out; start gprof-run with those rights", t->image);
}

/* ---- launchers ---- */

/* What starts processes elsewhere, or as somebody else: they do not inherit our environment, or are not below us. */
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
			note("what %s starts may run outside of gprof-run; it is recorded for sure with: %s", name,
			     launchers[i].better);
}
