/* The trace's name, from the command line.  The collector changes it if the file exists or the folder cannot be written. */
#include "cli/run/run.h"
#include "cli/ui/fail.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".gtrace"

/* The value of the first variable that is a number; -1: none. */
static long number_of(const char *const *names)
{
	for (; *names; names++) {
		const char *value = getenv(*names);
		char *end;
		long n;

		if (!value || *value < '0' || *value > '9')
			continue;
		n = strtol(value, &end, 10);
		if (!*end)
			return n;
	}
	return -1;
}

long output_rank(void)
{
	static const char *const names[] = { "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", NULL };

	return number_of(names);
}

static long world_size(void)
{
	static const char *const names[] = { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", NULL };

	return number_of(names);
}

/* ---- placeholders ---- */

/* A text in a fixed buffer.  What does not fit is dropped and sets `full`, which the caller checks once. */
struct path_text {
	char *at, *end;
	bool full;
};

static void path_append(struct path_text *t, const char *s, size_t n)
{
	if ((size_t)(t->end - t->at) <= n) {
		t->full = true;
		return;
	}
	memcpy(t->at, s, n);
	t->at += n;
	*t->at = '\0';
}

static void put_text(struct path_text *t, const char *s)
{
	path_append(t, s, strlen(s));
}

static void put_number(struct path_text *t, long n)
{
	char digits[24];

	path_append(t, digits, (size_t)snprintf(digits, sizeof digits, "%ld", n));
}

static void put_host(struct path_text *t)
{
	char host[256] = "host";

	gethostname(host, sizeof host - 1);
	for (char *c = host; *c; c++)
		if (*c == '/')
			*c = '_';
	put_text(t, host);
}

/* Expands %q{VAR}; p is after the q.  Returns the rest of the pattern, or NULL: not a valid placeholder. */
static const char *put_variable(struct path_text *t, const char *p)
{
	const char *end = *p == '{' ? strchr(p, '}') : NULL, *value;
	char name[256];

	if (!end || (size_t)(end - p) > sizeof name)
		return NULL;
	snprintf(name, sizeof name, "%.*s", (int)(end - p - 1), p + 1);
	value = getenv(name);
	if (!value)
		note("-o: variable '%s' is not set; an empty text is used", name);
	put_text(t, value ? value : "");
	return end + 1;
}

/* Expands the placeholders of a name.  Returns whether there is a valid one, so that the name may differ between ranks. */
static bool expand(struct path_text *t, const char *pattern, pid_t program)
{
	long rank = output_rank();
	bool placeholder = false;
	const char *rest;

	for (const char *p = pattern; *p;) {
		if (*p != '%') {
			path_append(t, p++, 1);
			continue;
		}
		placeholder |= p[1] != '%';
		rest = p + 2;
		switch (p[1]) {
		case '%': path_append(t, "%", 1); break;
		case 'h': put_host(t); break;
		case 'p': put_number(t, program); break;
		case 'r': put_number(t, rank < 0 ? 0 : rank); break;
		case 'q': rest = put_variable(t, p + 2); break;
		default: rest = NULL; break;
		}
		if (!rest) {
			if (p[1] == 'q' && p[2] == '{' && !strchr(p, '}'))
				note("-o: '%s' lacks its '}': %%q{VAR}", p);
			else
				note("-o: unknown placeholder '%.2s'; use %%h, %%p, %%r, %%q{VAR} or %%%%", p);
			path_append(t, p, 1);
			rest = p + 1;
			placeholder = false;
		}
		p = rest;
	}
	return placeholder;
}

/* ---- the path ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void put_default(struct path_text *t, const struct request *r, pid_t program)
{
	put_text(t, "gprof-");
	put_text(t, base_name(r->argv[0]));
	put_text(t, "-");
	put_host(t);
	put_text(t, "-");
	put_number(t, program);
}

/* Removes .gtrace, and the suffixes of nsys's reports, so that -o NAME.nsys-rep gives NAME.gtrace. */
static void cut_suffix(struct path_text *t, const char *start)
{
	static const char *const suffixes[] = { SUFFIX, ".nsys-rep", ".qdrep" };

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		size_t n = strlen(suffixes[i]);

		if ((size_t)(t->at - start) > n && strcmp(t->at - n, suffixes[i]) == 0) {
			*(t->at -= n) = '\0';
			return;
		}
	}
}

/* "-o run/" and "-o ." are folders.  "-o run" is a file name, even if a folder run/ exists, as in nsys. */
static bool is_folder(const char *path)
{
	const char *base = base_name(path);

	return !*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0;
}

/* Creates the folders of a path.  Errors are ignored: the collector moves the trace if it cannot be written. */
static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
}

void output_make_folder(const char *path)
{
	char copy[PATH_MAX];

	if (snprintf(copy, sizeof copy, "%s/", path) < (int)sizeof copy)
		make_folders(copy);
}

/* TMPDIR or /tmp. */
static const char *spare_folder(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp && *tmp == '/' ? tmp : "/tmp";
}

void output_path(const struct request *r, pid_t program, char *out, size_t size)
{
	struct path_text t = { .at = out, .end = out + size - strlen(SUFFIX) };
	char here[PATH_MAX];
	long rank = output_rank();
	bool placeholder = true;

	out[0] = '\0';
	if (!r->name || *r->name != '/')
		put_text(&t, getcwd(here, sizeof here) && *here == '/' ? here : spare_folder()), path_append(&t, "/", 1);
	if (r->name)
		placeholder = expand(&t, r->name, program);
	if (is_folder(out)) {
		if (t.at > out && t.at[-1] != '/')
			path_append(&t, "/", 1);
		put_default(&t, r, program);
		placeholder = true;
	}
	cut_suffix(&t, base_name(out));
	if (!placeholder && world_size() > 1 && rank >= 0)
		put_text(&t, ".rank"), put_number(&t, rank);
	/* Leaves room for ".2" to ".99", which the collector inserts if the name is taken. */
	if (t.full || strlen(base_name(out)) > NAME_MAX - sizeof ".99" SUFFIX) {
		fail("the output name is longer than %zu bytes; the trace goes to '%s'",
		     t.full ? size : NAME_MAX - sizeof ".99" SUFFIX, spare_folder());
		t = (struct path_text){ .at = out, .end = out + size - strlen(SUFFIX) };
		put_text(&t, spare_folder());
		path_append(&t, "/", 1);
		put_default(&t, r, program);
	}
	strcpy(t.at, SUFFIX);
	make_folders(out);
}
