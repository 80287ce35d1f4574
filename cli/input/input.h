/* Which trace a command of gprof-trace reads, and the messages about its damage. */
#ifndef CLI_INPUT_INPUT_H
#define CLI_INPUT_INPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct import;
struct model;
struct opt;
struct trace;

/* What a command reads as one trace.  Initialise with { 0 }, or with { .path = PATH } for one known file. */
struct input {
	const char *path;               /* the trace; with `files`: the first operand, for messages */
	char **files;                   /* files of other profilers, imported together; NULL: `path` is opened alone */
	size_t n, cap;                  /* number of files */
	char found[PATH_MAX];
};

/*
 * Selects the trace that the operands name: the only operand; Kineto files and folders of them, which are imported together;
 * without operands the newest *.gtrace of the current folder, with a note.  `in` points to the operands.  0, or an exit
 * status after an error message: no trace, or too many operands.
 */
int input_select(struct input *in, int argc, char **argv);

/*
 * Opens what was selected, and releases the list of files.  A trace of another profiler is imported into memory.  The caller
 * calls model_close().  NULL after an error message.
 */
struct model *input_open(struct input *in);

/* Whether input_open() imports. */
bool input_is_foreign(const struct input *in);

/*
 * The files of the operands, in `files`: of a folder its Kineto files, sorted by name.  The caller calls input_release().
 * 0, or -1 after an error message.
 */
int input_gather(struct input *in, int argc, char **argv);
void input_release(struct input *in);

/* The path for the operand `name`: NAME.gtrace (in buf) if there is no file NAME but that one; /dev/stdin for "-". */
const char *input_named(const char *name, char *buf, size_t size);

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

/* Prints what the import did not understand, a note for each file. */
void input_say_foreign(const struct import *im);

/* Whether a collector is writing this file. */
bool input_being_written(const struct trace *t);

/* Prints which parts of the trace could not be read so far, in at most 6 lines on stderr.  Returns the number of parts. */
size_t input_say_damage(const struct model *m);

#endif
