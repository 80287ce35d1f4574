/* Private to nsys*.c: the state while one process of an nsys export is read. */
#ifndef CLI_IMPORT_NSYS_NSYS_INSIDE_H
#define CLI_IMPORT_NSYS_NSYS_INSIDE_H

#include "cli/import/bytes/sqlite.h"
#include "cli/import/rows/kineto.h"

#define PID_OF(global) ((global) >> 24 & 0xffffff)      /* a globalTid is hw:8 | vm:8 | pid:24 | tid:24; a globalPid has tid 0 */
#define TID_OF(global) ((global) & 0xffffff)
#define NO_TID         (~0xffffffll)

struct nsys_reader {
	struct kineto *k;
	struct sqlite *db;
	int64_t pid;                    /* globalPid */
	struct map strings;             /* id of StringIds -> text */
	struct map domains;             /* domainId -> domain */

	struct map chains;              /* id of a call chain in the table read last -> stack */
	struct map stacks;              /* hash of the frames -> index of the stack */
	struct map images, symbols;     /* text of the module -> image; set of hashes of image and address */
	struct buf stack_at;            /* size_t: offset in k->frames of the frames of each stack */
	struct buf chain;               /* frames of the chain that is being read */
	int64_t chain_id;
	uint32_t domain;                /* of the ranges of the table that is being read */
	uint32_t allocates, releases;   /* memoryOperationType of allocations and releases; NO_WORD: unknown */
};

#define NO_WORD 0xffffffffu

/* A table to read: as the arguments of sqlite_each(); fn gets struct nsys_reader as arg. */
struct nsys_table {
	const char *table, *columns, *where;
	int (*fn)(const struct sqlite_row *r, void *arg);
};
/* Reads the tables in order.  Skips a table that does not have the first column of its condition.  0, or -1 with *k->err set. */
int nsys_tables(struct nsys_reader *in, const struct nsys_table *tables, size_t n);

/* The text that a column refers to by its id in StringIds; 0: NULL or unknown. */
uint32_t nsys_string(const struct nsys_reader *in, const struct sqlite_row *r, int column);
/* Counts a row and returns its duration in ns; an end before the start is counted as COUNT_NEGATIVE, and the result is 0. */
int64_t nsys_span(struct nsys_reader *in, int64_t start, int64_t end);
/* Index in k->threads of the thread with this globalTid, for a row that begins at `start`.  NO_HOST: out of memory. */
uint32_t nsys_thread(struct nsys_reader *in, int64_t global, int64_t start);
/* CUPTI's memory kind, which is 1 more than nsys's; 0: unknown. */
uint32_t nsys_memory_kind(const struct sqlite_row *r, int column);

/* nsys_stacks.c: reads a table of call chains into stacks and fills in->chains.  0, or -1 with *k->err set. */
int nsys_chains(struct nsys_reader *in, const char *table, const char *where);
/* Reads CPU samples and their call chains; of_threads: condition that selects the threads of the process.  0 or -1. */
int nsys_samples(struct nsys_reader *in, const char *of_threads);

/* nsys_more.c: reads contexts and streams; call it before rows that refer to them.  0 or -1. */
int nsys_places(struct nsys_reader *in);
/* Reads everything but calls, kernels, copies, memory sets and NVTX.  The arguments are conditions for globalTid and globalPid. */
int nsys_more(struct nsys_reader *in, const char *of_threads, const char *of_process);
/* Counts the rows of tables that are not read. */
void nsys_unread(struct nsys_reader *in);

#endif
