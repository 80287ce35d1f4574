/* Words about how processes ended. */
#ifndef CLI_REPORT_SESSION_ENDS_H
#define CLI_REPORT_SESSION_ENDS_H

#include <stddef.h>
#include <stdint.h>

struct model;
struct process;

/* "exit 0", "SIGKILL", "running"; NULL: not known.  position: of any image of the process.  The text is static or in buf. */
const char *end_words(struct model *m, uint32_t position, char buf[32]);

/*
 * How the program, its ranks and all recorded processes ended: "exit 0", or those that failed, by time.  "": not known of any.  Returns 0,
 * or -1 when out of memory.
 */
int ends_text(struct model *m, char *text, size_t size);

#endif
