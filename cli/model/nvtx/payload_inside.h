#ifndef CLI_MODEL_NVTX_PAYLOAD_INSIDE_H
#define CLI_MODEL_NVTX_PAYLOAD_INSIDE_H

#include "cli/model/nvtx/payload.h"
#include "trace/records.h"

/* String ids in rows are the model's.  order: position in the file; of equal ids the last one is used. */
struct schema_def {
	struct schema_row row;
	uint32_t process, order;
};

struct entry_def {
	struct schema_entry_row row;
	uint32_t process, order;
};

struct payload_one {
	struct payload_row row;
	const char *data;               /* the tail, zero-terminated */
	uint32_t process, order;
};

struct payloads {
	struct schema_def *schemas;
	struct entry_def *entries;
	struct payload_one *all;
	size_t n_schemas, n_entries, n;
};

/* Schemas, entries and payloads of the trace, made on the first call.  NULL: out of memory. */
const struct payloads *payloads_of(struct model *m);

/* The schema or enumeration with an id; NULL: not in the trace.  Its entries by position; *n: number up to the first missing one. */
const struct schema_def *payload_schema_of(const struct payloads *p, uint32_t process, uint32_t domain, uint64_t id);
const struct entry_def *payload_entries_of(const struct payloads *p, const struct schema_def *s, size_t *n);

#endif
