/* How processes ended, in words. */
#ifndef ANALYZE_ENDS_H
#define ANALYZE_ENDS_H

#include <stddef.h>
#include <stdint.h>

struct model;
struct process;

/* "exit 0", "SIGKILL", "running"; NULL: not known.  position: of any image of the process. */
const char *end_words(struct model *m, uint32_t position, char buf[32]);

/*
 * One sentence on the program and all processes that were recorded: "exit 0", or those that failed, in the order of time.  "": it is not
 * known of any.  0, or -1: out of memory.
 */
int ends_text(struct model *m, char *text, size_t size);

#endif
