/* Walks the current stack with inject/unwind/unwind*.c and with libgcc's backtrace(), and compares both. */
#ifndef TEST_UNIT_INJECT_WALKED_H
#define TEST_UNIT_INJECT_WALKED_H

#include "inject/unwind/unwind.h"
#include "trace/records.h"

#if defined(__clang__)
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noinline, noclone))
#endif
#define STOP __asm__ volatile("" ::: "memory")  /* after a call: prevents a tail call */

/* Result of the last look(), and the method that look() uses. */
extern struct unwind_walk walked;
extern uint32_t n_said;                 /* frames that libgcc found */
extern enum unwind_method method;

/* Initializes.  False: the test is skipped, because libgcc_s is missing or AddressSanitizer replaces backtrace(). */
bool walked_begin(void);

void look(void);

/* Checks that both walks of look() found the same frames above it. */
bool walked_agree(const char *file, int line);
#define AGREE() walked_agree(__FILE__, __LINE__)

/* Calls look() from a few nested calls whose frames have variable size (alloca). */
int with_room(int n);

/* Calls look() from a callback of a libc function. */
void through_libc(void);

int recursion(int n);

#endif
