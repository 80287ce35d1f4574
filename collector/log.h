/*
 * fail() writes one line with the time to NAME.gtrace.log beside the trace.  The first line creates the file, so a session without failures
 * has none.  A file of that name that is not such a log is left alone: the newest line is then only remembered.
 */
#ifndef COLLECTOR_LOG_H
#define COLLECTOR_LOG_H

#define LOG_HEAD "log of gprof-collector\n"      /* first line of every log */

/* Sets the log's path.  Before, and with "", lines are only remembered. */
void log_to(const char *path);

/* Logs a message: what failed, on which input, what to do next.  Returns -1; preserves errno. */
int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Returns the newest message without its time, to be sent to gprof-run; "" if there is none.  Valid until the next fail(). */
const char *fail_text(void);

#endif
