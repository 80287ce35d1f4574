/*
 * A job as Holistic Trace Analysis sees it: per rank a list of events, loaded, linked and cut by its rules
 * (hta/common/trace_parser.py, trace.py, trace_filter.py of HTA 0.6.1).  The hta_* reports are made from
 * this alone, and those of ours that are about the host's rows; see docs/hta-reports.md.  Ours take every row, unrounded.
 *
 * Times are ns.  A rounded job has whole microseconds: HTA moves begins up and ends down where a file has fractions,
 * which may leave a length of -1000.
 */
#ifndef ANALYZE_HTA_H
#define ANALYZE_HTA_H

#include "cli/analyze/choice.h"
#include "cli/analyze/report.h"
#include "cli/json_out.h"
#include "cli/model/map.h"
#include "cli/model/sort.h"

enum hta_category {
	HTA_OTHER_CATEGORY, HTA_KERNEL, HTA_MEMSET, HTA_MEMCPY, HTA_CPU_OP, HTA_ANNOTATION, HTA_GPU_ANNOTATION, HTA_RUNTIME,
	HTA_DRIVER, HTA_SYNC, HTA_TRACE,
};

/* hta/common/types.py: the first rule that fits. */
enum hta_class { HTA_COMPUTATION, HTA_COMMUNICATION, HTA_MEMORY, HTA_OTHER, HTA_CLASSES };
extern const char *const hta_class_words[HTA_CLASSES];

/* What a name is to the analyses, hta_name.flags. */
#define HTA_LAUNCH      1u      /* its calls are in the launch statistics */
#define HTA_QUEUES      2u      /* puts something into a stream's queue */
#define HTA_HOST_WAIT   4u      /* Event Sync, Context Sync: GPU rows whatever their stream */
#define HTA_STEP        8u      /* ProfilerStep#N */
#define HTA_BLOCKS      16u     /* a call that waits */
#define HTA_LOCKS       32u     /* a call that takes CUDA's lock */
#define HTA_ATEN        64u     /* aten:: */
#define HTA_STARTS_KERNEL 128u  /* a call that launches a kernel, of whatever API */
#define HTA_WAIT_ROW    256u    /* Stream Wait Event */
#define HTA_WAIT_CALL   512u    /* cudaStreamWaitEvent */
#define HTA_RECORD_CALL 1024u   /* cudaEventRecord */

struct hta_name {
	const char *text;
	uint32_t flags;
	enum hta_class class;
};

#define HTA_TEXT_PID (1ll << 62)

/* Where a row is in the file: its process and thread, or a device and its stream. */
struct hta_place {
	int64_t pid, tid;               /* pid: a number, or HTA_TEXT_PID and a position in names */
	int64_t stream;                 /* -1: none */
	uint32_t tid_text;              /* position in names; UINT32_MAX: tid is a number */
};

/* What few rows have. */
union hta_extra {
	double bandwidth;               /* GB/s */
	struct { uint32_t wait_stream, wait_corr; };    /* of a HTA_SYNC row; UINT32_MAX: none */
};

struct hta_row {
	int64_t ts, dur;
	int64_t corr;                   /* -1: none */
	uint32_t index;                 /* position in the file */
	int32_t partner;                /* HTA's index_correlation: index of the call or GPU row; -1 none, 0 not known */
	uint32_t name;                  /* position in names */
	uint32_t place, extra;          /* positions in the rank's */
	uint8_t category;               /* enum hta_category */
	bool on_stream;                 /* HTA's "stream != -1", which is what its analyses select */
	bool gpu;                       /* what it takes for a GPU row when it pairs rows with calls */
};

/* Where those rows lie that are none of a GPU; INT64_MAX, INT64_MIN: there is none. */
struct hta_calls_time {
	int64_t first, end;             /* the first begin, the last end */
	int64_t last_step, step_end;    /* of ProfilerStep#N: the last begin, the last end */
};

struct hta_rank {
	int64_t rank;
	struct hta_row *rows;           /* in the file's order, whatever was cut off */
	size_t n_file, cap;
	uint32_t *order;                /* position -> row: GPU rows come first, and may come twice.  NULL: the same */
	size_t n;                       /* positions */
	struct hta_place *places;
	size_t n_places, cap_places;
	struct map place_at;            /* hash -> position in places */
	union hta_extra *extras;        /* the first one is that of rows that have none, the second of waits */
	size_t n_extras, cap_extras;
	uint32_t *ids;                  /* by row: the number of its correlation id, from 1; 0: it has none */
	size_t n_ids;
	uint32_t *at;                   /* index -> position, UINT32_MAX: none */
	size_t n_at;
	uint32_t *gpu, *linked;         /* positions: of rows on streams; of those with a correlation id */
	size_t n_gpu, n_linked;
	struct hta_made *made;          /* hta_made.c's */
	struct hta_calls_time calls;
	bool fractional;                /* some time in the file had a fraction */
};

struct hta_how {
	bool rounded;                   /* as HTA rounds */
	bool whole;                     /* nothing is cut off and nothing shifted: as HTA compares traces */
	bool last_step;                 /* its include_last_profiler_step */
};

struct hta {
	struct hta_how how;
	struct hta_rank *ranks;         /* by rank */
	size_t n_ranks;
	struct hta_name *names;
	size_t n_names, cap_names;
	uint32_t *by_id;                /* string id of a model -> position in names + 1; 0: none */
	size_t n_by_id;
	struct map by_string;           /* the same of ids that are far off */
	struct model *strings;          /* the model whose ids these are */
	int64_t earliest;               /* what times count from */
	uint32_t a_step;                /* name of some ProfilerStep#N; UINT32_MAX: there is none */
	bool cut;                       /* a last step was cut off */
	bool borrows;                   /* its names and rows are another job's */
	bool oom;
};

/* The job of these models together.  NULL: out of memory. */
struct hta *hta_load(struct model *const *models, size_t n, struct hta_how how);
void hta_free(struct hta *h);

/* The job a report is about; what choice carries is kept there for the next one.  hta_done() with whatever came. */
struct hta *hta_get(struct model *m, const struct report_choice *choice, struct hta_how how);
void hta_done(struct hta *h, const struct report_choice *choice);

/* ---- hta_load.c, hta_imported.c, hta_own.c: rows as the files have them ---- */
/* With room for so many rows to begin with. */
struct hta_rank *hta_add_rank(struct hta *h, size_t room);
/* A row without place, extra and partner.  NULL: out of memory, which h knows then. */
struct hta_row *hta_add_row(struct hta *h, struct hta_rank *r);
/* Position of a place, new if need be. */
uint32_t hta_place_of(struct hta *h, struct hta_rank *r, const struct hta_place *place);
#define HTA_NO_EXTRA 0u
#define HTA_NO_WAIT  1u
/* The row's own, with what it has had so far; NULL: out of memory. */
union hta_extra *hta_own_extra(struct hta *h, struct hta_rank *r, struct hta_row *row);
uint32_t hta_name_of(struct hta *h, struct model *m, uint32_t string);
uint32_t hta_name_text(struct hta *h, const char *text);
/* The rank that an attribute names; -1: none. */
int64_t hta_rank_of(struct model *m, uint32_t process);
/* Rows of Kineto files as they stood there, each file a rank.  0, or -1: out of memory. */
int hta_imported_rows(struct hta *h, struct model *m);
/* The rows that a Kineto file of our own trace would have.  0, or -1: out of memory. */
int hta_own_rows(struct hta *h, struct model *m);

/* ---- hta_names.c ---- */
enum hta_class hta_class_of(const char *name);
uint32_t hta_flags_of(const char *name);
bool hta_is_memory_name(const char *name);
enum hta_category hta_category_of(const char *word);
/* By name: whether it has this in it.  free(); NULL: out of memory. */
bool *hta_names_with(const struct hta *h, const char *part);
/* What names of the job have where the word says it, perhaps with "_" for "::": the word, or that in buf. */
const char *hta_word_meant(const struct hta *h, const char *word, char *buf, size_t size);

/* ---- hta_link.c ---- */
/* Rounds, links calls with GPU rows, counts from the earliest row, cuts the last step off.  0, or -1: out of memory. */
int hta_link(struct hta *h);
/* Ranks of the same job with its last step.  0, or -1: out of memory. */
int hta_link_last(struct hta *to, const struct hta *from);

/* The row at a position. */
static inline const struct hta_row *hta_row(const struct hta_rank *r, size_t position)
{
	return &r->rows[r->order ? r->order[position] : position];
}

/* The number of the correlation id of the row at a position. */
static inline uint32_t hta_id(const struct hta_rank *r, size_t position)
{
	return r->ids[r->order ? r->order[position] : position];
}

static inline const struct hta_place *hta_place(const struct hta_rank *r, const struct hta_row *row)
{
	return &r->places[row->place];
}

static inline bool hta_same_place(const struct hta_place *a, const struct hta_place *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->stream == b->stream && a->tid_text == b->tid_text;
}

static inline bool hta_on_stream(const struct hta_row *row)
{
	return row->on_stream;
}

static inline int64_t hta_stream(const struct hta_rank *r, const struct hta_row *row)
{
	return row->on_stream ? r->places[row->place].stream : -1;
}

static inline const union hta_extra *hta_extra(const struct hta_rank *r, const struct hta_row *row)
{
	return &r->extras[row->extra];
}

static inline int64_t hta_end(const struct hta_row *r)
{
	return time_add(r->ts, r->dur);
}

/* Position of the file's event with this index; HTA_NOWHERE: it is not there. */
#define HTA_NOWHERE UINT32_MAX
static inline uint32_t hta_position(const struct hta_rank *r, int64_t index)
{
	return index >= 0 && (size_t)index < r->n_at ? r->at[index] : HTA_NOWHERE;
}

/* The row of the file's event with this index, or NULL. */
static inline const struct hta_row *hta_at(const struct hta_rank *r, int64_t index)
{
	uint32_t position = hta_position(r, index);

	return position == HTA_NOWHERE ? NULL : hta_row(r, position);
}

/* ---- hta_math.c ---- */

/* Intervals of which those that overlap or touch are one (utils.merge_kernel_intervals). */
struct hta_intervals {
	struct timed *list;
	size_t n;
	int64_t latest;                 /* of all ends so far: one that ends early does not end what is around it */
};
/* Adds the next one by begin; there is room. */
void hta_merge(struct hta_intervals *to, struct timed one);

/* What pandas' describe() says of n numbers, which it sorts. */
struct hta_described {
	size_t n;
	double mean, std, min, q1, median, q3, max;     /* std: NAN of one number; all: of none */
};

/* numpy's, of the values, which are in order then. */
double hta_quantile(double *values, size_t n, double part);
struct hta_described hta_describe(double *values, size_t n);

/* ns as microseconds; a number with so many decimals, rounded half to even, or unknown if it is none. */
struct cell hta_us(int64_t ns);
struct cell hta_pid(const struct hta *h, const struct hta_place *place, struct table *t);
struct cell hta_real(double value, unsigned decimals);

/* A new number in a list that grows. */
struct hta_list {
	double *values;
	size_t n, cap;
	bool oom;
};
void hta_list_add(struct hta_list *l, double value);

/* JSON in memory, for table_value().  0, or -1: out of memory.  hta_json_end(): the text, or NULL. */
struct hta_json {
	struct out out;
	FILE *file;
	char *text;
	size_t n;
};
int hta_json_begin(struct hta_json *j);
char *hta_json_end(struct hta_json *j);

/* Whether the word behind the report's name is none of a rank ("rank3"), or of this one. */
bool hta_rank_wanted(const struct report_choice *choice, int64_t rank);

#define HTA_ROUNDED ((struct hta_how){ .rounded = true })
#define HTA_HONEST  ((struct hta_how){ .rounded = false })

/* How HTA's numbers differ from ours, in titles and help. */
#define HTA_CUT_US "last step left out, whole microseconds"
#define HTA_US     "whole microseconds"

/*
 * A report as HTA counts it.  It takes so many traces (0: any number), and behind ':' the words that `takes_` knows (NULL:
 * all); words: what these may be, NULL: none.
 */
#define HTA_TWIN_OF(number, takes_, limits, theirs, function, list, words, heading_, line)                              \
	static int run_##theirs(struct model *m, struct table *t, const struct report_choice *choice)                     \
	{                                                                                                               \
		return function(m, t, choice, HTA_ROUNDED);                                                             \
	}                                                                                                               \
	const struct report report_##theirs = { .name = #theirs, .title = heading_ ", as HTA Counts (" limits ")",        \
		.help = "as HTA counts (" limits "): " line, .ranks = true, .traces = number, .twin = true,             \
		.variants = words, .takes = takes_, COLUMNS(list), .run_chosen = run_##theirs }
#define HTA_TWIN(theirs, function, list, words, heading_, line)                                                         \
	HTA_TWIN_OF(0, NULL, HTA_CUT_US, theirs, function, list, words, heading_, line)

/* A report of ours and its twin, of one function: ours of all that was recorded, in ns. */
#define HTA_PAIR_OF(number, takes_, limits, ours, theirs, function, list, words, heading_, line)                        \
	HTA_TWIN_OF(number, takes_, limits, theirs, function, list, words, heading_, line);                               \
	static int run_##ours(struct model *m, struct table *t, const struct report_choice *choice)                     \
	{                                                                                                               \
		return function(m, t, choice, HTA_HONEST);                                                              \
	}                                                                                                               \
	const struct report report_##ours = { .name = #ours, .title = heading_, .help = line,                           \
		.ranks = true, .traces = number, .variants = words, .takes = takes_, COLUMNS(list),                     \
		.run_chosen = run_##ours }

/* All of these reports, for the table of report.c. */
extern const struct report report_temporal, report_idle, report_idle_intervals, report_kernel_types, report_kernel_types_no_memory,
	report_kernel_breakdown, report_kernel_breakdown_top10, report_overlap, report_launch_delays,
	report_launch_delay_sum, report_queue_length, report_queue_length_series, report_queue_full,
	report_memory_bandwidth, report_memory_bandwidth_series, report_gpu_annotations, report_cpu_annotations,
	report_aten_kernels, report_kernel_sequences, report_compare_traces, report_ops_diff,
	report_hta_critical_path, report_memory_by_category, report_hta_memory_by_category,
	report_hta_temporal_breakdown, report_hta_idle_time_breakdown, report_hta_idle_time_interval_stats,
	report_hta_kernel_type_breakdown, report_hta_kernel_type_breakdown_no_memory,
	report_hta_kernel_breakdown_all, report_hta_kernel_breakdown_top10, report_hta_comm_comp_overlap,
	report_hta_cuda_kernel_launch_stats, report_hta_cuda_kernel_launch_stats_summary,
	report_hta_queue_length_summary, report_hta_queue_length_time_series, report_hta_time_blocked_on_full_queue,
	report_hta_memory_bw_summary, report_hta_memory_bw_time_series, report_hta_gpu_user_annotation_breakdown,
	report_hta_cpu_user_annotation_breakdown, report_hta_aten_op_kernels_and_delay, report_hta_kernel_sequences,
	report_hta_compare_traces, report_hta_ops_diff;

#endif
