/*
 * Replaces cli/import/bytes/source.c: bytes of the file arrive a given number at a time.  Bytes that have not arrived yet or were given back are
 * garbage that looks like JSON, so that a scanner that reads them fails.  The memory is allocated exactly, for AddressSanitizer.
 */
#ifndef TEST_UNIT_IMPORT_SOURCE_H
#define TEST_UNIT_IMPORT_SOURCE_H

#include <stddef.h>
#include <stdint.h>

/* Sets what the next source_open() opens, whatever its path.  step: bytes at a time; trouble: the error at the end, or NULL. */
void source_comes(const uint8_t *data, size_t n, size_t step, uint64_t garbage, const char *trouble);

#endif
