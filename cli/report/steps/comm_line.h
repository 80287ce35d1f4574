/* Words about the time of communication between GPUs. */
#ifndef CLI_REPORT_STEPS_COMM_LINE_H
#define CLI_REPORT_STEPS_COMM_LINE_H

#include <stddef.h>
#include <stdint.h>

struct gpu_times;
struct step_view;

/* "15.6 ms, of which 13.1 ms (84 %) exposed".  Returns text. */
const char *comm_words(const struct gpu_times *t, char *text, size_t size);

/*
 * "15.6 ms (7 % of median step #5); exposed (no compute runs): 13.2 ms, 84 % of comm".  The base of the first share is `whole` (ns), named
 * `of`; that of the second is the communication.
 */
void comm_of(const struct gpu_times *t, int64_t whole, const char *of, char *text, size_t size);

/*
 * comm_of() for the page: of the median step of the process with most steps among those that communicate; without steps, of the GPU span
 * of the process with most communication.  "": no communication kernel, its time is not known, or reading takes too long.  Returns 0, or
 * -1 when out of memory.
 */
int comm_line(const struct step_view *v, char *text, size_t size);

#endif
