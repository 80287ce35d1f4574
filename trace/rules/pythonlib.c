#include "trace/rules/pythonlib.h"

#include <string.h>
#include <strings.h>

struct path_part {
	const char *at;
	size_t n;
};

static bool is(struct path_part p, const char *name)
{
	return p.n == strlen(name) && memcmp(p.at, name, p.n) == 0;
}

static bool begins(struct path_part p, const char *with)
{
	size_t n = strlen(with);

	return p.n >= n && strncasecmp(p.at, with, n) == 0;
}

/* python3.11, python3.13t */
static bool has_version(struct path_part p)
{
	static const char name[] = "python3.";
	size_t n = sizeof name - 1, digits;

	if (p.n <= n || memcmp(p.at, name, n) != 0)
		return false;
	for (digits = n; digits < p.n && p.at[digits] >= '0' && p.at[digits] <= '9'; digits++)
		;
	return digits > n && p.n - digits <= 1;
}

static bool is_library(struct path_part folder, struct path_part in)
{
	if (is(folder, "site-packages") || is(folder, "dist-packages") || has_version(folder))
		return true;
	if (is(folder, "Lib"))
		return begins(in, "python") || begins(in, "cpython");
	return (is(in, "lib") || is(in, "lib64")) && folder.n >= 7 && memcmp(folder.at, "python3", 7) == 0;
}

bool pythonlib_has(const char *path, size_t n)
{
	struct path_part in = { path, 0 };

	for (size_t i = 0; i < n;) {
		const char *slash = memchr(path + i, '/', n - i);
		struct path_part folder = { path + i, slash ? (size_t)(slash - path) - i : 0 };

		if (!slash)
			return false;
		if (i && is_library(folder, in))
			return true;
		in = folder;
		i += folder.n + 1;
	}
	return false;
}
