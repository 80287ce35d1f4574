/* Text into a buffer of fixed size: what does not fit is cut off. */
#ifndef INJECT_SAY_H
#define INJECT_SAY_H

#include <stddef.h>

struct text {
	char *out;
	size_t size, n;
};

void say(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
