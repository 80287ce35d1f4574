/* What an import could not read, and what it keeps as attributes. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/import/rows/kineto.h"

void kineto_count(struct kineto *k, enum import_count what, const char *fmt, ...)
{
	struct counted *c = &k->counts[what];
	va_list ap;

	if (c->count++)
		return;
	va_start(ap, fmt);
	vsnprintf(c->first, sizeof c->first, fmt, ap);
	va_end(ap);
	for (char *p = c->first; *p; p++)       /* text from the file goes to a terminal: no control characters */
		*p = (unsigned char)*p < ' ' || *p == 0x7f ? '.' : *p;
}

void kineto_fact(struct kineto *k, const char *key, const char *fmt, ...)
{
	char value[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof value, fmt, ap);
	va_end(ap);
	buf_put(&k->attributes, key, strlen(key));
	buf_put(&k->attributes, "=", 1);
	buf_put(&k->attributes, value, strlen(value) + 1);
}
