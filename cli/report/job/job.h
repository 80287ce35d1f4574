/*
 * A job: its ranks and the GPU rows of each, from one trace or several ("Reports by rank" in docs/reference/numbers.md).  The
 * compatibility reports use hta.h and tb.h instead, which read rows by the rules of those tools.
 */
#ifndef CLI_REPORT_JOB_JOB_H
#define CLI_REPORT_JOB_JOB_H

#include "cli/report/parts/choice.h"
#include "cli/report/parts/mean.h"
#include "cli/report/parts/rank_processes.h"
#include "cli/report/parts/report.h"
#include "cli/model/model.h"
#include "cli/model/gpu/gpu_span.h"

/* GPU rows and GPU spans by process (gpu_span.h), read by the first job_gpu_times(); NULL before it. */
struct job_model {
	struct model *m;
	struct gpu_rows *rows;
	struct spans *spans;
};

/* A rank: a file of torch.profiler or a process. */
struct job_rank {
	struct model *m;
	struct job_model *times;
	uint32_t first, end;            /* processes first .. end - 1 of m */
	int64_t number;
};

struct job {
	struct job_rank *list;          /* by number */
	size_t n, cap;
	struct job_model *models;
	size_t n_models;
	int64_t start;                  /* start of the earliest session */
};

/* Finds the ranks of choice->jobs, or of m when that is NULL.  Returns 0, or -1 when out of memory; job_end() in any case. */
int job_begin(struct job *j, struct model *m, const struct report_choice *choice);
void job_end(struct job *j);

/* Calls fn for each rank until it returns -1.  Returns 0, or -1 when fn returned it or out of memory. */
int job_each(struct model *m, struct table *t, const struct report_choice *choice,
	     int (*fn)(const struct job *j, const struct job_rank *r, struct table *t));

/* ---- GPU rows ---- */

struct gpu_row {
	int64_t start, end;             /* end < start: the row has no time */
	size_t row;                     /* row number in its kind */
	uint32_t kind;                  /* ROW_kernel, ROW_memcpy, ROW_memset, ROW_graph */
	uint32_t process, corr, device, stream;
	uint32_t class;                 /* enum gpu_work */
};

struct job_rows {
	struct gpu_row *list;           /* in the order of job_each_gpu_row() */
	size_t n, cap;
};

/* Calls fn for every GPU row of the rank, by kind, then in the trace's order.  Returns 0, or -1 when fn returned it or out of memory. */
int job_each_gpu_row(const struct job_rank *r, int (*fn)(const struct gpu_row *g, void *arg), void *arg);

/* All GPU rows of the rank.  Returns 0, or -1 when out of memory.  The caller frees rows->list in any case. */
int job_gpu_rows(const struct job_rank *r, struct job_rows *rows);

static inline bool gpu_row_timed(const struct gpu_row *g)
{
	return g->end >= g->start;
}

/* Drops rows without a time; sorts by stream (process, device, stream), start and end, then in the trace's order. */
void job_rows_by_stream(struct job_rows *rows);
/* Whether two rows ran on the same stream of the same device and process. */
bool gpu_same_stream(const struct gpu_row *a, const struct gpu_row *b);

/* The times at which GPU rows ran inside the GPU span of a rank, launched at any time. */
struct job_times {
	struct spans span, all, of[GPU_WORKS];  /* the GPU span; any GPU row; rows by class */
	uint64_t rows, untimed;         /* number of all rows, of rows without a time; inside and outside the span */
};

/* Returns 0, or -1 when out of memory; job_times_release() in any case. */
int job_gpu_times(const struct job_rank *r, struct job_times *g);
void job_times_release(struct job_times *g);

/* Whether busy and idle are known. */
static inline bool job_times_known(const struct job_times *g)
{
	return g->rows > g->untimed;
}

/* Notes that the rank has no GPU rows, or none with a time. */
void job_note_no_gpu(struct table *t, const struct job_rank *r, const struct job_times *g);

/*
 * Name of a GPU row: the demangled name of a kernel, "Memcpy HtoD (Pinned -> Device)", "Memset (Device)", "CUDA graph".  Valid until the
 * table ends.  NULL: out of memory.
 */
const char *job_row_name(struct model *m, const struct gpu_row *g, struct table *t);
/* That name as a string id of the model; MAP_NONE: out of memory. */
uint32_t job_row_name_id(struct model *m, const struct gpu_row *g);
/* String id of "Memcpy HtoD" or "Memset", for a copy or memory set; MAP_NONE: out of memory. */
uint32_t job_copy_kind_id(struct model *m, const struct gpu_row *g);

/* Cell with the number of the stream, or unknown. */
struct cell job_stream(const struct gpu_row *g);

/* A list of numbers.  { 0 } is empty. */
struct job_values {
	int64_t *list;
	size_t n, cap;
};

/* Returns false when out of memory. */
bool job_values_add(struct job_values *v, int64_t value);
void job_values_release(struct job_values *v);

struct job_summary {
	size_t n;                       /* 0: the other fields are not valid */
	int64_t sum, min, median, p95, max;
};

/* Sorts v.  Percentiles by nearest rank. */
struct job_summary job_summary_of(struct job_values *v);
/* mean_cell() of a summary. */
static inline struct cell job_mean(const struct job_summary *s, unsigned decimals)
{
	return mean_cell(s->sum, s->n, decimals);
}

/* part / whole in percent with one decimal; unknown when whole is 0. */
struct cell job_pct(int64_t part, int64_t whole);

#endif
