#include "inject/core/text.h"

#include <stdarg.h>
#include <stdio.h>

void text_append(struct text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(t->out + t->n, t->size - t->n, fmt, args);
	va_end(args);
	t->n = t->n + (size_t)n < t->size ? t->n + (size_t)n : t->size - 1;
}
