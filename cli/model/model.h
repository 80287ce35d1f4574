/*
 * The trace in memory: the one place that reports and exporters read.  Never prints.
 *
 * Rows of a kind have a number, 0 to model_rows() - 1, over all processes: those of one process stand together, in file
 * order. A column is one field of all rows, decoded when it is first asked for.  A pass (model_scan) decodes chunk by
 * chunk into scratch memory and keeps nothing: for sums over many rows.  In both, times are trace time, and string ids
 * are the model's own, equal for equal texts of all processes.  Rows of damaged chunks are not there; the trace's list
 * of damage names them.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/records.h"

struct model;
struct trace;
struct trace_error;

/* NULL: *err says why.  model_close() takes NULL. */
struct model *model_open(const char *path, struct trace_error *err);
/* Of an open trace, which is the model's from then on, also where that fails: out of memory. */
struct model *model_of(struct trace *t);
void model_close(struct model *m);

const char *model_path(const struct model *m);
/* For commands that speak about the file itself; reports never need it. */
struct trace *model_trace(const struct model *m);

/* When the session started, and the latest time that the trace knows of (its end when it is finished). */
int64_t model_start(const struct model *m);
int64_t model_end(const struct model *m);

/* What of the file is known to be unreadable, in words; NULL: no more.  Chunks are only looked at when their rows are
 * needed. */
const char *model_damage(const struct model *m, size_t i);

/* Rows of a kind.  Exact once a column of the kind was read; before, rows of damaged chunks not yet met are counted
 * too. */
size_t model_rows(const struct model *m, unsigned kind);
size_t model_process_rows(const struct model *m, unsigned kind, uint32_t process);
/* Whether the file has any of a process, those too that a selection leaves out. */
bool model_process_has(const struct model *m, unsigned kind, uint32_t process);

/* ---- columns: arrays of model_rows() values of the field's own type.  NULL: out of memory ---- */
const void *model_column(struct model *m, unsigned kind, unsigned field);
#define MODEL_I64(m, rec, member) ((const int64_t *)model_column((m), ROW_##rec, COL_##rec##_##member))
#define MODEL_U64(m, rec, member) ((const uint64_t *)model_column((m), ROW_##rec, COL_##rec##_##member))
#define MODEL_U32(m, rec, member) ((const uint32_t *)model_column((m), ROW_##rec, COL_##rec##_##member))
#define MODEL_I32(m, rec, member) ((const int32_t *)model_column((m), ROW_##rec, COL_##rec##_##member))
/* Position in model_processes() of the process of each row. */
const uint32_t *model_row_process(struct model *m, unsigned kind);

/* ---- passes ---- */
#define MODEL_WORKERS 2u        /* states a pass may use */
#define MODEL_FIELDS  8u        /* columns of a pass */

struct batch {
	uint32_t process;               /* position in model_processes() */
	size_t n;
	const void *column[MODEL_FIELDS];       /* in the order they were asked for */
};

/* Or'ed to a field of a pass: decoded only where the column before it has a 0, else NULL.  A row without a time has
 * duration 0 too. */
#define MODEL_IF_ZERO 0x8000u
#define MODEL_SKIP    0x7fffu   /* instead of a field: this column stays NULL */

/*
 * Calls fn once for each chunk of the kind, on up to MODEL_WORKERS threads; a thread always gets the same one of
 * states[]. fn returns 0, or -1 to end the pass.  0, or -1: fn said so, or out of memory.
 */
int model_scan(struct model *m, unsigned kind, const unsigned *fields, size_t n_fields,
	       int (*fn)(const struct batch *b, void *state), void *const states[MODEL_WORKERS]);

/* The same with the rows that a selection of steps and windows leaves out: what the GPU did in a step was not all
 * launched there. */
int model_scan_all(struct model *m, unsigned kind, const unsigned *fields, size_t n_fields,
		   int (*fn)(const struct batch *b, void *state), void *const states[MODEL_WORKERS]);

/* ---- strings ---- */
#define STRING_NONE 0u
#define STRING_LOST 0x80000000u /* or'ed to the file's id: its definition is not there.  Reads "?17" */

const char *model_string(struct model *m, uint32_t id);
/* Text behind a string id as it stands in the file, of the process with this number. */
const char *model_file_string(struct model *m, uint32_t number, uint32_t id);
/* The id of a text, new if need be; MAP_NONE: out of memory.  Not during a pass. */
uint32_t model_intern(struct model *m, const char *text);

/* ---- definitions; NULL: not in the trace.  String ids in them are the model's ---- */
struct thread {
	struct thread_row row;
	uint32_t process;
	const char *name;               /* "" when it has none */
};

const struct thread *model_thread(struct model *m, uint32_t process, uint32_t id);
const struct thread *model_threads(struct model *m, size_t *n);
const struct config_row *model_config(struct model *m, uint32_t process, uint32_t id);
const struct device_row *model_device(struct model *m, uint32_t process, uint32_t id);
const struct context_row *model_context(struct model *m, uint32_t process, uint32_t id);
const struct stream_row *model_stream(struct model *m, uint32_t process, uint32_t id);
/* String id of an NVTX domain's name: "" for the default one, "?3" for one whose definition is lost.  After a first
 * call it may be used during a pass. */
uint32_t model_domain(struct model *m, uint32_t process, uint32_t id);
/* Name of an NVTX category, or NULL. */
const char *model_category(struct model *m, uint32_t process, uint32_t domain, uint32_t id);

#endif
