/* Unified memory: transfers, page faults and what the driver does against thrashing, as CUPTI counts them. */
#ifndef INJECT_CUPTI_UNIFIED_H
#define INJECT_CUPTI_UNIFIED_H

#include <stdbool.h>
#include <stdint.h>

struct unified_row;

/*
 * Switches on what was asked for, once.  From callbacks: the driver must have been initialised.  `last`: it must be by now; until then a
 * CUPTI that finds that it is not is asked again.  A refusal is named in health, and the rest of CUPTI goes on.
 */
void cupti_unified_start(bool last);

/* The fields of a row, its kind known, that mean something else in each kind of record. */
void cupti_unified_value(struct unified_row *row, const uint8_t *record);

#endif
