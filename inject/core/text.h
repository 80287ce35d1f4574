/* Formats text into a buffer of fixed size; cuts off what does not fit. */
#ifndef INJECT_CORE_TEXT_H
#define INJECT_CORE_TEXT_H

#include <stddef.h>

struct text {
	char *out;
	size_t size, n;
};

/* Appends to t->out; t->n is the length so far, without the terminating zero.  t->size > 0. */
void text_append(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
