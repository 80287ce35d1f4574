#include "cli/ui/screen.h"

#include "cli/ui/options.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH 120u      /* of tables where nothing says how wide they may be */

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
