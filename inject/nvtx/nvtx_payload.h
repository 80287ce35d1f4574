/*
 * NVTX payloads.  The program registers layouts (schemas and enumerations, per domain) and attaches data to ranges and marks.  Layouts
 * become definition rows; the data is copied undecoded, and decoded when the trace is read.  Called with the calling thread's stream,
 * entered.
 */
#ifndef INJECT_NVTX_NVTX_PAYLOAD_H
#define INJECT_NVTX_NVTX_PAYLOAD_H

#include "inject/core/stream.h"
#include "inject/nvtx/nvtx_abi.h"

enum payload_place { PAYLOAD_BEGIN = 1, PAYLOAD_END, PAYLOAD_MARK };

/*
 * Register a schema or an enumeration of a domain (handle).  Return its id: the program's own, or a new one; 0 when it has no entries or
 * there is no room for a new id.
 */
uint64_t payload_schema(struct stream *s, const void *domain, const struct nvtx_schema *schema);
uint64_t payload_enum(struct stream *s, const void *domain, const struct nvtx_enum *e);

/*
 * Returns the string id of the name for an event without a message: the message entry of the first payload that has one, else the name of
 * the first named schema.  0: neither.
 */
uint32_t payload_name(struct stream *s, const void *domain, const struct nvtx_payload *data, size_t n);

/*
 * Writes one row for each of the n payloads of a range (its id), or of a mark at time `when` (range 0).  `when`: ns, clock_now().  Payloads
 * beyond the 16th are dropped and counted.
 */
void payload_rows(struct stream *s, const void *domain, enum payload_place place, uint64_t range, int64_t when,
		  const struct nvtx_payload *data, size_t n);

#endif
