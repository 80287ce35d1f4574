/* Characters that change a terminal. */
#include "cli/ui/screen.h"

#include <string.h>

/* RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
size_t utf8_length(const char *p, const char *end)
{
	const unsigned char *s = (const unsigned char *)p;
	size_t left = (size_t)(end - p), n;

	if (!left)
		return 0;
	if (s[0] < 0x80)
		return 1;
	n = s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
	if (!n || left < n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static unsigned long code_of(const unsigned char *p, size_t n)
{
	switch (n) {
	case 1:  return p[0];
	case 2:  return (p[0] & 0x1ful) << 6 | (p[1] & 0x3f);
	case 3:  return (p[0] & 0xful) << 12 | (p[1] & 0x3ful) << 6 | (p[2] & 0x3f);
	default: return 0x10000;        /* above all code points that screen_controls() looks for */
	}
}

bool screen_controls(const char *p, size_t n)
{
	unsigned long c = code_of((const unsigned char *)p, n);

	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

size_t screen_clean(char *text, size_t n)
{
	const char *end = text + n;
	char *to = text;

	for (const char *p = text; p < end;) {
		size_t length = utf8_length(p, end);
		bool stays = *p == '\n' || *p == '\t' || (length && !screen_controls(p, length));

		/* Not UTF-8: a terminal with another encoding reads bytes below 0xa0 as controls; 0x9b is ESC [. */
		if (stays || (!length && (unsigned char)*p >= 0xa0)) {
			memmove(to, p, length ? length : 1);
			to += length ? length : 1;
		} else {
			*to++ = '?';
		}
		p += length ? length : 1;
	}
	return (size_t)(to - text);
}

size_t screen_begun(const char *text, size_t n)
{
	for (size_t back = 1; back <= 3 && back <= n; back++) {
		unsigned char c = (unsigned char)text[n - back];

		if (c >= 0xc0)
			return (c >= 0xf0 ? 4u : c >= 0xe0 ? 3u : 2u) > back ? back : 0;
		if (c < 0x80)
			return 0;
	}
	return 0;
}
