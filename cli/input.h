/* Which trace a command of gprof-trace reads, and the messages about its damage. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct import;
struct model;
struct opt;
struct trace;

/*
 * The path that the operands select, to be passed to input_open(): the only operand; the first of several Kineto files or
 * folders, which input_open() imports together; without operands the newest *.gtrace of the current folder, with a note.
 * The result points to an operand or to buf.  NULL after an error message: no trace, or too many operands.
 */
const char *input_path(int argc, char **argv, char *buf, size_t size);

/* The path for the operand `name`: NAME.gtrace (in buf) if there is no file NAME but that one; /dev/stdin for "-". */
const char *input_named(const char *name, char *buf, size_t size);

/*
 * Opens a trace; path: the result of input_path(), or any path.  A trace of another profiler is imported into memory.  The
 * caller calls model_close().  NULL after an error message.
 */
struct model *input_open(const char *path);

/* Options of every command that reads a trace: rows for its table. */
#define INPUT_OPTIONS                                                                                           \
	{ 0, "no-unpack-limit", NULL, input_unlimit, NULL,                                                      \
	  "read a trace even if its contents are very much larger than its file", NULL, OPT_MORE }
/* Parser of --no-unpack-limit (options.h). */
int input_unlimit(const struct opt *o, const char *value);

/* Flags for trace_open(), from that option. */
unsigned input_flags(void);

/* Limit of the output for this trace, in bytes; 0: no limit.  A small hostile trace must not fill the disk. */
uint64_t input_most_written(const struct model *m);
/* Prints the error that the output `what` exceeds that limit.  Returns -1. */
int input_say_too_much(const struct model *m, const char *what);

/* Whether input_open() imports this path. */
bool input_is_foreign(const char *path);

/*
 * Replaces the operands by paths of files: a folder by its Kineto files, sorted by name.  The paths are valid until
 * input_forget() or the next call.  0, or -1 after an error message.
 */
int input_gather(int argc, char **argv, const char *const **paths, size_t *n);
/* Frees the paths. */
void input_forget(void);

/* Prints what the import did not understand, a note for each file. */
void input_say_foreign(const struct import *im);

/* Whether a collector is writing this file. */
bool input_being_written(const struct trace *t);

/* Prints which parts of the trace could not be read so far, in at most 6 lines on stderr.  Returns the number of parts. */
size_t input_say_damage(const struct model *m);

#endif
