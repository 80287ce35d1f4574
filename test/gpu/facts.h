/* facts.c asks, facts_records.c keeps what came: records by kind, and launches against the kernels that they started. */
#ifndef TEST_GPU_FACTS_H
#define TEST_GPU_FACTS_H

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What facts.cu calls, when this object is preloaded. */
void facts_clock(const char *when);
void facts_flush(int forced, const char *when);
void facts_toggle(void);

void records_bind(CUptiResult (*next)(uint8_t *, size_t, CUpti_Activity **));
void records_request(uint8_t **buffer, size_t *size, size_t *max);
void records_completed(CUcontext ctx, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
uint64_t records_total(void);
uint64_t records_unfinished(void);

/* A callback of a launch.  Called in the program's threads. */
void calls_saw(bool runtime, CUpti_CallbackId cbid, const CUpti_CallbackData *d);

/* Sizes and numbers of records by kind, threads, correlation, kernels against launches, synchronisation by type. */
void records_report(void);

#endif
