#include "cli/ui/screen.h"

#include "cli/ui/json_out.h"
#include "cli/ui/options.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH 120u      /* of tables where nothing says how wide they may be */

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

bool screen_is(FILE *file)
{
	int fd = fileno(file);

	return fd >= 0 && isatty(fd);
}

unsigned screen_columns(FILE *file)
{
	struct winsize size;

	return screen_is(file) && ioctl(fileno(file), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

unsigned screen_width(FILE *file)
{
	const char *columns = getenv("COLUMNS");
	unsigned long given = columns ? strtoul(columns, NULL, 10) : 0;
	unsigned own = screen_columns(file);

	if (given && given < 100000)
		return (unsigned)given;
	return own ? own : WIDTH;
}

static const char *when = "auto";

int screen_option(const struct opt *o, const char *value)
{
	return opt_choice(&(struct opt){ .name = o->name, .values = o->values, .where = &when }, value);
}

bool screen_styled(FILE *file)
{
	const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");

	if (strcmp(when, "auto") != 0)
		return file == stdout && strcmp(when, "always") == 0;
	return !(none && *none) && terminal && *terminal && strcmp(terminal, "dumb") != 0 && screen_is(file);
}

void screen_print(const char *fmt, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0)
		return;
	fwrite(text, 1, screen_is(stdout) ? screen_clean(text, (size_t)n) : (size_t)n, stdout);
	free(text);
}
