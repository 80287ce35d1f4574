/*
 * fail(): one line with a time into NAME.log beside the trace.  The file is created by the first line, so a good
 * session has none.
 */
#ifndef COLLECTOR_LOG_H
#define COLLECTOR_LOG_H

/* Lines go to this file from now on ("" before: they are only remembered). */
void log_to(const char *path);

/* Says what failed, on what, what next.  Always -1.  Keeps errno. */
int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * The newest line without its time, for the message to gprof-run; "" while there was none.  Borrowed until the next
 * fail().
 */
const char *fail_text(void);

#endif
