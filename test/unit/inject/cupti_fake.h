/* A fake libcupti: tests fill its activity buffers, and GetNextRecord walks them by the sizes that the tests gave. */
#ifndef TEST_UNIT_INJECT_CUPTI_FAKE_H
#define TEST_UNIT_INJECT_CUPTI_FAKE_H

#include "inject/cupti/cupti.h"
#include "test/unit/inject/fake.h"

/* Value of cuptiGetVersion(), and the sizes of its records in bytes. */
struct cupti_version {
	uint32_t version, kernel, memcpy, memcpy2, memset, sync, overhead;
};

extern const struct cupti_version cupti_versions[];
extern const size_t n_cupti_versions;
#define EACH_VERSION(v) for (const struct cupti_version *v = cupti_versions; v < cupti_versions + n_cupti_versions; v++)

/* Makes a connected guest that records since 1000 ns, with this version of CUPTI started. */
void cupti_fake(uint32_t version);

/* Appends a zeroed record of this size with its kind set; returns it. */
uint8_t *cupti_fake_record(uint32_t kind, uint32_t size);

/* Appends n valid bytes that are no record; GetNextRecord returns INVALID_KIND there, as in CUPTI 13.0. */
void cupti_fake_tail(uint32_t n, int byte);

/* Delivers the buffer as CUPTI does, and begins an empty one. */
void cupti_fake_deliver(void);

/* Returns the reason's count. */
uint64_t health(enum health_reason reason);

void put64(uint8_t *record, unsigned offset, uint64_t value);
void put32(uint8_t *record, unsigned offset, uint32_t value);
void put16(uint8_t *record, unsigned offset, uint16_t value);

/* Behaviour of the fake library, and counts of calls. */
extern struct cupti_fake_state {
	uint32_t stand_still;           /* GetNextRecord always returns the first record */
	size_t dropped;
	uint32_t flushes, forced;       /* number of calls, of forced ones */
	uint32_t hang;                  /* not 0: a flush waits until it is 0 */
	uint32_t names_asked;
} cupti_fake_state;

#endif
