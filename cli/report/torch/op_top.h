/* PyTorch's operators by self host time, and the program's record_function() scopes by host time; for the page. */
#ifndef CLI_REPORT_TORCH_OP_TOP_H
#define CLI_REPORT_TORCH_OP_TOP_H

#include "cli/report/parts/stats.h"

struct model;

struct op_top {
	struct groups self;             /* host time (ns) without the ranges directly inside; self_host_ns of the report ops */
	struct groups scopes;           /* host time (ns) of record_function() scopes, without those that PyTorch itself pushes */
};

/* Fills *t with sorted groups; keys are string ids of names.  Returns 0, or -1 when out of memory; op_top_release() in any case. */
int op_top(struct model *m, struct op_top *t);
void op_top_release(struct op_top *t);

#endif
