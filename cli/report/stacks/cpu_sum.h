/* CPU samples by function, for the report cpu_sum and the page. */
#ifndef CLI_REPORT_STACKS_CPU_SUM_H
#define CLI_REPORT_STACKS_CPU_SUM_H

#include <stddef.h>
#include <stdint.h>

struct model;

struct cpu_function {
	uint32_t function;              /* position in model_stacks()->functions */
	uint64_t self, total;           /* samples in the function; in it or in a function that it called */
	uint32_t seen;                  /* 1 + the last stack counted in total, so that recursion counts once */
};

struct cpu_functions {
	struct cpu_function *list;      /* sorted by self, then by total, descending */
	size_t n;                       /* number of functions with a sample */
	uint64_t samples, without;      /* number of all samples; of samples without a stack */
};

/* Fills *out; the caller frees out->list, also after an error.  Returns 0, or -1 when out of memory. */
int cpu_functions(struct model *m, struct cpu_functions *out);

#endif
