/*
 * Shared by the CUDA test programs.  A kernel whose name begins with `spin` runs for as many ns as its first argument says: on a GPU it
 * reads clock64(), the simulated GPU knows the name and the argument.
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

/* Assumes 2 GHz; current GPUs have 1.4 to 2.6 GHz, which is precise enough. */
__device__ static inline void spin_for(nanoseconds ns)
{
	long long start = clock64();

	while (clock64() - start < (long long)ns * 2)
		;
}
