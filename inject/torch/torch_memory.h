/*
 * --torch-memory: allocations and frees of PyTorch's CUDA caching allocator.  The allocator calls c10::reportMemoryUsageToProfiler()
 * through its procedure linkage table; the entry there is replaced by a function that records each call and passes it on.  Without the
 * option nothing is changed.
 */
#ifndef INJECT_TORCH_TORCH_MEMORY_H
#define INJECT_TORCH_TORCH_MEMORY_H

/* Hooks the allocator once libc10_cuda is loaded; idempotent.  Takes the loader's lock. */
void torch_memory_look(void);

#endif
