/*
 * A job as our own reports see it (docs/numbers.md, "Reports by rank"): its ranks, and the GPU rows of each, from one
 * trace or several.  The compatibility reports (hta.h, tb.h) read rows their own way.
 */
#ifndef ANALYZE_JOB_H
#define ANALYZE_JOB_H

#include "cli/analyze/choice.h"
#include "cli/analyze/report.h"
#include "cli/model/model.h"
#include "cli/model/gpu_span.h"

/* When the processes of a trace had what on their GPUs, and their GPU spans (gpu_span.h); NULL: nobody has asked. */
struct job_model {
	struct model *m;
	struct gpu_rows *rows;
	struct spans *spans;
};

/* A file of torch.profiler, or a process: the model's processes first to end - 1. */
struct job_rank {
	struct model *m;
	struct job_model *times;
	uint32_t first, end;
	int64_t number;
};

struct job {
	struct job_rank *list;          /* by number */
	size_t n;
	struct job_model *models;
	size_t n_models;
	int64_t start;                  /* of the earliest session */
};

/* The ranks of all traces that the report is about; job_end() whatever came.  0, or -1: out of memory. */
int job_begin(struct job *j, struct model *m, const struct report_choice *choice);
void job_end(struct job *j);

/*
 * By process of a trace: whether it is a rank.  It used CUDA; or no process did, it has ranges, and it is no worker of one
 * that is.  free() it; NULL: out of memory.
 */
bool *job_rank_processes(struct model *m);

/* Calls fn for each rank.  0, or -1: fn said so, or out of memory. */
int job_each(struct model *m, struct table *t, const struct report_choice *choice,
	     int (*fn)(const struct job *j, const struct job_rank *r, struct table *t));

/* ---- GPU rows ---- */

struct gpu_row {
	int64_t start, end;             /* end < start: it has no time */
	size_t row;                     /* of its kind */
	uint32_t kind;                  /* ROW_kernel, ROW_memcpy, ROW_memset, ROW_graph */
	uint32_t process, corr, device, stream;
	uint32_t class;                 /* enum gpu_work */
};

struct job_rows {
	struct gpu_row *list;           /* as job_each_gpu_row() gives them */
	size_t n, cap;
};

/* Calls fn for every row of the rank, kind by kind, each in the trace's order.  0, or -1: fn said so, or out of memory. */
int job_each_gpu_row(const struct job_rank *r, int (*fn)(const struct gpu_row *g, void *arg), void *arg);

/* All of them.  0, or -1: out of memory.  free() the list whatever came. */
int job_gpu_rows(const struct job_rank *r, struct job_rows *rows);

static inline bool gpu_row_timed(const struct gpu_row *g)
{
	return g->end >= g->start;
}

/* Sorts rows with a time by stream (process, device, stream), then start and end, then as they were; drops the others. */
void job_rows_by_stream(struct job_rows *rows);
bool gpu_same_stream(const struct gpu_row *a, const struct gpu_row *b);

/* When what ran inside the GPU span of a rank, whatever launched it. */
struct job_times {
	struct spans span, all, of[GPU_WORKS];
	uint64_t rows, untimed;         /* whether or not inside the span */
};

/* job_times_release() whatever came.  0, or -1: out of memory. */
int job_gpu_times(const struct job_rank *r, struct job_times *g);
void job_times_release(struct job_times *g);

/* Whether busy and idle are known. */
static inline bool job_times_known(const struct job_times *g)
{
	return g->rows > g->untimed;
}

/* Says that the rank has no GPU rows, or none with a time. */
void job_note_no_gpu(struct table *t, const struct job_rank *r, const struct job_times *g);

/* What a row is called: a kernel by its demangled name, "Memcpy HtoD (Pinned -> Device)", "Memset (Device)", "CUDA graph".
 * Until the table ends; NULL: out of memory. */
const char *job_row_name(struct model *m, const struct gpu_row *g, struct table *t);
/* The same as a string id of the model; MAP_NONE: out of memory. */
uint32_t job_row_name_id(struct model *m, const struct gpu_row *g);
/* "Memcpy HtoD", "Memset", of a copy or memory set. */
uint32_t job_copy_kind_id(struct model *m, const struct gpu_row *g);

/* The stream's number, or unknown. */
struct cell job_stream(const struct gpu_row *g);

/* Times in ns, or other numbers, and what they come to. */
struct job_values {
	int64_t *list;
	size_t n, cap;
};

/* False: out of memory. */
bool job_values_add(struct job_values *v, int64_t value);
void job_values_release(struct job_values *v);

struct job_summary {
	size_t n;                       /* 0: the rest is nothing */
	int64_t sum, min, median, p95, max;
};

/* Sorts them. */
struct job_summary job_summary_of(struct job_values *v);
/* Sum / n with so many decimals, rounded half up. */
struct cell job_mean(const struct job_summary *s, unsigned decimals);

/* part / whole in percent with one decimal, or unknown of 0. */
struct cell job_pct(int64_t part, int64_t whole);

#endif
