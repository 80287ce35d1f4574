/* Functions of the stand-in libtorch_cpu.c for test programs. */
#ifndef TEST_PROGRAMS_TORCH_STANDIN_H
#define TEST_PROGRAMS_TORCH_STANDIN_H

#include <stdbool.h>
#include <stdint.h>

#define STANDIN_RECORD 0x158

/* Begins a record; scope: at::RecordScope. */
void *standin_begin(int scope, const char *name, int64_t sequence, uint64_t forward_thread, bool async);
void standin_end(void *record);

/* Calls at::clearCallbacks(); returns the number of registered callbacks. */
void standin_clear(void);
int standin_observers(void);

#endif
