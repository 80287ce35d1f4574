/* Which trace a command of gprof-trace reads, and what is said about its damage. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>

struct import;
struct model;
struct trace;

/*
 * The path of the only operand, or the first of several that are to be imported together: Kineto files, or folders of them; without one
 * the newest *.gtrace of the current folder, named on stderr.  NULL: there is none, or there are too many operands; that has been said.
 * buf holds a path that was found.
 */
const char *input_path(int argc, char **argv, char *buf, size_t size);

/* The path that is meant by `name`: NAME.gtrace where there is no NAME, as gprof-run -o NAME calls it.  Perhaps in buf. */
const char *input_named(const char *name, char *buf, size_t size);

/*
 * The trace in memory, or NULL: said why.  path: as input_path() gave it.  A trace of another profiler is imported into
 * memory.
 */
struct model *input_open(const char *path);

/* Would input_open() import it? */
bool input_is_foreign(const char *path);

/* The operands as paths of files, those of folders by name; they stay until the next call.  0, or -1: said why. */
int input_gather(int argc, char **argv, const char *const **paths, size_t *n);
void input_forget(void);

/* Names what was not understood, one line a file. */
void input_say_foreign(const struct import *im);

/* A collector has it open. */
bool input_being_written(const struct trace *t);

/* Names what of the trace could not be read so far, on stderr, in a few lines.  Their number. */
size_t input_say_damage(const struct model *m);

#endif
