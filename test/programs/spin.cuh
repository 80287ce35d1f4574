/*
 * What the CUDA test programs share.  A kernel whose name begins with `spin` keeps its stream busy for as many
 * nanoseconds as its first argument says: on a GPU by clock64(), on the simulated one by that convention.
 */
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                              \
	do {                                                                                                     \
		cudaError_t error_ = (call);                                                                     \
		if (error_ != cudaSuccess) {                                                                     \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
			exit(1);                                                                                 \
		}                                                                                                \
	} while (0)

typedef unsigned long long nanoseconds;

/* Two clocks a nanosecond: about right on today's GPUs (1.4 to 2.6 GHz), and a program needs no more. */
__device__ static inline void spin_for(nanoseconds ns)
{
	long long start = clock64();

	while (clock64() - start < (long long)ns * 2)
		;
}
