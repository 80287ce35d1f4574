/*
 * Exports traces to other formats.  A format is a struct of functions.  walk.c iterates over the trace for all formats: it puts rows on
 * tracks, joins GPU rows with the calls that launched them, and finds steps.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "cli/model/map.h"
#include "cli/model/model.h"
#include "cli/ui/json_out.h"

struct export;

enum track_kind { TRACK_THREAD, TRACK_STREAM, TRACK_WAITS, TRACK_OVERHEAD, TRACK_UNIFIED, TRACK_RANGES };

/* A row of slices in a viewer.  Slices of one track are disjoint or nested, never partly overlapping. */
struct track {
	enum track_kind kind;
	uint32_t process;               /* position in model_processes() */
	uint32_t device, id;            /* stream: device ordinal and stream id; thread: its ordinal */
	bool libraries;                 /* thread: track of its calls of CUDA libraries */
	uint32_t sampled;               /* thread: kernel thread id if this is the track of its samples; else 0 */
	bool steps;                     /* process: track of steps that are not ranges of a thread */
	uint32_t lane;                  /* 0, or n for the n-th extra track of overlapping slices of a stream */
	uint32_t first;                 /* stream: position of its lane 0 */
	uint32_t pid, tid;              /* as written; the pair is unique in the file */
	uint32_t gpu;                   /* stream: number of the device as written, which is its pid */
	uint32_t next_lane;             /* position of the next lane's track; 0: none */
	int64_t end;                    /* end of the last slice on the track */
};

/* A GPU row, or a wait for the GPU. */
struct gpu_slice {
	unsigned kind;                  /* ROW_kernel, ROW_memcpy, ROW_memset or ROW_sync */
	size_t row;
	uint32_t track;                 /* position in tracks */
	int64_t start, duration;
	uint32_t corr;                  /* correlation id as written */
	uint64_t external;              /* External id of the range around the call; 0: none */
	bool launched;                  /* the launching call is in the trace; the fields below describe it */
	uint32_t call_track;
	int64_t call_start;
	uint64_t flow;                  /* id of the arrow from call to slice, unique in the file */
};

/* A call, range, mark or step. */
struct host_slice {
	size_t row;                     /* row number in its kind; SIZE_MAX: none */
	uint32_t track;
	int64_t start, duration;
	uint64_t external; /* range or step: its External id; call or mark: that of the range around it; 0: none */
	uint32_t corr;                  /* call: correlation id as written */
};

/* A function that was on a thread's stack in consecutive samples. */
struct frame_slice {
	uint32_t track;
	int64_t start, duration;
	uint32_t function;              /* position in functions of cli/model/stacks/stacks.h */
	uint64_t id, parent;            /* Python function: id unique in the file, id of the enclosing one; parent 0: none */
};

struct exporter {
	const char *name, *suffix, *help;
	/* Writes what precedes the slices.  0, or -1: out of memory.  NULL is allowed for projection, release, sum; with sum, for all. */
	int (*begin)(struct export *x);
	void (*call)(struct export *x, const struct host_slice *s);
	void (*range)(struct export *x, const struct host_slice *s);            /* push/pop */
	void (*interval)(struct export *x, const struct host_slice *s);         /* start/end range; may overlap others partly */
	void (*mark)(struct export *x, const struct host_slice *s);
	/* whole: a step around the whole trace, which has no steps. */
	void (*step)(struct export *x, const struct host_slice *s, uint64_t number, bool whole);
	void (*gpu)(struct export *x, const struct gpu_slice *s);
	/* The GPU work of a PyTorch user scope on a stream: kind is ROW_range, row and external are the scope's. */
	void (*projection)(struct export *x, const struct gpu_slice *s);
	/* A transfer of unified memory, or page faults of a GPU. */
	void (*unified)(struct export *x, size_t row, uint32_t track, int64_t start, int64_t duration);
	void (*frame)(struct export *x, const struct frame_slice *s);
	void (*overhead)(struct export *x, size_t row, uint32_t track, int64_t start, int64_t duration);
	int (*end)(struct export *x);
	void (*release)(struct export *x);      /* frees what begin() allocated */
	/* For a format that sums by call stack, instead of all functions above.  0, or -1: out of memory. */
	int (*sum)(struct export *x);
	bool gzip;                      /* the output must be compressed with gzip */
};

/* Values that formats sum by call stack. */
enum metric { METRIC_GPU_TIME, METRIC_API_TIME, METRIC_CPU_SAMPLES, METRIC_BYTES, METRIC_COUNT, METRIC_RANGE_TIME, METRICS };

struct export {
	const struct exporter *format;
	struct model *m;
	struct out *out;
	const char *title;              /* name of the output file */
	const bool *takes;              /* by process: whether to include it; NULL: all */
	bool merged;                    /* several processes with GPU rows in one file: ids are renumbered */
	enum metric metric;             /* for a format that sums */
	bool integers;                  /* write whole microseconds, rounded so that nesting is kept */
	void (*progress)(uint64_t done, uint64_t total);
	/* results */
	uint64_t events;                /* slices written */
	uint64_t untimed;               /* GPU rows left out because CUPTI gave no time */
	/* private to walk.c and tracks.c */
	struct track *tracks;
	size_t n_tracks, cap_tracks;
	struct map places, gpu_places, pids, taken;
	uint32_t n_gpus;
	uint32_t *corr_base;            /* merged file, by process: number added to correlation ids */
	uint64_t n_flows, flow_base;
	uint64_t done, total;
	uint64_t last_range, last_external;
	uint32_t last_process;
	bool oom;                       /* out of memory, or writing failed: stop */
	void *own;                      /* private to the format */
};

extern const struct exporter export_kineto, export_folded, export_pprof;

/* Writes one file to x->out.  0, or -1: out of memory.  Write errors are in x->out. */
int export_walk(struct export *x);
/* Frees what export_walk() allocated. */
void export_release(struct export *x);

/* Whether a process gets its own Kineto file: it has CUDA calls or GPU rows, or makes PyTorch steps. */
bool export_leads(struct model *m, uint32_t process);

/* ---- tracks.c ---- */

/* These return the position of a track, made on first use: of a thread, of its calls of CUDA libraries, of a process's steps. */
uint32_t track_of_thread(struct export *x, uint32_t process, uint32_t thread);
uint32_t track_of_libraries(struct export *x, uint32_t process, uint32_t thread);
uint32_t track_of_steps(struct export *x, uint32_t process);
/* Track of a thread's samples.  thread 0: only the kernel thread id is known. */
uint32_t track_of_samples(struct export *x, uint32_t process, uint32_t thread, uint32_t tid);
/* Position of a track of a stream (or of waits for it) on which a slice from start to end fits; sets the track's end to `end`. */
uint32_t track_of_stream(struct export *x, enum track_kind kind, uint32_t process, uint32_t device, uint32_t stream,
			 int64_t start, int64_t end);
/* The pid written for a process. */
uint32_t pid_of_process(struct export *x, uint32_t process);

/* ---- samples.c ---- */

/* Converts samples to slices and calls the format's frame() for each.  0, or -1: out of memory. */
int export_samples(struct export *x);

/* ---- steps.c ---- */

struct step_slice {
	int64_t start, end;
	uint64_t number;                /* as in report -r steps */
	uint32_t process, thread;
	bool apart;                     /* needs its own track: may overlap slices of its thread's track partly */
};

/*
 * The *n steps, by start, of the process, kind and thread with most steps; free() *steps.  *named: the trace has ranges named
 * ProfilerStep#N, so no steps are needed and *n is 0.  0, or -1: out of memory.
 */
int export_steps(struct export *x, struct step_slice **steps, size_t *n, bool *named);

#endif
