/* Which trace a command of gprof-trace reads, and what is said about its damage. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>

struct model;
struct trace;

/*
 * The path of the only operand; without one the newest *.gtrace of the current folder, named on stderr.  NULL: there is
 * none, or there are too many operands; that has been said.  buf holds a path that was found.
 */
const char *input_path(int argc, char **argv, char *buf, size_t size);

/* The path that is meant by `name`: NAME.gtrace where there is no NAME, as gprof-run -o NAME calls it.  Perhaps in buf. */
const char *input_named(const char *name, char *buf, size_t size);

/* The trace in memory, or NULL: said why. */
struct model *input_open(const char *path);

/* A collector has it open. */
bool input_being_written(const struct trace *t);

/* Names what of the trace could not be read so far, on stderr, in a few lines.  Their number. */
size_t input_say_damage(const struct model *m);

#endif
