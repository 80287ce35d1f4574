/* Ids of this thread and process, without a system call where possible: a seccomp filter may forbid any. */
#ifndef INJECT_CORE_SELF_H
#define INJECT_CORE_SELF_H

#include <stdint.h>

/* Call at load: finds out whether this libc tells the thread id. */
void self_init(void);

/* Returns the calling thread's id; in a child of fork() also the process's.  Asks the kernel only if libc does not tell. */
uint32_t self_id(void);

/* Returns the kernel's answer, right also in a child of clone() that libc does not know of; libc's if the kernel answers with an error. */
uint32_t self_ask(void);

/* Returns the parent's process id; 0 when the kernel answers with an error. */
uint32_t self_parent(void);

#endif
