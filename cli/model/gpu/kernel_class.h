/* Classifies kernels by name. */
#ifndef CLI_MODEL_GPU_KERNEL_CLASS_H
#define CLI_MODEL_GPU_KERNEL_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

/*
 * Whether a kernel moves data between GPUs, alone or together with other work: the definition of a communication kernel in
 * docs/reference/numbers.md.  The hta_* reports use HTA's rule instead, hta_class_of().
 */
bool kernel_name_communicates(const char *demangled);

/* kernel_name_communicates() of the string id of a mangled name; not during a pass. */
bool model_kernel_communicates(struct model *m, uint32_t name);

/* Moves *name to the "ns::foo" of "void ns::foo<int>(float*)" and returns its length. */
size_t kernel_own_name(const char **name);

#endif
