/* struct model; private to cli/model. */
#ifndef MODEL_INSIDE_H
#define MODEL_INSIDE_H

#include "cli/model/map.h"
#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/process.h"
#include "trace/buf.h"
#include "trace/reader.h"

#define MAX_COLUMNS 32          /* more than the fields of any record */

/* One chunk of a kind. */
struct part {
	struct chunk *chunk;
	uint32_t process;               /* position in model.processes */
	size_t first;                   /* number of its first row in the model */
	const uint8_t *keep;            /* by row of the chunk: 1 if the model has the row; NULL: it has all rows (steps/select.c) */
	uint32_t rows;                  /* rows that the model has */
};

struct kind {
	struct part *parts;             /* by process, then in file order */
	size_t n_parts, n_rows;
	bool read;                      /* all parts were read once: damaged parts are removed, n_rows is exact */
	void **columns;                 /* MAX_COLUMNS of them; NULL: no column was requested yet */
	uint32_t *process;              /* by row: position of its process */
	uint8_t *keep;                  /* steps/select.c: by row of the file; parts[].keep point into it */
};

/* Maps string ids of one process to string ids of the model. */
struct string_ids {
	uint32_t *dense;                /* array for ids below n */
	size_t n;
	struct map rest;
};

struct strings {
	const char **texts;             /* by id */
	uint32_t *hashes;               /* by id: hash of the text */
	uint32_t n;
	size_t cap;
	uint32_t *places;               /* hash table of id + 1 */
	size_t mask;
	uint64_t secret;
	struct memory { struct memory *next; } *blocks; /* texts live here until the model is closed */
	char *room;
	size_t left;
	struct string_ids *ids;         /* by process */
	bool loaded, failed;
};

struct defs {
	uint8_t *rows;
	size_t n;
	struct map index;               /* process << 32 | id -> row */
	bool loaded;
};

/* Windows are read without the steps, which take longer. */
struct windows {
	struct window *list;            /* by process, then number; NULL: not read */
	size_t n;
	struct finder *finder;          /* steps_rows.c */
};

/* The selection made by model_select(). */
struct chosen {
	bool any, steps;                /* something is selected; steps are */
	uint32_t window;                /* 0: no window is selected */
	bool *processes;                /* by position; NULL: all processes */
};

/*
 * Data that rooms above make from a model and keep in it, in the order in which it is freed.  Who makes it sets model.release; model_close()
 * calls it with rows_only false, and the selection with true: then it frees only what refers to numbers of rows.
 */
enum derived { FROM_PAYLOADS, FROM_GRAPHS, FROM_FINDERS, FROM_STEPS, FROM_STACKS, FROM_SYMBOLS, FROM_TORCH, DERIVED };

struct model {
	struct trace trace;
	struct kind kinds[ROW_KINDS];
	struct process *processes;
	uint32_t n_processes;
	struct facts facts;             /* attributes, health, drops and costs; processes[] point into it */
	struct strings strings;
	struct defs defs[ROW_category + 1];
	struct thread *threads;
	size_t n_threads;
	struct map domain_pairs;        /* process << 32 | domain -> number, to find categories */
	struct join *join;              /* join.c */
	struct payloads *payloads;      /* payload.c */
	struct graph_nodes *graph_nodes; /* graph.c */
	struct windows windows;         /* steps.c */
	struct steps_derived *steps;    /* steps.c */
	struct stacks_derived *stacks;  /* stacks.c */
	struct symbol_tables *symbols;  /* symbols.c */
	struct torch_derived *torch;    /* torch.c */
	struct chosen chosen;           /* steps/select.c: the selected part of the trace */
	void (*release[DERIVED])(struct model *m, bool rows_only);      /* by enum derived; NULL: not made */
	struct map names[NAME_STYLES];  /* names.c: string id -> id of the name as printed */
};

/* scan.c.  Reads every part of a kind once and removes damaged parts.  0, or -1: out of memory. */
int kind_read(struct model *m, unsigned kind);
/* Memory for a large array, on huge pages if possible; free() it.  NULL: out of memory. */
void *column_memory(size_t bytes);

/* strings.c.  Reads all string rows, once; 0, or -1: out of memory. */
int strings_load(struct model *m);
/* The model's id of a string id of the file; process: position. */
uint32_t string_id(const struct model *m, uint32_t process, uint32_t id);
/* Copies n bytes and appends a zero; the copy lives as long as the model.  NULL: out of memory. */
const char *strings_keep(struct model *m, const char *text, size_t n);
void strings_release(struct model *m);

/* process.c: processes, attributes, health, drops, costs.  0, or -1: out of memory. */
int processes_load(struct model *m);
void processes_release(struct model *m);
/* images.c: joins the images (before and after exec) of each process and gives them one number.  0, or -1: out of memory. */
int images_join(struct process *all, uint32_t n);

/* model.c.  Calls the functions of release, and drops the joins. */
void model_release(struct model *m, bool rows_only);

/* defs.c, join.c */
void defs_release(struct model *m);
void join_free(struct join *j);

/*
 * each.c.  Calls fn for every row of a kind, also those that a selection leaves out, with the row's tail (NULL: the kind has none).
 * process: position in model_processes().  Strings are loaded before.  0, or -1: fn returned -1, or out of memory.
 */
int rows_each(struct model *m, unsigned kind,
	      int (*fn)(struct model *m, uint32_t process, const void *row, const uint8_t *tail, uint32_t bytes));

/* An arena allocator: memory aligned to 16 bytes, freed all at once. */
#define SLAB_SIZE (64u << 10)
struct slab {
	struct slab *before;
	size_t size, used;
	size_t reserved;                /* pads the head, so that memory behind it is aligned */
};
/* Takes size bytes from the newest slab *last, or from a new one; NULL: out of memory. */
void *slab_take(struct slab **last, size_t size);
void slabs_free(struct slab *last);

#endif
