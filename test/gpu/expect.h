/* What the GPU programs share: errors end them loudly, and each prints what a trace of it must hold ("expect ..." lines). */
#ifndef TEST_GPU_EXPECT_H
#define TEST_GPU_EXPECT_H

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define OK(call)                                                                                        \
	do {                                                                                            \
		cudaError_t rc_ = (call);                                                               \
		if (rc_ != cudaSuccess) {                                                               \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(rc_)); \
			exit(3);                                                                        \
		}                                                                                       \
	} while (0)

#endif
