/* The page's line about steps. */
#ifndef CLI_REPORT_STEPS_STEP_LINE_H
#define CLI_REPORT_STEPS_STEP_LINE_H

#include <stddef.h>

struct step_view;

/*
 * "60, median 5.69 ms, slowest #7 at 22.0 ms: data +16.1 ms" of the kind with most steps; "": no steps, or finding them takes too long.
 * The last part is the phase, or without phases the GPU's busy or idle time, that is longer in the slowest step than in the median one.
 * Returns 0, or -1 when out of memory.
 */
int step_line(const struct step_view *v, char *text, size_t size);

/*
 * "1 of the 3 steps in window 1 is complete: ...": of steps that were found from launches, where the schedule's first window began too late
 * for all of them; "": it did not.  Returns 0, or -1 when out of memory.
 */
int first_window_line(const struct step_view *v, char *text, size_t size);

#endif
