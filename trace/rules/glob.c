#include "trace/rules/glob.h"

#include <string.h>

/* The ] that ends the set beginning at p[0] == '[', or NULL.  A ] right after [ or [! is a member of the set. */
static const char *set_end(const char *p, const char *end)
{
	p++;
	if (p < end && (*p == '!' || *p == '^'))
		p++;
	if (p < end && *p == ']')
		p++;
	while (p < end && *p != ']')
		p += *p == '\\' && p + 1 < end ? 2 : 1;
	return p < end ? p : NULL;
}

static unsigned char member(const char **p, const char *end)
{
	if (**p == '\\' && *p + 1 < end)
		(*p)++;
	return (unsigned char)*(*p)++;
}

/* Whether the set contains c.  p: first byte after [; end: the set's ]. */
static bool set_has(const char *p, const char *end, unsigned char c)
{
	bool not = *p == '!' || *p == '^', found = false;

	p += not;
	while (p < end) {
		unsigned char low = member(&p, end), high = low;

		if (end - p >= 2 && *p == '-') {
			p++;
			high = member(&p, end);
		}
		found |= low <= c && c <= high;
	}
	return found != not;
}

/* Matches one byte; returns the bytes of the pattern it used, 0: no match. */
static size_t match_one(const char *p, const char *end, unsigned char c)
{
	const char *close;

	switch (*p) {
	case '?':
		return 1;
	case '[':
		close = set_end(p, end);
		if (close)
			return set_has(p + 1, close, c) ? (size_t)(close + 1 - p) : 0;
		break;
	case '\\':
		if (p + 1 < end)
			return (unsigned char)p[1] == c ? 2 : 0;
		break;
	}
	return (unsigned char)*p == c ? 1 : 0;
}

/* Backtracks only to the last *: everything before it has matched at the earliest position. */
bool glob_match(const char *pattern, size_t pattern_n, const char *name, size_t name_n)
{
	const char *p = pattern, *p_end = pattern + pattern_n, *s = name, *s_end = name + name_n;
	const char *star = NULL, *retry = NULL;

	while (s < s_end) {
		size_t took = 0;

		if (p < p_end && *p == '*') {
			star = ++p;
			retry = s;
			continue;
		}
		if (p < p_end)
			took = match_one(p, p_end, (unsigned char)*s);
		if (took) {
			p += took;
			s++;
		} else if (star) {
			p = star;
			s = ++retry;
		} else {
			return false;
		}
	}
	while (p < p_end && *p == '*')
		p++;
	return p == p_end;
}

/* Whether the byte at p is escaped: an odd number of \ precedes it. */
static bool escaped(const char *text, const char *p)
{
	size_t n = 0;

	while (p > text && p[-1] == '\\') {
		n++;
		p--;
	}
	return n % 2;
}

int glob_range_parse(struct glob_range *g, const char *text, size_t n)
{
	*g = (struct glob_range){ .range = text, .range_n = n };
	for (const char *p = text + n; p-- > text;) {
		if (*p != '@' || escaped(text, p))
			continue;
		g->range_n = (size_t)(p - text);
		g->domain = p + 1;
		g->domain_n = n - g->range_n - 1;
		break;
	}
	return g->range_n && (!g->domain || g->domain_n) ? 0 : -1;
}

bool glob_range_match(const struct glob_range *g, const char *range, size_t range_n, const char *domain, size_t domain_n)
{
	if (!domain)
		domain_n = 0;
	if (!g->domain ? domain_n != 0 : !glob_match(g->domain, g->domain_n, domain ? domain : "", domain_n))
		return false;
	return glob_match(g->range, g->range_n, range, range_n);
}
