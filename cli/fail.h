/* How the programs of the upper floor speak: whole lines on stderr, each in one write, so that 64 ranks on one terminal stay readable. */
#ifndef CLI_FAIL_H
#define CLI_FAIL_H

#define EXIT_OK     0
#define EXIT_FAILED 1
#define EXIT_USAGE  2

/* "gprof-run", "gprof-trace": how the program was called, without its folder. */
const char *program_name(void);

/* "PROGRAM: what failed\n".  Control characters become '?': a file's name cannot break the line.  Always -1, so that a caller can
 * return it. */
int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same, with ": " and the text of errno behind it. */
int fail_errno(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same line for something that is no failure. */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A second, indented line: what to do next. */
void hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
