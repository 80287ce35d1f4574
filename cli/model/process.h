/* Processes of the session with their attributes, health reasons, drops and costs. */
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

/* Time spent in gprof-run's code inside the program. */
struct cost {
	uint32_t process, place;        /* COST_ number */
	uint64_t count;
	int64_t total;                  /* ns */
};

struct facts {
	struct attribute *attributes;
	struct health *health;
	struct drop *drops;
	struct cost *costs;
	size_t n_attributes, n_health, n_drops, n_costs;
};

/*
 * An image of a process: each exec begins a new image, and ids in rows are per image.  All images of a process have the number of the
 * first.  Position 0 is the session itself (number 0).  Sorted by image.
 */
struct process {
	uint32_t image;                 /* number in the file, unique */
	uint32_t number;                /* number of the process, as reports print it */
	uint32_t pid, host_pid, ppid, parent;
	uint32_t flags;                 /* PROCESS_ bits of the image */
	uint32_t before, after;         /* positions of the previous and the next image of the process; 0: none */
	bool described;                 /* has a process row; false: only its number is known */
	uint32_t how, status;           /* enum how_ended; exit status or signal */
	int64_t cpu;                    /* CPU time, ns, from the fork to the end of this image; 0: not known */
	int64_t start, end;             /* 0: not known; end 0: also not ended */
	const struct attribute *attributes;     /* sorted by key, the last row of each key */
	const struct health *health;            /* sorted by reason, the last row of each reason */
	const struct drop *drops;
	const struct cost *costs;
	size_t n_attributes, n_health, n_drops, n_costs;
};

/* Position of the image with this number (for a process without exec, its process number); 0: none. */
uint32_t model_process_at(const struct model *m, uint32_t image);

/* All *n images, the session first; owned by the model. */
const struct process *model_processes(const struct model *m, uint32_t *n);

/* The value of an attribute of a process; NULL: not known. */
const char *process_attribute(const struct process *p, const char *key);

/* The value of an attribute of the session; NULL: not known. */
const char *model_attribute(const struct model *m, const char *key);

/*
 * Whole processes, with all their images.  position: of any image of the process.  These return the last image, the or'ed flags of all
 * images, and the number of processes, without the session.
 */
const struct process *process_last(const struct model *m, uint32_t position);
uint32_t process_all_flags(const struct model *m, uint32_t position);
uint32_t model_n_processes(const struct model *m);

/* Number of processes with rows of at least one of these kinds (ROW_ numbers, terminated by 0). */
uint32_t model_processes_with(const struct model *m, const unsigned char *kinds);

/* Whether the process was still running when the trace was closed. */
bool process_runs(const struct model *m, uint32_t position);

/*
 * Writes the names of the images of a process, "sh -> python3", into buf and returns buf.  Names that do not fit are left out before the
 * last one: "sh -> … -> python3".
 */
const char *process_images(const struct model *m, uint32_t position, char *buf, size_t size);

/* Name to print: its name, else the base name of its exe, else "pid 17", else "process 3".  The last two are written to buf. */
const char *process_name(const struct process *p, char *buf, size_t size);

/* Whether the trace was imported from a file of another profiler; false: recorded by gprof-run. */
bool model_imported(const struct model *m);

/* Whether the process ran on the simulated GPU, according to its flags or the name of a device. */
bool process_simulated(struct model *m, uint32_t process);

#endif
