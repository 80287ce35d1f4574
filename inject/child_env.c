#include "inject/child_env.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/wire.h"

/* An environment that is larger was not cleaned, and the stack may be small. */
#define MOST_VARIABLES 2048u
#define LONGEST_LIST   8192u

#define PRELOAD "LD_PRELOAD="

enum { OURS_SESSION, OURS_CUDA, OURS_NVTX, OURS_PRELOAD, N_OURS };

static struct ours {
	const char *name;
	size_t len;                     /* of the name, with its '=' */
	char text[PATH_MAX + 32];       /* "NAME=VALUE"; empty: not ours to put back */
} ours[N_OURS] = {
	[OURS_SESSION] = { WIRE_ENV "=", sizeof WIRE_ENV, "" },
	[OURS_CUDA] = { "CUDA_INJECTION64_PATH=", 22, "" },
	[OURS_NVTX] = { "NVTX_INJECTION64_PATH=", 22, "" },
	[OURS_PRELOAD] = { PRELOAD, sizeof PRELOAD - 1, "" },
};

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

	/* Where the driver alone let us in, LD_PRELOAD may be what does not work. */
	if (!session || session[0] != '/' || (no && strcmp(no, "0") == 0) || object[0] != '/' || !list ||
	    !strstr(list, object))
		return;
	for (int i = OURS_CUDA; i <= OURS_NVTX; i++) {
		const char *value = getenv(i == OURS_CUDA ? "CUDA_INJECTION64_PATH" : "NVTX_INJECTION64_PATH");

		if (value && strcmp(value, object) == 0)
			remember(&ours[i], value);
	}
	remember(&ours[OURS_PRELOAD], object);
	remember(&ours[OURS_SESSION], session);
}

/* What stands there of ours. */
struct found {
	size_t n;                       /* variables */
	const char *var[N_OURS];        /* the first of each name; NULL: none */
};

static void look(struct found *f, char *const envp[])
{
	*f = (struct found){ 0 };
	for (; envp && envp[f->n]; f->n++)
		for (int i = 0; i < N_OURS; i++)
			if (!f->var[i] && strncmp(envp[f->n], ours[i].name, ours[i].len) == 0)
				f->var[i] = envp[f->n];
}

/* A list of others, which ours is to join.  Behind them: a sanitizer refuses to run unless it is the first. */
static const char *others(const struct found *f)
{
	const char *list = f->var[OURS_PRELOAD] ? f->var[OURS_PRELOAD] + sizeof PRELOAD - 1 : "";

	return *list && !strstr(list, our_path()) ? list : NULL;
}

static bool cleaned(const struct found *f)
{
	return !f->var[OURS_SESSION];
}

size_t child_env_room(char *const envp[])
{
	const char *session = ours[OURS_SESSION].text, *list;
	struct found f;

	if (!*session)
		return 0;
	look(&f, envp);
	list = others(&f);
	if (f.n > MOST_VARIABLES || (list && strlen(list) > LONGEST_LIST))
		return 0;
	if (!cleaned(&f) && (!list || strcmp(f.var[OURS_SESSION], session) != 0))
		return 0;
	if (syscall(SYS_faccessat, AT_FDCWD, our_path(), R_OK) != 0)
		return 0;
	return (f.n + N_OURS + 1) * sizeof *envp + (list ? strlen(list) + sizeof ours[0].text : 0);
}

char *const *child_env_fill(void *room, char *const envp[])
{
	struct found f;
	const char **to = room;
	const char *list;
	size_t n = 0;

	look(&f, envp);
	list = others(&f);
	for (size_t i = 0; i < f.n; i++)
		if (!(envp[i] == f.var[OURS_PRELOAD] && (list || envp[i][sizeof PRELOAD - 1] == '\0')))
			to[n++] = envp[i];
	for (int i = OURS_SESSION; i < OURS_PRELOAD; i++)
		if (cleaned(&f) && !f.var[i] && ours[i].text[0])
			to[n++] = ours[i].text;
	if (list) {
		char *text = (char *)(to + f.n + N_OURS + 1);

		to[n++] = text;
		strcat(strcat(strcat(strcpy(text, PRELOAD), list), ":"), our_path());
	} else if (!f.var[OURS_PRELOAD] || f.var[OURS_PRELOAD][sizeof PRELOAD - 1] == '\0') {
		to[n++] = ours[OURS_PRELOAD].text;
	}
	to[n] = NULL;
	return room;
}
