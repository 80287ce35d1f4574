/*
 * In place of cli/import/source.c: bytes that come so many at a time.  What is not there yet, and what was given back, is
 * anything: bytes that would mean something to a scanner that looked at them.  In memory of its own size, so that
 * AddressSanitizer sees who looks further.
 */
#ifndef TEST_UNIT_IMPORT_SOURCE_H
#define TEST_UNIT_IMPORT_SOURCE_H

#include <stddef.h>
#include <stdint.h>

/* What the next source_open() of any path opens: step bytes at a time; trouble: how it ends, NULL: well. */
void source_comes(const uint8_t *data, size_t n, size_t step, uint64_t garbage, const char *trouble);

#endif
