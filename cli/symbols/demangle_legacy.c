/* Rust's legacy scheme: C++ mangling with escapes for characters that identifiers cannot contain, and a hash at the end. */
#include "cli/symbols/demangle.h"

#include <stdio.h>
#include <string.h>

struct demangled {
	char *out;
	size_t size, n;
	bool full;
};

static void put_text(struct demangled *t, const char *from, size_t n)
{
	if (t->full || n >= t->size - t->n) {
		t->full = true;
		return;
	}
	memcpy(t->out + t->n, from, n);
	t->n += n;
}

/* Length of an escape like "$LT$" at p, 0: none; *to: its character. */
static size_t escape(const char *p, const char *end, char *to)
{
	static const struct {
		const char *from;
		char to;
	} table[] = { { "$SP$", '@' }, { "$BP$", '*' }, { "$RF$", '&' }, { "$LT$", '<' }, { "$GT$", '>' },
		      { "$LP$", '(' }, { "$RP$", ')' }, { "$C$", ',' } };
	unsigned code;
	int n = 0;

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		size_t length = strlen(table[i].from);

		if ((size_t)(end - p) >= length && strncmp(p, table[i].from, length) == 0) {
			*to = table[i].to;
			return length;
		}
	}
	if (end - p < 5 || sscanf(p, "$u%4x$%n", &code, &n) != 1 || !n || n > end - p || code < ' ' || code > 0x7e)
		return 0;
	*to = (char)code;
	return (size_t)n;
}

static void put_part(struct demangled *t, const char *p, const char *end)
{
	char to;

	if (end - p > 1 && p[0] == '_' && p[1] == '$')
		p++;            /* an underscore added because identifiers cannot begin with a dollar sign */
	while (p < end) {
		size_t n = *p == '$' ? escape(p, end, &to) : 0;

		if (n) {
			put_text(t, &to, 1);
			p += n;
		} else if (end - p > 1 && p[0] == '.' && p[1] == '.') {
			put_text(t, "::", 2);
			p += 2;
		} else {
			put_text(t, p++, 1);
		}
	}
}

static bool is_hash(const char *p, size_t n)
{
	return n == 17 && *p == 'h' && strspn(p + 1, "0123456789abcdef") >= 16;
}

bool demangle_rust_legacy(const char *name, char *out, size_t size)
{
	struct demangled t = { .out = out, .size = size };
	const char *p = name + 3, *end = name + strlen(name);
	bool hash = false;

	for (unsigned parts = 0; *p != 'E'; parts++) {
		size_t n = 0;

		if (hash || *p < '1' || *p > '9')
			return false;
		while (*p >= '0' && *p <= '9' && n < 100000)
			n = n * 10 + (size_t)(*p++ - '0');
		if (n >= (size_t)(end - p))
			return false;
		hash = is_hash(p, n) && p[n] == 'E';
		if (!hash) {
			put_text(&t, "::", parts ? 2 : 0);
			put_part(&t, p, p + n);
		}
		p += n;
	}
	out[t.n] = '\0';
	return !t.full && hash && (p[1] == '\0' || p[1] == '.');
}
