/* What payload.c finds and payload_value.c decodes. */
#ifndef MODEL_PAYLOAD_INSIDE_H
#define MODEL_PAYLOAD_INSIDE_H

#include "cli/model/payload.h"
#include "trace/records.h"

/* String ids in rows are the model's.  order: position in the file, the later one counts. */
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
	const char *data;               /* the tail, and a zero behind it */
	uint32_t process, order;
};

struct payloads {
	struct schema_def *schemas;
	struct entry_def *entries;
	struct payload_one *all;
	size_t n_schemas, n_entries, n;
};

/* NULL: out of memory. */
const struct payloads *payloads_of(struct model *m);

/* The schema or enumeration of an id; NULL: it is not in the trace.  Its entries, by position: n that are there without a gap. */
const struct schema_def *payload_schema_of(const struct payloads *p, uint32_t process, uint32_t domain, uint64_t id);
const struct entry_def *payload_entries_of(const struct payloads *p, const struct schema_def *s, size_t *n);

#endif
