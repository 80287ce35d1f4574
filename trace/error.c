#include "trace/error.h"

#include <stdarg.h>
#include <stdio.h>

int trace_fail(struct trace_error *err, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	if (!err || err->text[0])
		return -1;
	err->offset = offset;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof err->text, fmt, ap);
	va_end(ap);
	for (char *p = err->text; *p; p++)      /* text from a file may contain control characters for the terminal */
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	return -1;
}
