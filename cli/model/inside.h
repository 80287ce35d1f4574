/* struct model, for the files of this folder alone. */
#ifndef MODEL_INSIDE_H
#define MODEL_INSIDE_H

#include "cli/model/map.h"
#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/process.h"
#include "trace/buf.h"
#include "trace/reader.h"

#define MAX_COLUMNS 32          /* fields of the widest record and a few */

/* One chunk of a kind. */
struct part {
	struct chunk *chunk;
	uint32_t process;               /* position in model.processes */
	size_t first;                   /* number of its first row */
	const uint8_t *keep;            /* by row of the chunk: whether the model has it; NULL: all of them (select.c) */
	uint32_t rows;                  /* that the model has */
};

struct kind {
	struct part *parts;             /* by process, then in file order */
	size_t n_parts, n_rows;
	bool read;                      /* every part has been read once: damaged ones are out, n_rows is exact */
	void **columns;                 /* MAX_COLUMNS of them; NULL: none has been asked for */
	uint32_t *process;              /* of each row */
	uint8_t *keep;                  /* select.c: by row of the file, what parts[].keep points into */
};

/* Ids of one process -> ids of the model. */
struct string_ids {
	uint32_t *dense;                /* ids below n */
	uint32_t n;
	struct map rest;
};

struct strings {
	const char **texts;             /* by id */
	uint32_t *hashes;               /* of those */
	uint32_t n, cap;
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

/* Read apart from the steps, which cost more. */
struct windows {
	struct window *list;            /* by process, then number; NULL: not read */
	size_t n;
	struct finder *finder;          /* steps_rows.c */
};

/* What model_select() was told. */
struct chosen {
	bool any, steps;
	uint32_t window;                /* 0: not by windows */
	bool *processes;                /* by position; NULL: all of them */
};

struct model {
	struct trace trace;
	struct kind kinds[ROW_KINDS];
	struct process *processes;
	uint32_t n_processes;
	struct facts facts;             /* attributes and so on, which processes[] point into */
	struct strings strings;
	struct defs defs[ROW_category + 1];
	struct thread *threads;
	size_t n_threads;
	struct map domain_pairs;        /* process << 32 | domain -> number, to find categories */
	struct join *join;              /* join.c */
	struct payloads *payloads;      /* payload.c */
	struct graph_nodes *graph_nodes; /* graph.c */
	struct windows windows;         /* steps.c */
	struct steps_made *steps;       /* steps.c */
	struct stacks_made *stacks;     /* stacks.c */
	struct symbol_tables *symbols;  /* symbols.c */
	struct torch_made *torch;       /* torch.c */
	struct chosen chosen;           /* select.c: parts of the trace are left out */
	struct map names[NAME_STYLES];  /* names.c: string id -> id of the name as printed */
};

/* scan.c.  Reads every part of a kind once. */
int kind_read(struct model *m, unsigned kind);
/* Memory for a large array, on huge pages where they can be had. */
void *column_memory(size_t bytes);

/* strings.c */
int strings_load(struct model *m);
uint32_t string_id(const struct model *m, uint32_t process, uint32_t id);
/* A copy of n bytes and a zero behind them, that lives as long as the model; NULL: out of memory. */
const char *strings_keep(struct model *m, const char *text, size_t n);
void strings_release(struct model *m);

/* process.c: processes, attributes, health, drops, costs.  0, or -1: out of memory. */
int processes_load(struct model *m);
void processes_release(struct model *m);
/* images.c: finds the images of one process and gives them its number.  0, or -1: out of memory. */
int images_join(struct process *all, uint32_t n);

/* defs.c, join.c, graph.c */
void defs_release(struct model *m);
void join_free(struct join *j);

/*
 * each.c.  Calls fn for every row of a kind, those too that a selection leaves out, with the bytes behind it (NULL:
 * none).  process: position.  Strings are loaded.  0, or -1: fn said so, or out of memory.
 */
int rows_each(struct model *m, unsigned kind,
	      int (*fn)(struct model *m, uint32_t process, const void *row, const uint8_t *tail, uint32_t bytes));

/* Memory that is given back at once, aligned to 16 bytes. */
#define SLAB_SIZE (64u << 10)
struct slab {
	struct slab *before;
	size_t size, used;
	size_t reserved;                /* what follows stays aligned */
};
void *slab_take(struct slab **last, size_t size);
void slabs_free(struct slab *last);

/* symbols.c */
void symbol_tables_free(struct symbol_tables *t);

/* payload.c */
void payloads_release(struct payloads *p);
void graph_nodes_free(struct graph_nodes *g);

/* steps.c, select.c */
void steps_release(struct steps_made *s);

/* steps_rows.c; takes NULL */
void finder_free(struct finder *f);

/* stacks.c */
void stacks_release(struct stacks_made *s);

/* torch.c; forget: what was made of row numbers */
void torch_release(struct model *m);
void torch_forget(struct model *m);

#endif
