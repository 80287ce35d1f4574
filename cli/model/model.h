/*
 * The trace as reports and exporters read it.  Never prints.
 *
 * Rows of a kind are numbered from 0 to model_rows() - 1 over all processes; rows of one process are adjacent, in file order.  A column
 * is one field of all rows, decoded on first use and kept.  A pass (model_scan) decodes chunk by chunk into scratch memory and keeps
 * nothing; use it for sums over many rows.  In both, times are trace time in ns, and string ids are the model's: equal texts of all
 * processes have one id.  Rows of damaged chunks are left out; model_damage() lists them.
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

/* Opens a trace; NULL: failed, see *err.  any_size: with TRACE_ANY_SIZE of trace/reader.h.  model_close() takes NULL. */
struct model *model_open(const char *path, struct trace_error *err);
struct model *model_open_any_size(const char *path, struct trace_error *err);
/* Makes a model of an open trace and takes ownership of it, also on failure.  NULL: out of memory. */
struct model *model_of(struct trace *t);
void model_close(struct model *m);

/* Path of the trace as given to model_open(). */
const char *model_path(const struct model *m);
/* The trace of the model, for commands about the file itself; reports do not need it. */
struct trace *model_trace(const struct model *m);

/* Start of the session, and the latest time in the trace (the session's end if the trace is finished); ns of trace time. */
int64_t model_start(const struct model *m);
int64_t model_end(const struct model *m);

/* Text of the i-th damage found so far; NULL: no more.  Chunks are checked only when their rows are needed. */
const char *model_damage(const struct model *m, size_t i);

/* Number of rows of a kind.  Exact once a column of the kind was read; before that, it includes rows of chunks not yet found damaged. */
size_t model_rows(const struct model *m, unsigned kind);
/* Whether the trace has a GPU row of any kind. */
bool model_has_gpu_rows(const struct model *m);
/* Number of rows of a kind of a process (position in model_processes()); exact as model_rows(). */
size_t model_process_rows(const struct model *m, unsigned kind, uint32_t process);
/* Whether the file has rows of a kind of a process, including rows that a selection leaves out. */
bool model_process_has(const struct model *m, unsigned kind, uint32_t process);

/* ---- columns: arrays of model_rows() values of the field's own type.  NULL: out of memory ---- */
const void *model_column(struct model *m, unsigned kind, unsigned field);
#define MODEL_I64(m, rec, member) ((const int64_t *)model_column((m), ROW_##rec, COL_##rec##_##member))
#define MODEL_U64(m, rec, member) ((const uint64_t *)model_column((m), ROW_##rec, COL_##rec##_##member))
#define MODEL_U32(m, rec, member) ((const uint32_t *)model_column((m), ROW_##rec, COL_##rec##_##member))
#define MODEL_I32(m, rec, member) ((const int32_t *)model_column((m), ROW_##rec, COL_##rec##_##member))
/* By row: position of its process in model_processes().  NULL: out of memory. */
const uint32_t *model_row_process(struct model *m, unsigned kind);

/* ---- passes ---- */
#define MODEL_WORKERS 2u        /* most threads of a pass, each with a state */
#define MODEL_FIELDS  8u        /* most columns of a pass */

struct batch {
	uint32_t process;               /* position in model_processes() */
	size_t n;
	const void *column[MODEL_FIELDS];       /* in the order of the requested fields */
};

/*
 * Flag of a field of a pass: the column is decoded only if the previous column has a 0, else it is NULL.  Used to find rows without a
 * time (start 0): their duration is 0 too.
 */
#define MODEL_IF_ZERO 0x8000u
#define MODEL_SKIP    0x7fffu   /* in place of a field: this column stays NULL */

/*
 * Calls fn once for each chunk of the kind, on up to MODEL_WORKERS threads; each thread passes its own element of states[].  fn returns 0,
 * or -1 to end the pass.  Returns 0, or -1: fn returned -1, or out of memory.
 */
int model_scan(struct model *m, unsigned kind, const unsigned *fields, size_t n_fields,
	       int (*fn)(const struct batch *b, void *state), void *const states[MODEL_WORKERS]);

/* model_scan() that includes rows left out by a selection of steps and windows: GPU work in a step may be launched before it. */
int model_scan_all(struct model *m, unsigned kind, const unsigned *fields, size_t n_fields,
		   int (*fn)(const struct batch *b, void *state), void *const states[MODEL_WORKERS]);

/* ---- strings ---- */
#define STRING_NONE 0u
#define STRING_LOST 0x80000000u /* flag on the file's id: the definition is missing.  Its text is "?17" for id 17 */

/* Text of a string id of the model. */
const char *model_string(struct model *m, uint32_t id);
/* Text of a string id of the file, of the process with this number. */
const char *model_file_string(struct model *m, uint32_t number, uint32_t id);
/* Id of a text, added if it is new; MAP_NONE: out of memory.  Not during a pass. */
uint32_t model_intern(struct model *m, const char *text);

/* ---- definitions, by process (position in model_processes()) and id; NULL: not in the trace.  String ids in them are the model's ---- */
struct thread {
	struct thread_row row;
	uint32_t process;
	const char *name;               /* "" when it has none */
};

const struct thread *model_thread(struct model *m, uint32_t process, uint32_t id);
const struct thread *model_threads(struct model *m, size_t *n);
const struct config_row *model_config(struct model *m, uint32_t process, uint32_t id);
const struct device_row *model_device(struct model *m, uint32_t process, uint32_t id);
/* All devices by process, then id; *n is their number.  free() it; NULL: out of memory. */
struct device { uint32_t process, id; };
struct device *model_devices(struct model *m, size_t *n);
const struct context_row *model_context(struct model *m, uint32_t process, uint32_t id);
const struct stream_row *model_stream(struct model *m, uint32_t process, uint32_t id);
/* String id of an NVTX domain's name: "" for the default domain, "?3" if the definition is missing.  After a first call outside, it may
 * be called during a pass. */
uint32_t model_domain(struct model *m, uint32_t process, uint32_t id);
/* Name of an NVTX category, or NULL. */
const char *model_category(struct model *m, uint32_t process, uint32_t domain, uint32_t id);

#endif
