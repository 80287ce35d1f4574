/*
 * A job by the rules of PyTorch's TensorBoard plugin (torch_tb_profiler 0.4.3): one run per file or process, with its events by time,
 * steps, roles and operators.  Input of the tb_* reports; docs/reference/tb-reports.md says where they differ from the plugin, and why.
 */
#ifndef CLI_COMPAT_TB_TB_H
#define CLI_COMPAT_TB_TB_H

#include "cli/model/spans.h"
#include "cli/report/parts/choice.h"
#include "cli/report/parts/report.h"

struct model;
struct tb_tree;

enum tb_type {
	TB_IGNORED, TB_OP, TB_ANNOTATION, TB_PYTHON, TB_MODULE, TB_STEP, TB_CALL, TB_KERNEL, TB_MEMCPY, TB_MEMSET, TB_GPU_ANNOTATION,
};

/* tb_event.flags: the role of a name in the plugin. */
#define TB_NCCL      1u         /* nccl:all_reduce and the other collectives of NCCL */
#define TB_GLOO      2u
#define TB_LOADER    4u
#define TB_OPTIMIZER 8u         /* Optimizer.step... */
#define TB_HIDDEN    16u        /* left out of tables of operators: Optimizer.*, DataParallel.forward, ... */
#define TB_ELIGIBLE  32u        /* operator that can use tensor cores */
#define TB_TENSOR    64u        /* kernel that uses tensor cores */
#define TB_PROFILER_STEP 128u   /* ProfilerStep#N */
#define TB_PARALLEL  256u       /* DataParallel.forward */
#define TB_DISTRIBUTED 512u     /* DistributedDataParallel.forward */
#define TB_COMMUNICATION (TB_NCCL | TB_GLOO)

#define TB_NO_ID UINT64_MAX
#define TB_NONE  UINT32_MAX

struct tb_event {
	int64_t start, end;
	uint64_t external;              /* Kineto's External id; TB_NO_ID: none */
	uint32_t name;                  /* string id of the run's model */
	uint32_t flags;                 /* TB_ bits of the name */
	uint32_t tid;                   /* of host events */
	uint32_t index;                 /* position in the file */
	uint32_t process;               /* position in model_processes() */
	uint32_t corr;
	uint32_t link;                  /* of a call: its position in calls; of a GPU event: position of its call, TB_NONE: none */
	int32_t device;                 /* of GPU events; -1 for host events */
	uint8_t type;                   /* enum tb_type */
	bool has_corr;
	union {
		struct { double blocks, occupancy; };   /* of a kernel: blocks per SM, percent; NAN: not known */
		struct { uint32_t dims, types; };       /* of a host event: string ids; 0: none */
		uint32_t number;                        /* of a step */
	};
	uint32_t config;                /* of a kernel */
};

/* A call of the CUDA runtime, with the GPU events that it started. */
struct tb_call {
	uint32_t event;                 /* position in events */
	uint32_t n;                     /* number of GPU events */
	int64_t first, last;            /* first start, last end of the GPU events */
	int64_t duration, tensor;       /* sum of their durations; of kernels that use tensor cores */
};

enum tb_role { TB_ROLE_KERNEL, TB_ROLE_MEMCPY, TB_ROLE_MEMSET, TB_ROLE_COMMUNICATION, TB_ROLE_RUNTIME, TB_ROLE_LOADER, TB_ROLE_CPU,
	       TB_ROLES };

struct tb_step {
	int64_t start, end;
	int64_t cost[TB_ROLES], other;  /* ns; with other they add up to end - start */
	int64_t computation, communication, overlap;    /* ns */
	uint32_t number, n;             /* n: number of GPU events that it started */
};

struct tb_run {
	struct model *m;
	const char *worker;             /* the plugin's name of the run: the name of the file without its ending; owned */
	int64_t rank;                   /* -1: not known */
	uint32_t first_process, n_processes;    /* its processes are adjacent in model_processes() */
	struct tb_event *events;        /* by start, at equal starts in file order */
	size_t n, cap;
	struct tb_call *calls;
	size_t n_calls;
	struct spans roles[TB_ROLES];   /* when events of each role ran */
	struct tb_step *steps;
	size_t n_steps;
	struct tb_tree *tree;           /* made by the first tb_tree_of(); NULL before it */
	bool made_up;                   /* no step was marked: the whole run is step 0 */
	bool imported;
	bool no_operators;              /* recorded trace without operators: only PyTorch's scopes and autograd nodes */
	bool nameless;                  /* AMD GPU: names of kernels do not tell whether they use matrix units */
	bool oom;
};

struct tb_job {
	struct tb_run *runs;            /* by worker */
	size_t n, cap;
};

/* ---- tb_load.c, tb_imported.c, tb_own.c ---- */
/* The job of a report: of choice->jobs, which keeps it for the next report, or of m when that is NULL.  NULL: out of memory. */
struct tb_job *tb_get(struct model *m, const struct report_choice *choice);
/* Ends tb_get(): frees the job unless choice->jobs keeps it.  job may be NULL. */
void tb_done(struct tb_job *job, const struct report_choice *choice);
void tb_free(struct tb_job *job);

/* Adds a run.  worker: path of the file, or name of the process.  The pointer is valid until the next call.  NULL: out of memory. */
struct tb_run *tb_add_run(struct tb_job *job, struct model *m, const char *worker, int64_t rank);
/* Adds an event; the caller sets all its fields.  NULL: out of memory (r->oom). */
struct tb_event *tb_add(struct tb_run *r);
/* The rank number of a process, from its attribute "rank"; -1: none. */
int64_t tb_rank_of(struct model *m, uint32_t process);
/* Adds the runs of an imported trace; of a recorded trace.  Return 0, or -1 when out of memory. */
int tb_imported_runs(struct tb_job *job, struct model *m);
int tb_own_runs(struct tb_job *job, struct model *m);

/* ---- tb_names.c ---- */
uint32_t tb_flags_of(const char *name);
enum tb_type tb_type_of(const char *category);
/* The worker of a file: "node_17" for node_17.1623143089861.pt.trace.json.gz.  The caller frees it.  NULL: out of memory. */
char *tb_worker_of(const char *path);

/* ---- tb_time.c: steps and roles ---- */
/* Links calls and GPU events, finds roles and steps, and divides the time of each step by role.  Returns 0, or -1 when out of memory. */
int tb_time(struct tb_run *r);

static inline bool tb_is_gpu(const struct tb_event *e)
{
	return e->type == TB_KERNEL || e->type == TB_MEMCPY || e->type == TB_MEMSET;
}

/* part / whole in percent, with two decimals; unknown when whole is 0. */
struct cell tb_percent(double part, double whole);

/* As llround(), which would load libm into every process: the nearest integer, halves away from 0; the last one for what is beyond. */
static inline int64_t tb_round(double v)
{
	if (!(v > -0x1p63 && v < 0x1p63))
		return v > 0 ? INT64_MAX : INT64_MIN;

	double whole = (double)(int64_t)v;

	return (int64_t)whole + (v - whole >= 0.5) - (whole - v >= 0.5);
}
/* The rank of a run, or unknown. */
struct cell tb_rank(const struct tb_run *r);

#endif
