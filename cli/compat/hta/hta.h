/*
 * A job by the rules of Holistic Trace Analysis (HTA 0.6.1: hta/common/trace_parser.py, trace.py, trace_filter.py): per rank a list of
 * events, loaded, linked and cut.  Input of the hta_* reports and of the reports without that prefix that read host rows (annotations,
 * aten_kernels, ...); the latter take all rows, without rounding.  See docs/reference/hta-reports.md.
 *
 * Times are ns.  A rounded job has whole microseconds: where a file has fractions, HTA rounds starts up and ends down, which can make a
 * duration -1000.
 */
#ifndef CLI_COMPAT_HTA_HTA_H
#define CLI_COMPAT_HTA_HTA_H

#include "cli/model/map.h"
#include "cli/model/sort.h"
#include "cli/report/parts/choice.h"
#include "cli/report/parts/report.h"
#include "cli/ui/json_out.h"

enum hta_category {
	HTA_OTHER_CATEGORY, HTA_KERNEL, HTA_MEMSET, HTA_MEMCPY, HTA_CPU_OP, HTA_ANNOTATION, HTA_GPU_ANNOTATION, HTA_RUNTIME,
	HTA_DRIVER, HTA_SYNC, HTA_TRACE,
};

/* Classes of names, by the first matching rule of hta/common/types.py. */
enum hta_class { HTA_COMPUTATION, HTA_COMMUNICATION, HTA_MEMORY, HTA_OTHER, HTA_CLASSES };
extern const char *const hta_class_words[HTA_CLASSES];

/* hta_name.flags: the role of a name in HTA's analyses. */
#define HTA_LAUNCH      1u      /* call that counts in the launch statistics */
#define HTA_QUEUES      2u      /* call that adds to the queue of a stream */
#define HTA_HOST_WAIT   4u      /* Event Sync, Context Sync: GPU rows on any stream */
#define HTA_STEP        8u      /* ProfilerStep#N */
#define HTA_BLOCKS      16u     /* call that waits for the GPU */
#define HTA_LOCKS       32u     /* call that takes CUDA's lock */
#define HTA_ATEN        64u     /* aten:: */
#define HTA_STARTS_KERNEL 128u  /* call of any API that launches a kernel */
#define HTA_WAIT_ROW    256u    /* Stream Wait Event */
#define HTA_WAIT_CALL   512u    /* cudaStreamWaitEvent */
#define HTA_RECORD_CALL 1024u   /* cudaEventRecord */

struct hta_name {
	const char *text;
	uint32_t flags;
	enum hta_class class;
};

#define HTA_TEXT_PID (1ll << 62)

/* The pid, tid and stream of a row: those of a process and its thread, or of a device and its stream. */
struct hta_place {
	int64_t pid, tid;               /* pid: a number, or HTA_TEXT_PID and a position in names */
	int64_t stream;                 /* -1: none */
	uint32_t tid_text;              /* position in names; UINT32_MAX: tid is a number */
};

/* Fields that few rows have. */
union hta_extra {
	double bandwidth;               /* GB/s, of a copy or memory set */
	struct { uint32_t wait_stream, wait_corr; };    /* of an HTA_SYNC row; UINT32_MAX: none */
};

struct hta_row {
	int64_t ts, dur;
	int64_t corr;                   /* -1: none */
	uint32_t index;                 /* position in the file */
	int32_t partner;                /* HTA's index_correlation: index of the linked call or GPU row; 0: not linked, < 0: no corr */
	uint32_t name;                  /* position in hta.names */
	uint32_t place, extra;          /* positions in places and extras of the rank */
	uint8_t category;               /* enum hta_category */
	bool on_stream;                 /* HTA's "stream != -1": a GPU row in its analyses */
	bool gpu;                       /* a GPU row when HTA links calls and GPU rows */
};

/* Time span of host rows; first = INT64_MAX, end = INT64_MIN when there are none. */
struct hta_calls_time {
	int64_t first, end;             /* first start, last end */
	int64_t last_step, step_end;    /* last start and last end of ProfilerStep#N; INT64_MIN: none */
};

struct hta_rank {
	int64_t rank;
	struct hta_row *rows;           /* all n_file rows in file order, also those that are cut off */
	size_t n_file, cap;
	uint32_t *order;                /* position -> row: GPU rows first; one can occur several times.  NULL: position = row */
	size_t n;                       /* number of positions */
	struct hta_place *places;
	size_t n_places, cap_places;
	struct map place_at;            /* hash of a place -> its position in places */
	union hta_extra *extras;        /* [HTA_NO_EXTRA] and [HTA_NO_WAIT]: shared by rows without own values */
	size_t n_extras, cap_extras;
	uint32_t *ids;                  /* by row: number of its correlation id, from 1; 0: none */
	size_t n_ids;
	uint32_t *at;                   /* by index: position of the row; UINT32_MAX: none */
	size_t n_at;
	uint32_t *gpu, *linked;         /* positions of rows on streams; of rows with a correlation id */
	size_t n_gpu, n_linked;
	struct hta_derived *derived;    /* see hta_derived.h */
	struct hta_calls_time calls;
	bool fractional;                /* a time in the file has a fraction of a microsecond */
	bool once;                      /* each GPU row has one position, where HTA repeats it for each call: hta_too_many_pairs() */
};

struct hta_how {
	bool rounded;                   /* round to microseconds as HTA does */
	bool whole;                     /* keep all rows and the file's times, as HTA's comparison of traces does */
	bool last_step;                 /* HTA's include_last_profiler_step */
};

struct hta {
	struct hta_how how;
	struct hta_rank *ranks;         /* sorted by rank number */
	size_t n_ranks, cap_ranks;
	struct hta_name *names;
	size_t n_names, cap_names;
	uint32_t *by_id;                /* string id of a model -> position in names + 1; 0: none */
	size_t n_by_id;
	struct map by_string;           /* as by_id, for string ids too large for an array */
	struct model *strings;          /* the model of these string ids */
	int64_t earliest;               /* ns; times count from it */
	uint32_t a_step;                /* name of one ProfilerStep#N; UINT32_MAX: none */
	bool cut;                       /* the last step was cut off */
	bool borrows;                   /* names and rows belong to another job */
	uint64_t secret[2];             /* seeds the hash of places */
	bool oom;
};

/* Loads the ranks of n models.  Returns NULL when out of memory.  The caller frees the job; the models must outlive it. */
struct hta *hta_load(struct model *const *models, size_t n, struct hta_how how);
/* h may be NULL. */
void hta_free(struct hta *h);

/*
 * The job of a report: of choice->jobs, which keeps it for the next report, or of m when that is NULL.  Returns NULL when out of memory.
 * Ends with hta_done().
 */
struct hta *hta_get(struct model *m, const struct report_choice *choice, struct hta_how how);
/* Notes ranks with `once`, and frees the job unless choice->jobs keeps it.  h may be NULL. */
void hta_done(struct hta *h, struct table *t, const struct report_choice *choice);

/* ---- hta_load.c, hta_imported.c, hta_own.c: rows as the files have them ---- */
/* All of these set h->oom when out of memory. */
/* A new rank; room: expected number of rows.  NULL: out of memory. */
struct hta_rank *hta_add_rank(struct hta *h, size_t room);
/* A new row; the caller sets all its fields.  NULL: out of memory. */
struct hta_row *hta_add_row(struct hta *h, struct hta_rank *r);
/* Position of a place in r->places, added if missing. */
uint32_t hta_place_of(struct hta *h, struct hta_rank *r, const struct hta_place *place);
#define HTA_NO_EXTRA 0u
#define HTA_NO_WAIT  1u
/* The row's own extra, to write to: a copy of the shared one at first.  Valid until the next call.  NULL: out of memory. */
union hta_extra *hta_own_extra(struct hta *h, struct hta_rank *r, struct hta_row *row);
/* Position in h->names of a string of m; equal texts of several models are one name. */
uint32_t hta_name_of(struct hta *h, struct model *m, uint32_t string);
/* Adds a name, without looking for an equal one.  text must outlive h. */
uint32_t hta_name_text(struct hta *h, const char *text);
/* The rank number of a process, from its attribute "rank"; -1: none. */
int64_t hta_rank_of(struct model *m, uint32_t process);
/* Adds the ranks of a model imported from Kineto files, one per file.  Returns 0, or -1 when out of memory. */
int hta_imported_rows(struct hta *h, struct model *m);
/* Adds the ranks of a recorded trace, with the rows that its export to Kineto has.  Returns 0, or -1 when out of memory. */
int hta_own_rows(struct hta *h, struct model *m);

/* ---- hta_names.c ---- */
enum hta_class hta_class_of(const char *name);
/* HTA_ bits of a name. */
uint32_t hta_flags_of(const char *name);
/* Whether HTA takes a name for that of a copy or memory set. */
bool hta_is_memory_name(const char *name);
/* The category that a file calls `word`: "cpu_op", "kernel", ... */
enum hta_category hta_category_of(const char *word);
/* By name: whether it contains part.  The caller frees the array.  NULL: out of memory. */
bool *hta_names_with(const struct hta *h, const char *part);
/* The text in the names of the job that best matches word, where "_" in word also matches "::"; in buf, or word itself if none does. */
const char *hta_word_meant(const struct hta *h, const char *word, char *buf, size_t size);

/* ---- hta_link.c ---- */
/*
 * Rounds times, links calls with GPU rows, makes times count from the earliest row, cuts the last step off: as h->how says.  Returns 0, or
 * -1 when out of memory.
 */
int hta_link(struct hta *h);
/* Makes the ranks of `to` those of `from` with the last step; they borrow its rows.  Returns 0, or -1 when out of memory. */
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

/* Position of the row with this index; HTA_NOWHERE: none. */
#define HTA_NOWHERE UINT32_MAX
static inline uint32_t hta_position(const struct hta_rank *r, int64_t index)
{
	return index >= 0 && (size_t)index < r->n_at ? r->at[index] : HTA_NOWHERE;
}

/* The row with this index, or NULL. */
static inline const struct hta_row *hta_at(const struct hta_rank *r, int64_t index)
{
	uint32_t position = hta_position(r, index);

	return position == HTA_NOWHERE ? NULL : hta_row(r, position);
}

/* ---- hta_math.c ---- */

/* A union of intervals: those that overlap or touch are merged (HTA's utils.merge_kernel_intervals). */
struct hta_intervals {
	struct timed *list;
	size_t n;
	int64_t latest;                 /* the latest end so far */
};
/* Adds an interval that does not start before those added earlier.  The caller made to->list large enough. */
void hta_merge(struct hta_intervals *to, struct timed one);

/* Statistics of pandas' describe(). */
struct hta_described {
	size_t n;
	double mean, std, min, q1, median, q3, max;     /* NAN: std for n < 2; all for n = 0 */
};

/* Both sort the values.  Quantiles are interpolated linearly, as numpy does by default; part: 0 .. 1; hta_quantile() needs n > 0. */
double hta_quantile(double *values, size_t n, double part);
struct hta_described hta_describe(double *values, size_t n);

/* ns as microseconds, with three decimals unless it is a whole number of them. */
struct cell hta_us(int64_t ns);
/* The pid of a place: a number or a text. */
struct cell hta_pid(const struct hta *h, const struct hta_place *place, struct table *t);
/* A number with `decimals` (at most 9) decimals, rounded half to even; unknown if it is NAN, infinite or too large. */
struct cell hta_real(double value, unsigned decimals);

/* A list of numbers; { 0 } is empty.  hta_list_add() sets oom when out of memory. */
struct hta_list {
	double *values;
	size_t n, cap;
	bool oom;
};
void hta_list_add(struct hta_list *l, double value);

/*
 * JSON in memory, for table_value().  hta_json_begin() returns 0, or -1 when out of memory; hta_json_end() the text, which the caller
 * frees, or NULL when out of memory.
 */
struct hta_json {
	struct out out;
	FILE *file;
	char *text;
	size_t n;
};
int hta_json_begin(struct hta_json *j);
char *hta_json_end(struct hta_json *j);

/* Whether the report is to print a rank: always, unless its variant names another rank ("rank3"). */
bool hta_rank_wanted(const struct report_choice *choice, int64_t rank);

#define HTA_ROUNDED ((struct hta_how){ .rounded = true })
#define HTA_HONEST  ((struct hta_how){ .rounded = false })

/* How the numbers of HTA differ from those of the report without hta_; for titles and help. */
#define HTA_CUT_US "last step left out, whole microseconds"
#define HTA_US     "whole microseconds"

/*
 * Defines report_<theirs>, the report with HTA's numbers.  number: traces it takes (0: any number); takes_ and words: .takes and .variants
 * of struct report; limits: HTA_US, ...; heading_, line: title and help.
 */
#define HTA_TWIN_OF(number, takes_, limits, theirs, function, list, words, heading_, line)                              \
	static int run_##theirs(struct model *m, struct table *t, const struct report_choice *choice)                     \
	{                                                                                                               \
		return function(m, t, choice, HTA_ROUNDED);                                                             \
	}                                                                                                               \
	const struct report report_##theirs = { .name = #theirs, .title = heading_ ", as HTA Counts (" limits ")",        \
		.help = "as HTA counts (" limits "): " line, .ranks = true, .traces = number, .compat = true,             \
		.variants = words, .takes = takes_, COLUMNS(list), .run_chosen = run_##theirs }
#define HTA_TWIN(theirs, function, list, words, heading_, line)                                                         \
	HTA_TWIN_OF(0, NULL, HTA_CUT_US, theirs, function, list, words, heading_, line)

/* Defines report_<theirs> as HTA_TWIN_OF does, and report_<ours>, which runs the same function on all rows, in ns. */
#define HTA_PAIR_OF(number, takes_, limits, ours, theirs, function, list, words, heading_, line)                        \
	HTA_TWIN_OF(number, takes_, limits, theirs, function, list, words, heading_, line);                               \
	static int run_##ours(struct model *m, struct table *t, const struct report_choice *choice)                     \
	{                                                                                                               \
		return function(m, t, choice, HTA_HONEST);                                                              \
	}                                                                                                               \
	const struct report report_##ours = { .name = #ours, .title = heading_, .help = line,                           \
		.ranks = true, .traces = number, .variants = words, .takes = takes_, COLUMNS(list),                     \
		.run_chosen = run_##ours }

#endif
