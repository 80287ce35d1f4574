/*
 * Traces into other formats.  A format is a struct of functions; walk.c goes through the trace once for all of them: it
 * puts rows on tracks, joins GPU rows with the calls that launched them, and finds steps.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "cli/json_out.h"
#include "cli/model/map.h"
#include "cli/model/model.h"

struct export;

enum track_kind { TRACK_THREAD, TRACK_STREAM, TRACK_WAITS, TRACK_OVERHEAD, TRACK_UNIFIED, TRACK_RANGES };

/* A line of the picture: slices on it lie beside or inside each other, never across. */
struct track {
	enum track_kind kind;
	uint32_t process;               /* position in model_processes() */
	uint32_t device, id;            /* of a stream: device ordinal and stream id; of a thread: its ordinal */
	bool libraries;                 /* of a thread: its calls of CUDA libraries, apart from its own ranges */
	uint32_t sampled;               /* of a thread: its samples, and its kernel thread id; 0: none of these */
	bool steps;                     /* of a process: its steps, where they are no ranges of a thread */
	uint32_t lane;                  /* 0, or the n-th track for what overlaps on the stream */
	uint32_t first;                 /* of a stream: position of its lane 0 */
	uint32_t pid, tid;              /* as written: unique in the file */
	uint32_t gpu;                   /* of a stream: the device's number as written, its pid */
	uint32_t next_lane;             /* position of the next lane's track; 0: none */
	int64_t end;                    /* of the last slice put on it */
};

/* One slice of a GPU, or of a wait for it. */
struct gpu_slice {
	unsigned kind;                  /* ROW_kernel, ROW_memcpy, ROW_memset or ROW_sync */
	size_t row;
	uint32_t track;                 /* position in tracks */
	int64_t start, duration;
	uint32_t corr;                  /* as written */
	uint64_t external;              /* External id of the range around the call; 0: none */
	bool launched;                  /* the call is in the trace; the next four are its */
	uint32_t call_track;
	int64_t call_start;
	uint64_t flow;                  /* unique in the file */
};

struct host_slice {
	size_t row;                     /* of its kind; SIZE_MAX: none */
	uint32_t track;
	int64_t start, duration;
	uint64_t external; /* own id of a range or step, that of the range around a call or mark; 0: none */
	uint32_t corr;                  /* of a call, as written */
};

/* A function that was on a thread's stack in sample after sample. */
struct frame_slice {
	uint32_t track;
	int64_t start, duration;
	uint32_t function;              /* position in functions of cli/model/stacks.h */
	uint64_t id, parent;            /* of a Python function: unique in the file; parent 0: none is around it */
};

struct exporter {
	const char *name, *suffix, *help;
	/* 0, or -1: out of memory.  Others may be NULL: the walk leaves out what a format cannot hold. */
	int (*begin)(struct export *x);
	void (*call)(struct export *x, const struct host_slice *s);
	void (*range)(struct export *x, const struct host_slice *s);            /* push/pop */
	void (*interval)(struct export *x, const struct host_slice *s);         /* start/end: may cross others */
	void (*mark)(struct export *x, const struct host_slice *s);
	/* whole: it stands for the whole trace, which has no steps. */
	void (*step)(struct export *x, const struct host_slice *s, uint64_t number, bool whole);
	void (*gpu)(struct export *x, const struct gpu_slice *s);
	/* What a user scope of PyTorch's had run on a stream: kind is ROW_range, row the scope's, external its id. */
	void (*projection)(struct export *x, const struct gpu_slice *s);
	/* A transfer of unified memory, or page faults of a GPU. */
	void (*unified)(struct export *x, size_t row, uint32_t track, int64_t start, int64_t duration);
	void (*frame)(struct export *x, const struct frame_slice *s);
	void (*overhead)(struct export *x, size_t row, uint32_t track, int64_t start, int64_t duration);
	int (*end)(struct export *x);
	void (*release)(struct export *x);      /* of whatever begin has made */
	/* Of a format that sums by call stack and draws nothing: instead of all of the above.  0, or -1: out of memory. */
	int (*sum)(struct export *x);
	bool gzip;                      /* what it writes has to be wrapped */
};

/* What is summed. */
enum metric { METRIC_GPU_TIME, METRIC_API_TIME, METRIC_CPU_SAMPLES, METRIC_BYTES, METRIC_COUNT, METRIC_RANGE_TIME, METRICS };

struct export {
	const struct exporter *format;
	struct model *m;
	struct out *out;
	const char *title;              /* name of the file that is written */
	const bool *takes;              /* by process: whether it is in this file; NULL: all */
	bool merged;                    /* several processes with GPU rows: ids are renumbered */
	enum metric metric;             /* of a format that sums */
	bool integers;                  /* microseconds without a fraction, rounded so that nesting is kept */
	void (*progress)(uint64_t done, uint64_t total);
	/* results */
	uint64_t events;                /* slices written */
	uint64_t untimed;               /* GPU rows left out: CUPTI gave them no time */
	/* walk.c's and tracks.c's own */
	struct track *tracks;
	size_t n_tracks, cap_tracks;
	struct map places, gpu_places, pids, taken;
	uint32_t n_gpus;
	uint32_t *corr_base;            /* by process: added to correlation ids of a merged file */
	uint64_t n_flows, flow_base;
	uint64_t done, total;
	uint64_t last_range, last_external;
	uint32_t last_process;
	bool oom;
	void *own;                      /* the format's */
};

extern const struct exporter export_kineto, export_folded, export_pprof;

/* Writes one file.  0, or -1: out of memory.  Whether the bytes arrived is asked of out. */
int export_walk(struct export *x);
void export_release(struct export *x);

/* Whether a Kineto file is made for a process: it has CUDA calls or GPU rows, or takes steps with PyTorch. */
bool export_leads(struct model *m, uint32_t process);

/* ---- tracks.c ---- */

/* Position of a thread's track, or of the one beside it that has its calls of CUDA libraries. */
uint32_t track_of_thread(struct export *x, uint32_t process, uint32_t thread);
uint32_t track_of_libraries(struct export *x, uint32_t process, uint32_t thread);
uint32_t track_of_steps(struct export *x, uint32_t process);
/* thread 0: known by its tid alone. */
uint32_t track_of_samples(struct export *x, uint32_t process, uint32_t thread, uint32_t tid);
/* Position of a track on which a slice of a stream (or of waits for it) that starts at `start` fits; its end is moved
 * on. */
uint32_t track_of_stream(struct export *x, enum track_kind kind, uint32_t process, uint32_t device, uint32_t stream,
			 int64_t start, int64_t end);
/* pid of a process as written. */
uint32_t pid_of_process(struct export *x, uint32_t process);

/* ---- samples.c ---- */

/* Calls the format's frame() for what samples say.  0, or -1: out of memory. */
int export_samples(struct export *x);

/* ---- steps.c ---- */

struct step_slice {
	int64_t start, end;
	uint64_t number;                /* as report -r steps has it */
	uint32_t process, thread;
	bool apart;                     /* it would cross what is on its thread's track */
};

/*
 * The steps of the process, kind and thread that has most of them, by start.  named: ranges are called ProfilerStep#N already, and none are needed.  free() *steps.  0, or -1: out of memory.
 */
int export_steps(struct export *x, struct step_slice **steps, size_t *n, bool *named);

#endif
