/* The stack at hand, walked by us and by libgcc; shared by the tests of inject/unwind*.c. */
#ifndef TEST_UNIT_INJECT_WALKED_H
#define TEST_UNIT_INJECT_WALKED_H

#include "inject/unwind.h"
#include "trace/records.h"

#if defined(__clang__)
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noinline, noclone))
#endif
#define STOP __asm__ volatile("" ::: "memory")  /* behind a call: it is not a jump then */

/* What look() found last, and with which method it is to look. */
extern struct unwind_walk walked;
extern uint32_t n_said;                 /* frames that libgcc found */
extern enum unwind_method method;

/* Gets ready.  False: there is nobody to agree with, and the test is skipped. */
bool walked_begin(void);

void look(void);

/* All frames above look() are the same. */
bool walked_agree(const char *file, int line);
#define AGREE() walked_agree(__FILE__, __LINE__)

/* A few calls deep, frames with room of changing size. */
int with_room(int n);

/* libc calls back. */
void through_libc(void);

int recursion(int n);

#endif
