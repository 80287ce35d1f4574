/* What a kernel is for, told from its name. */
#ifndef MODEL_KERNEL_CLASS_H
#define MODEL_KERNEL_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

/*
 * Whether it moves data between GPUs, alone or beside other work: the definition of a communication kernel in
 * docs/numbers.md.  HTA's own rule, for the reports that imitate it, is hta_class_of().
 */
bool kernel_name_communicates(const char *demangled);

/* The same for the string id of a mangled name; not during a pass. */
bool model_kernel_communicates(struct model *m, uint32_t name);

/* Moves *name to "ns::foo" of "void ns::foo<int>(float*)"; its length. */
size_t kernel_own_name(const char **name);

#endif
