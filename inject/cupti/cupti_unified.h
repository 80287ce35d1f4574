/* Unified memory: transfers, page faults and the driver's measures against thrashing, from CUPTI's counters. */
#ifndef INJECT_CUPTI_CUPTI_UNIFIED_H
#define INJECT_CUPTI_CUPTI_UNIFIED_H

#include <stdbool.h>
#include <stdint.h>

struct unified_row;

/*
 * Enables the counters that the settings ask for, once.  Called from callbacks, since the driver must be initialised.  last: by now it
 * must be; before, a CUPTI that finds the driver uninitialised is asked again later.  A refusal is reported in health; the rest of CUPTI
 * is not affected.
 */
void cupti_unified_start(bool last);

/* Fills in the fields whose meaning depends on the kind of counter; row->kind is set. */
void cupti_unified_value(struct unified_row *row, const uint8_t *record);

#endif
