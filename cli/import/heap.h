/* How malloc() gets its memory in commands that read much. */
#ifndef IMPORT_HEAP_H
#define IMPORT_HEAP_H

#include <stddef.h>

/*
 * About so many bytes will be allocated, used, freed and allocated again.  From then on large blocks come from the heap
 * too, and what is freed stays there: memory that is given back comes again as zeroed pages, one fault each.  Where it is
 * more than a little the heap is on huge pages.  A hint: nothing can fail.
 */
void heap_expect(size_t bytes);

#endif
