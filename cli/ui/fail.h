/* Messages of the programs on stderr.  Each line is one write(), so that lines of several ranks on one terminal do not mix. */
#ifndef CLI_UI_FAIL_H
#define CLI_UI_FAIL_H

#define EXIT_OK     0
#define EXIT_FAILED 1
#define EXIT_USAGE  2

/* The name that the program was called by, without folder: "gprof-run". */
const char *program_name(void);

/*
 * Prints "PROGRAM: what failed".  Control characters become '?', so that a file's name cannot break the line.  Always
 * returns -1, for the caller to return.
 */
int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* As fail(), followed by ": " and the text of errno.  Keeps errno. */
int fail_errno(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints a line in the same form that is not an error. */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints an indented line below an error: what to do next. */
void hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
