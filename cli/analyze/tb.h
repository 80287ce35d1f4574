/*
 * A job as the TensorBoard plugin of PyTorch (torch_tb_profiler 0.4.3) sees it: a run for each file or process, with
 * its events in order of time, steps, roles and operators by the plugin's rules.  The tb_* reports are made from this
 * alone; docs/tb-reports.md says where they differ from the plugin, and why.
 */
#ifndef ANALYZE_TB_H
#define ANALYZE_TB_H

#include "cli/analyze/choice.h"
#include "cli/analyze/report.h"
#include "cli/model/spans.h"

struct model;
struct tb_tree;

enum tb_type {
	TB_IGNORED, TB_OP, TB_ANNOTATION, TB_PYTHON, TB_MODULE, TB_STEP, TB_CALL, TB_KERNEL, TB_MEMCPY, TB_MEMSET, TB_GPU_ANNOTATION,
};

/* What a name is to the plugin, tb_event.flags. */
#define TB_NCCL      1u         /* nccl:all_reduce and its like */
#define TB_GLOO      2u
#define TB_LOADER    4u
#define TB_OPTIMIZER 8u         /* Optimizer.step... */
#define TB_HIDDEN    16u        /* no operator in its tables: Optimizer.*, DataParallel.forward, ... */
#define TB_ELIGIBLE  32u        /* an operator that may use tensor cores */
#define TB_TENSOR    64u        /* a kernel that does */
#define TB_PROFILER_STEP 128u   /* ProfilerStep#N */
#define TB_PARALLEL  256u       /* DataParallel.forward */
#define TB_DISTRIBUTED 512u     /* DistributedDataParallel.forward */
#define TB_COMMUNICATION (TB_NCCL | TB_GLOO)

#define TB_NO_ID UINT64_MAX
#define TB_NONE  UINT32_MAX

struct tb_event {
	int64_t start, end;
	uint64_t external;              /* Kineto's External id; TB_NO_ID: it has none */
	uint32_t name;                  /* string id of the run's model */
	uint32_t flags;                 /* TB_ bits of the name */
	uint32_t tid;                   /* of the host's events */
	uint32_t index;                 /* position in the file */
	uint32_t process;               /* position in model_processes() */
	uint32_t corr;
	uint32_t link;                  /* of a call: its position in calls; of the GPU's events: that of their call, TB_NONE */
	int32_t device;
	uint8_t type;                   /* enum tb_type */
	bool has_corr;
	union {
		struct { double blocks, occupancy; };   /* of a kernel: blocks per SM, percent; NAN: not known */
		struct { uint32_t dims, types; };       /* of a host event: string ids; 0: none */
		uint32_t number;                        /* of a step */
	};
	uint32_t config;                /* of a kernel */
};

/* A call of the CUDA runtime, with what it started on a GPU. */
struct tb_call {
	uint32_t event;
	uint32_t n;                     /* GPU events */
	int64_t first, last;            /* begin of the first, end of the last */
	int64_t duration, tensor;       /* sum of all; of kernels that use tensor cores */
};

enum tb_role { TB_ROLE_KERNEL, TB_ROLE_MEMCPY, TB_ROLE_MEMSET, TB_ROLE_COMMUNICATION, TB_ROLE_RUNTIME, TB_ROLE_LOADER, TB_ROLE_CPU,
	       TB_ROLES };

struct tb_step {
	int64_t start, end;
	int64_t cost[TB_ROLES], other;
	int64_t computation, communication, overlap;
	uint32_t number, n;             /* n: GPU events that it started */
};

struct tb_run {
	struct model *m;
	const char *worker;             /* what the plugin calls it: the file's name without its ending; allocated */
	int64_t rank;                   /* -1: not known */
	uint32_t first_process, n_processes;    /* they stand together */
	struct tb_event *events;        /* by start; equal ones as in the file */
	size_t n, cap;
	struct tb_call *calls;
	size_t n_calls;
	struct spans roles[TB_ROLES];
	struct tb_step *steps;
	size_t n_steps;
	struct tb_tree *tree;           /* tb_tree_of()'s; NULL: nobody asked yet */
	bool made_up;                   /* no step was marked: the whole is step 0 */
	bool imported;
	bool no_operators;              /* of ours: PyTorch's scopes and autograd nodes at most were recorded */
	bool nameless;                  /* names of kernels do not say whether they use matrix units: AMD's */
	bool oom;
};

struct tb_job {
	struct tb_run *runs;            /* by worker */
	size_t n;
};

/* ---- tb_load.c, tb_imported.c, tb_own.c ---- */
/* All runs of a report's traces; what choice carries is kept there for the next one.  NULL: out of memory. */
struct tb_job *tb_get(struct model *m, const struct report_choice *choice);
/* With whatever came. */
void tb_done(struct tb_job *job, const struct report_choice *choice);
void tb_free(struct tb_job *job);

struct tb_run *tb_add_run(struct tb_job *job, struct model *m, const char *worker, int64_t rank);
struct tb_event *tb_add(struct tb_run *r);
int64_t tb_rank_of(struct model *m, uint32_t process);
/* Runs of a trace that was imported; of one of ours.  0, or -1: out of memory. */
int tb_imported_runs(struct tb_job *job, struct model *m);
int tb_own_runs(struct tb_job *job, struct model *m);

/* ---- tb_names.c ---- */
uint32_t tb_flags_of(const char *name);
enum tb_type tb_type_of(const char *category);
/* A file's worker: "node_17" of node_17.1623143089861.pt.trace.json.gz.  free(). */
char *tb_worker_of(const char *path);

/* ---- tb_time.c: steps and roles ---- */
/* Links calls and GPU events, finds roles and steps, and how each step's time is divided.  0, or -1. */
int tb_time(struct tb_run *r);

static inline bool tb_is_gpu(const struct tb_event *e)
{
	return e->type == TB_KERNEL || e->type == TB_MEMCPY || e->type == TB_MEMSET;
}

/* A share in percent, with two decimals; unknown where the whole is nothing. */
struct cell tb_percent(double part, double whole);

/* The whole number next to it; of two, the one further from 0.  (llround() alone would load libm into every process.) */
static inline int64_t tb_round(double v)
{
	double whole = (double)(int64_t)v;

	return (int64_t)whole + (v - whole >= 0.5) - (whole - v >= 0.5);
}
struct cell tb_rank(const struct tb_run *r);

#endif
