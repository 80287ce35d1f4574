/* A libcupti of our own: buffers are filled by hand, and the library walks them by the sizes that were given. */
#ifndef TEST_UNIT_INJECT_CUPTI_FAKE_H
#define TEST_UNIT_INJECT_CUPTI_FAKE_H

#include "inject/cupti.h"
#include "test/unit/inject/fake.h"

/* cuptiGetVersion() and sizes of kernel, memcpy, memcpy2, memset, synchronization, overhead records. */
struct cupti_version {
	uint32_t version, kernel, memcpy, memcpy2, memset, sync, overhead;
};

extern const struct cupti_version cupti_versions[];
extern const size_t n_cupti_versions;
#define EACH_VERSION(v) for (const struct cupti_version *v = cupti_versions; v < cupti_versions + n_cupti_versions; v++)

/* A connected guest, recording since 1000 ns, with this version of CUPTI up. */
void cupti_fake(uint32_t version);

/* A zeroed record of that size behind those before it, its kind filled in. */
uint8_t *cupti_fake_record(uint32_t kind, uint32_t size);

/* Delivers the records put so far, as CUPTI would, and starts anew. */
void cupti_fake_deliver(void);

/* How often this was counted. */
uint64_t health(enum health_reason reason);

void put64(uint8_t *record, unsigned offset, uint64_t value);
void put32(uint8_t *record, unsigned offset, uint32_t value);
void put16(uint8_t *record, unsigned offset, uint16_t value);

/* What the library answers. */
extern struct cupti_fake_state {
	uint32_t end_result;            /* of GetNextRecord behind the last record */
	uint32_t stand_still;           /* GetNextRecord gives the first record again and again */
	size_t dropped;
	uint32_t flushes, forced;       /* calls */
	uint32_t hang;                  /* flushes wait until it is 0 again */
	uint32_t names_asked;
} cupti_fake_state;

#endif
