/* Tunes malloc() for commands that read large files. */
#ifndef CLI_IMPORT_BYTES_HEAP_H
#define CLI_IMPORT_BYTES_HEAP_H

#include <stddef.h>

/*
 * Prepares the heap for `bytes` of memory that is allocated, freed and allocated again.  After this call, large blocks come
 * from the heap too, and freed memory stays in the process: memory returned to the kernel comes back as zeroed pages, with
 * one page fault each.  Large amounts (WORTH_IT) are put on huge pages.  A hint: errors are ignored, and a C library other
 * than glibc does nothing.
 */
void heap_expect(size_t bytes);

#endif
