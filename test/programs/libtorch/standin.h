/* A stand-in for libtorch_cpu (libtorch_cpu.c), and what a test program asks of it. */
#ifndef TEST_PROGRAMS_TORCH_STANDIN_H
#define TEST_PROGRAMS_TORCH_STANDIN_H

#include <stdbool.h>
#include <stdint.h>

#define STANDIN_RECORD 0x158

/* A record, begun; scope as PyTorch numbers them. */
void *standin_begin(int scope, const char *name, int64_t sequence, uint64_t forward_thread, bool async);
void standin_end(void *record);

/* at::clearCallbacks(); how many are registered. */
void standin_clear(void);
int standin_observers(void);

#endif
