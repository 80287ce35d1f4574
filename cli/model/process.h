/* Who was in the session: processes, what is known of each, and what was not as it should be. */
#ifndef MODEL_PROCESS_H
#define MODEL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/wire.h"                 /* PROCESS_ bits */

struct model;

struct attribute {
	uint32_t process;
	const char *key, *value;
};

struct health {
	uint32_t process, reason;       /* reason: row of health.def */
	uint64_t count;
	int64_t first, last;            /* 0: not known */
	const char *detail;             /* "": none */
};

/* Rows that were not kept. */
struct drop {
	uint32_t process, kind;
	uint32_t where;                 /* 0 in the program, 1 in the collector, 2 in CUPTI */
	uint64_t count;
	int64_t first, last;
};

/* Time of ours inside the program. */
struct cost {
	uint32_t process, place;        /* COST_ number */
	uint64_t count;
	int64_t total;
};

struct facts {
	struct attribute *attributes;
	struct health *health;
	struct drop *drops;
	struct cost *costs;
	size_t n_attributes, n_health, n_drops, n_costs;
};

/*
 * An image of a process: the collector begins a new one at exec, and ids of rows are the image's own.  Images of one process have its
 * number, which is that of the first.  Position 0 is the session itself (number 0).  Sorted by image.
 */
struct process {
	uint32_t image;                 /* as the file numbers it; different for each */
	uint32_t number;                /* of the process, what reports print */
	uint32_t pid, host_pid, ppid, parent;
	uint32_t flags;                 /* PROCESS_ bits of the image */
	uint32_t before, after;         /* positions of the images before and after an exec; 0: none */
	bool described;                 /* it has a process row; else only its number is known */
	uint32_t how, status;           /* enum how_ended; exit status or signal */
	int64_t cpu;                    /* CPU time, ns, from the fork to the end of this image; 0: not known */
	int64_t start, end;             /* 0: not known, or it had not ended */
	const struct attribute *attributes;     /* the last of each key, by key */
	const struct health *health;            /* the last of each reason, by reason */
	const struct drop *drops;
	const struct cost *costs;
	size_t n_attributes, n_health, n_drops, n_costs;
};

/* Position of the image with this number, which for a process of one image is the process's; 0: there is none. */
uint32_t model_process_at(const struct model *m, uint32_t image);

const struct process *model_processes(const struct model *m, uint32_t *n);

/* An attribute of a process, or NULL: not known. */
const char *process_attribute(const struct process *p, const char *key);

/* The same of the session. */
const char *model_attribute(const struct model *m, const char *key);

/*
 * Processes, where execs do not count: those at positions with `before` 0.  Below, position is that of any of its images.  The last
 * image, the flags of all, and the number of processes without the session.
 */
const struct process *process_last(const struct model *m, uint32_t position);
uint32_t process_all_flags(const struct model *m, uint32_t position);
uint32_t model_n_processes(const struct model *m);

/* Processes that have rows of one of these kinds (ROW_ numbers, and a 0 behind them). */
uint32_t model_processes_with(const struct model *m, const unsigned char *kinds);

/* It still ran when the trace was closed. */
bool process_runs(const struct model *m, uint32_t position);

/* "sh -> python3": the names of its images. */
const char *process_images(const struct model *m, uint32_t position, char *buf, size_t size);

/* What to call it: its name, else the last part of its exe, else "pid 17", else "process 3".  buf is used for the last
 * two. */
const char *process_name(const struct process *p, char *buf, size_t size);

/* What an imported trace was made from, in words; NULL: gprof-run recorded it. */
const char *model_imported_from(struct model *m);

/* Whether its GPU is the simulated one: it says so, or one of its devices is named so. */
bool process_simulated(struct model *m, uint32_t process);

#endif
