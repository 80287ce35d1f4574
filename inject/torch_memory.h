/*
 * --torch-memory: what PyTorch's caching allocator of CUDA gives out and takes back.  It tells c10::reportMemoryUsageToProfiler(), which it calls through
 * its procedure linkage table; the address there is replaced by ours, which passes each call on.  Without the option nothing is touched.
 */
#ifndef INJECT_TORCH_MEMORY_H
#define INJECT_TORCH_MEMORY_H

/* Looks for libc10_cuda among the objects that are there; idempotent. */
void torch_memory_look(void);

#endif
