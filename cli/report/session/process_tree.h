/* The processes of a session as lines of a tree: a parent before its children, children in the order of their starts. */
#ifndef CLI_REPORT_SESSION_PROCESS_TREE_H
#define CLI_REPORT_SESSION_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>

struct model;

struct tree_line {
	uint32_t depth;                 /* 0: its parent is not in the trace, or not selected */
	uint32_t n;                     /* number of processes in the line; more than 1: processes that recorded nothing */
	uint32_t first;                 /* position in members of the first process */
};

/* Each selected process is in exactly one line. */
struct process_tree {
	struct tree_line *lines;
	uint32_t *members;              /* positions in model_processes() of first images */
	uint32_t n_lines;
};

/*
 * fold: processes that recorded nothing, nor did their descendants, share one line per parent; the first process always has its own line.
 * Returns 0, or -1 when out of memory; process_tree_release() in any case.
 */
int process_tree_make(struct process_tree *t, struct model *m, bool fold);
void process_tree_release(struct process_tree *t);

#endif
