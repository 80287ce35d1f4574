/*
 * NVTX payloads: the program registers layouts (schemas and enumerations, per domain) and hangs bytes on ranges and
 * marks.  Layouts become definition rows, bytes are copied as they are; what they mean is told when the trace is read.
 */
#ifndef INJECT_NVTX_PAYLOAD_H
#define INJECT_NVTX_PAYLOAD_H

#include "inject/nvtx_abi.h"
#include "inject/stream.h"

enum payload_place { PAYLOAD_BEGIN = 1, PAYLOAD_END, PAYLOAD_MARK };

/* Id of a schema or enumeration in a domain (handle): the program's own, or a new one; 0 when it makes no sense. */
uint64_t payload_schema(struct stream *s, const void *domain, const struct nvtx_schema *schema);
uint64_t payload_enum(struct stream *s, const void *domain, const struct nvtx_enum *e);

/*
 * What an event without a message is called: the message in the first payload that has one, else its schema's name.
 * 0: neither.
 */
uint32_t payload_name(struct stream *s, const void *domain, const struct nvtx_payload *data, size_t n);

/* One row for each of n payloads of a range (id), or of the mark that was made at `when` (range 0). */
void payload_rows(struct stream *s, const void *domain, enum payload_place place, uint64_t range, int64_t when,
		  const struct nvtx_payload *data, size_t n);

#endif
