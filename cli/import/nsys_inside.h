/* What the files nsys*.c share: one process of an export of nsys on its way to rows.  For nobody else. */
#ifndef IMPORT_NSYS_INSIDE_H
#define IMPORT_NSYS_INSIDE_H

#include "cli/import/kineto.h"
#include "cli/import/sqlite.h"

#define PID_OF(global) ((global) >> 24 & 0xffffff)      /* hw:8 | vm:8 | pid:24 | tid:24 */
#define TID_OF(global) ((global) & 0xffffff)
#define NO_TID         (~0xffffffll)

struct reading {
	struct kineto *k;
	struct sqlite *db;
	int64_t pid;                    /* globalPid */
	struct map strings;             /* id of StringIds -> text */
	struct map domains;             /* domainId -> domain */

	struct map chains;              /* id of a call chain of the table in hand -> stack */
	struct map stacks;              /* frames, mixed -> position of the stack */
	struct map images, symbols;     /* module's text -> image; image and address, mixed */
	struct buf stack_at;            /* size_t: where the frames of each stack begin */
	struct buf chain;               /* frames of the chain in hand */
	int64_t chain_id;
	uint32_t domain;                /* of the ranges of the table in hand */
	uint32_t allocates, releases;   /* what the export calls these; NO_WORD: it does not say */
};

#define NO_WORD 0xffffffffu

/* One table: rows that fit go to fn.  None where the column is missing that the condition begins with. */
struct nsys_table {
	const char *table, *columns, *where;
	int (*fn)(const struct sqlite_row *r, void *arg);
};
int nsys_tables(struct reading *in, const struct nsys_table *tables, size_t n);

/* nsys.c */
uint32_t nsys_string(const struct reading *in, const struct sqlite_row *r, int column);
/* Start to end; counted where they make no sense. */
int64_t nsys_span(struct reading *in, int64_t start, int64_t end);
/* NO_HOST: out of memory. */
uint32_t nsys_thread(struct reading *in, int64_t global, int64_t start);
/* nsys counts kinds of memory from 0, CUPTI from 1. */
uint32_t nsys_memory_kind(const struct sqlite_row *r, int column);

/* nsys_stacks.c: stacks of a table of call chains; in->chains then finds them.  0 or -1. */
int nsys_chains(struct reading *in, const char *table, const char *where);
int nsys_samples(struct reading *in, const char *of_threads);

/* nsys_more.c: contexts and streams, before anything names them; what is neither a call, a kernel, a copy, a set nor NVTX.  0 or -1. */
int nsys_places(struct reading *in);
int nsys_more(struct reading *in, const char *of_threads, const char *of_process);
/* Tables with rows that nobody reads are counted. */
void nsys_unread(struct reading *in);

#endif
