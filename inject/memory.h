/* Memory for things that live as long as the process: names, tables.  Never malloc: a hook may run inside it. */
#ifndef INJECT_MEMORY_H
#define INJECT_MEMORY_H

#include <stddef.h>

/* Zeroed and 16-byte aligned; never given back.  NULL when the system has none. */
void *memory_take(size_t size);

#endif
