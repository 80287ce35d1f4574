/* What a kernel is for, told from its name. */
#ifndef MODEL_KERNEL_CLASS_H
#define MODEL_KERNEL_CLASS_H

#include <stdbool.h>
#include <stdint.h>

struct model;

/*
 * Whether it moves data between GPUs: NCCL's and its relatives', by the rule of Holistic Trace Analysis
 * (hta/common/types.py), so that the numbers are the same: (^nccl.*)|(^hip)|(^hccl)|(.*ncclKernel.*) on the demangled
 * name.  NVSHMEM's and hand-written ones are not known by their names, and count as computation.
 */
bool kernel_name_communicates(const char *demangled);

/* The same for the string id of a mangled name; not during a pass. */
bool model_kernel_communicates(struct model *m, uint32_t name);

#endif
