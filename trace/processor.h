/*
 * Features of the processor.  __builtin_cpu_supports() is not used: its constructor executes about ten CPUID instructions at program
 * start, and in a virtual machine each costs a trap of 5 to 10 us.  glibc has the answers already.
 */
#ifndef TRACE_PROCESSOR_H
#define TRACE_PROCESSOR_H

#include <stdbool.h>
#include <features.h>

#ifdef __x86_64__
#if defined __GLIBC_PREREQ && __GLIBC_PREREQ(2, 33)
#include <sys/platform/x86.h>

static inline bool processor_multiplies_polynomials(void)
{
	return CPU_FEATURE_ACTIVE(PCLMULQDQ);
}

static inline bool processor_has_avx2(void)
{
	return CPU_FEATURE_ACTIVE(AVX2);
}
#else
#include <cpuid.h>

static inline bool processor_multiplies_polynomials(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_PCLMUL;
}

/* AVX2, and the kernel saves the upper halves of the registers too (bits 1 and 2 of XCR0). */
static inline bool processor_has_avx2(void)
{
	unsigned a, b, c, d, kept, high;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return false;
	__asm__("xgetbv" : "=a" (kept), "=d" (high) : "c" (0));
	return (kept & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_AVX2;
}
#endif
#endif

#endif
