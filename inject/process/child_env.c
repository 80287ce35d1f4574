#include "inject/process/child_env.h"

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/core/seccomp.h"
#include "inject/core/session.h"
#include "trace/wire.h"

/* Larger environments are left unchanged: they were not cleaned, and the stack may be small. */
#define MOST_VARIABLES 2048u
#define LONGEST_LIST   8192u

#define PRELOAD "LD_PRELOAD="

enum { OURS_SESSION, OURS_CUDA, OURS_NVTX, OURS_PRELOAD, N_OURS };

static struct ours {
	const char *name;
	size_t len;                     /* of the name and '=' */
	char text[PATH_MAX + 32];       /* "NAME=VALUE"; empty: not to be put back */
} ours[N_OURS] = {
	[OURS_SESSION] = { WIRE_ENV "=", sizeof WIRE_ENV, "" },
	[OURS_CUDA] = { "CUDA_INJECTION64_PATH=", 22, "" },
	[OURS_NVTX] = { "NVTX_INJECTION64_PATH=", 22, "" },
	[OURS_PRELOAD] = { PRELOAD, sizeof PRELOAD - 1, "" },
};

static bool restores;                   /* put variables back into a cleaned environment */

static const char *our_path(void)
{
	return ours[OURS_PRELOAD].text + sizeof PRELOAD - 1;
}

static void remember(struct ours *o, const char *value)
{
	if (o->len + strlen(value) < sizeof o->text)
		strcat(strcpy(o->text, o->name), value);
}

void child_env_init(const char *object)
{
	const char *session = getenv(WIRE_ENV), *list = getenv("LD_PRELOAD"), *no = getenv(WIRE_ENV_RESTORE);

	/* Not preloaded (only the driver or NVTX loaded the object): LD_PRELOAD may be what fails here, so put nothing back. */
	if (!session || session[0] != '/' || object[0] != '/' || !list || !strstr(list, object))
		return;
	restores = !(no && strcmp(no, "0") == 0);
	for (int i = OURS_CUDA; i <= OURS_NVTX; i++) {
		const char *value = getenv(i == OURS_CUDA ? "CUDA_INJECTION64_PATH" : "NVTX_INJECTION64_PATH");

		if (value && strcmp(value, object) == 0)
			remember(&ours[i], value);
	}
	remember(&ours[OURS_PRELOAD], object);
	remember(&ours[OURS_SESSION], session);
}

void child_env_begin(void)
{
	char *first = getenv(WIRE_ENV_FIRST), *list = getenv("LD_PRELOAD");
	size_t n = first ? strlen(first) : 0;

	if (!n)
		return;
	if (list && strncmp(list, first, n) == 0 && list[n] == ':')
		memmove(list, list + n + 1, strlen(list + n + 1) + 1);
	for (char **to = environ, **from = environ; from; to++, from++) {
		if (*from == first - sizeof WIRE_ENV_FIRST)
			from++;
		*to = *from;
		if (!*from)
			break;
	}
}

/* ---- what envp contains ---- */

struct own_variables {
	size_t n;                       /* variables */
	const char *var[N_OURS];        /* the first of each name; NULL: none */
};

static void find_own(struct own_variables *f, char *const envp[])
{
	*f = (struct own_variables){ 0 };
	for (; envp && envp[f->n]; f->n++)
		for (int i = 0; i < N_OURS; i++)
			if (!f->var[i] && strncmp(envp[f->n], ours[i].name, ours[i].len) == 0)
				f->var[i] = envp[f->n];
}

/* Value of LD_PRELOAD; "": none. */
static const char *list_of(const struct own_variables *f)
{
	return f->var[OURS_PRELOAD] ? f->var[OURS_PRELOAD] + sizeof PRELOAD - 1 : "";
}

/* Length of the entry at p; blanks and colons separate entries. */
static size_t entry_at(const char *p)
{
	return strcspn(p, ": ");
}

static bool is_our_entry(const char *p, size_t n)
{
	return n == strlen(our_path()) && memcmp(p, our_path(), n) == 0;
}

static bool has_ours(const char *list)
{
	for (; *(list += strspn(list, ": ")); list += entry_at(list))
		if (is_our_entry(list, entry_at(list)))
			return true;
	return false;
}

/* An LD_PRELOAD without the injected object, else NULL.  The object is appended: a sanitizer refuses to run unless it is first. */
static const char *others(const struct own_variables *f)
{
	return *list_of(f) && !has_ours(list_of(f)) ? list_of(f) : NULL;
}

static bool cleaned(const struct own_variables *f)
{
	return !f->var[OURS_SESSION];
}

static bool is_to_restore(const struct own_variables *f)
{
	return restores && (cleaned(f) || (others(f) && strcmp(f->var[OURS_SESSION], ours[OURS_SESSION].text) == 0));
}

/* ---- planning the change ---- */

static size_t longest_folder(const char *list)
{
	size_t most = 0;

	for (size_t n; *list; list += n + (list[n] == ':')) {
		n = strcspn(list, ":");
		most = n > most ? n : most;
	}
	return most;
}

/* As execvp(): the first executable in this process's PATH; envp's PATH does not count. */
static void search(struct executable *m, const char *file)
{
	const char *list = getenv("PATH") ? getenv("PATH") : "/bin:/usr/bin";
	size_t most = longest_folder(list), n = strlen(file);
	char *path;

	if (!n || most + n + 2 > PATH_MAX)
		return;
	path = alloca(most + n + 2);
	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ":");

		memcpy(path, p, len);
		strcpy(path + len, "/");
		strcpy(path + len + (len > 0), file);
		if (syscall(SYS_faccessat, AT_FDCWD, path, X_OK) == 0 && image_look_through(m, AT_FDCWD, path) != IMAGE_UNKNOWN)
			return;
		p += len;
		if (!*p)
			return;
	}
}

static bool can_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Why the injected object cannot be loaded, a ROSTER_ letter; 0: it can. */
static char obstacle(const struct executable *m)
{
	if (!m->loads)
		return 0;
	if (m->kind == IMAGE_32BIT)
		return ROSTER_32BIT;
	if (m->kind == IMAGE_FOREIGN)
		return ROSTER_FOREIGN;
	return can_read(our_path()) ? 0 : ROSTER_OUT_OF_REACH;
}

/* Not inlined: its stack frame (a whole struct executable) is free again when libc continues. */
static __attribute__((noinline)) void look_at_image(struct child_plan *plan, const struct own_variables *f, const struct child_file *file)
{
	struct executable m = { .kind = IMAGE_UNKNOWN };
	char why;

	/* path NULL: execve() will return EFAULT. */
	if (!file->path || !seccomp_allows(SECCOMP_EXEC))
		return;
	if (file->search && !strchr(file->path, '/'))
		search(&m, file->path);
	else
		image_look_through(&m, file->dir, file->path);
	why = obstacle(&m);
	if (why) {
		plan->preload = CHILD_WITHOUT;
		session_tell_lost(why, file->path);
	} else if (m.kind == IMAGE_SANITIZED && strncmp(list_of(f), m.runtime, strlen(m.runtime)) != 0) {
		plan->preload = CHILD_FIRST;
		strcpy(plan->first, m.runtime);
	}
}

static bool is_set(const struct own_variables *f, int which)
{
	return f->var[which] && strcmp(f->var[which], ours[which].text) == 0;
}

/* The new program, of any kind, inherits this process's seccomp filter. */
static void leave_alone(struct child_plan *plan, const struct own_variables *f, const struct child_file *file)
{
	plan->alone = has_ours(list_of(f));
	for (int i = OURS_SESSION; i < OURS_PRELOAD; i++)
		plan->alone |= is_set(f, i);
	plan->preload = CHILD_WITHOUT;
	if (plan->alone)
		session_tell_lost(ROSTER_FILTERED, file->path ? file->path : "");
}

static size_t room_for(const struct own_variables *f)
{
	return (f->n + N_OURS + 3) * sizeof(char *) + sizeof PRELOAD + strlen(list_of(f)) + sizeof ours[0].text + 2 * IMAGE_NAME +
	       sizeof WIRE_ENV_FIRST + 1;
}

size_t child_env_plan(struct child_plan *plan, char *const envp[], const struct child_file *file)
{
	struct own_variables f;
	int saved = errno;

	*plan = (struct child_plan){ 0 };
	if (!*our_path())
		return 0;
	find_own(&f, envp);
	if (f.n > MOST_VARIABLES || strlen(list_of(&f)) > LONGEST_LIST)
		return 0;
	if (!seccomp_allows_all()) {
		leave_alone(plan, &f, file);
		errno = saved;
		return plan->alone ? room_for(&f) : 0;
	}
	plan->restore = is_to_restore(&f);
	if (!plan->restore && !has_ours(list_of(&f)))
		return 0;
	look_at_image(plan, &f, file);
	errno = saved;
	if (plan->preload == CHILD_WITHOUT)
		plan->restore = false;
	if (!plan->restore && (plan->preload == CHILD_AS_IS || !has_ours(list_of(&f))))
		return 0;
	return room_for(&f);
}

/* ---- building the new environment ---- */

/* Appends one entry to the LD_PRELOAD text, which ends at `end`; returns the new end. */
static char *add_entry(const char *text, char *end, const char *entry, size_t n)
{
	if (end != text + sizeof PRELOAD - 1)
		*end++ = ':';
	memcpy(end, entry, n);
	end[n] = '\0';
	return end + n;
}

/* Writes "LD_PRELOAD=..." to text; returns its end. */
static char *write_list(char *text, const struct child_plan *plan, const char *list)
{
	char *end = stpcpy(text, PRELOAD);
	bool join = plan->restore && !has_ours(list);

	if (plan->preload == CHILD_FIRST)
		end = add_entry(text, end, plan->first, strlen(plan->first));
	for (size_t n; *(list += strspn(list, ": ")); list += n) {
		n = entry_at(list);
		if (!is_our_entry(list, n) || plan->preload != CHILD_WITHOUT)
			end = add_entry(text, end, list, n);
	}
	return join ? add_entry(text, end, our_path(), strlen(our_path())) : end;
}

static bool is_our_variable(const struct own_variables *f, const char *variable)
{
	for (int i = OURS_SESSION; i < OURS_PRELOAD; i++)
		if (variable == f->var[i] && is_set(f, i))
			return true;
	return false;
}

char *const *child_env_fill(const struct child_plan *plan, void *room, char *const envp[])
{
	struct own_variables f;
	const char **to = room;
	char *text, *end;
	size_t n = 0;
	bool some;

	find_own(&f, envp);
	text = (char *)(to + f.n + N_OURS + 3);
	end = write_list(text, plan, list_of(&f));
	some = end != text + sizeof PRELOAD - 1;
	for (size_t i = 0; i < f.n; i++)
		if (envp[i] == f.var[OURS_PRELOAD] && some)
			to[n++] = text;
		else if (envp[i] != f.var[OURS_PRELOAD] && !(plan->alone && is_our_variable(&f, envp[i])))
			to[n++] = envp[i];
	for (int i = OURS_SESSION; i < OURS_PRELOAD; i++)
		if (plan->restore && cleaned(&f) && !f.var[i] && ours[i].text[0])
			to[n++] = ours[i].text;
	if (some && !f.var[OURS_PRELOAD])
		to[n++] = text;
	if (plan->preload == CHILD_FIRST) {
		to[n++] = end + 1;
		strcpy(stpcpy(end + 1, WIRE_ENV_FIRST "="), plan->first);
	}
	to[n] = NULL;
	return room;
}
