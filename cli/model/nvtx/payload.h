/* Decodes NVTX payloads of ranges and marks with the schemas that the program registered. */
#ifndef CLI_MODEL_NVTX_PAYLOAD_H
#define CLI_MODEL_NVTX_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;
struct payload_row;

/* Number of payloads in the trace; 0 also if out of memory. */
size_t model_payloads(struct model *m);

/* A payload.  They are sorted: those of marks by (process, thread, time), then those of ranges by (process, range). */
struct payload_seen {
	const struct payload_row *row;
	uint32_t process;               /* position in model_processes() */
	const char *schema;             /* name of its schema; "" if it has none or the definition is missing */
};

/* Payload i, below model_payloads(). */
struct payload_seen model_payload(struct model *m, size_t i);

/* Number of payloads of a range, or of the mark with this thread and time; *first: position of the first one. */
size_t model_range_payloads(struct model *m, uint32_t process, uint64_t range, size_t *first);
size_t model_mark_payloads(struct model *m, uint32_t process, uint32_t thread, int64_t start, size_t *first);

struct payload_shown {
	const char *name;               /* "outer.inner" in a nested schema, "#2" for an entry without a name */
	const char *value;
	bool text;                      /* false: value is a JSON number, or an array of numbers */
};

/* Calls fn for every field that lies completely in the kept bytes.  Texts are valid only during the call. */
void model_payload_fields(struct model *m, size_t i, void (*fn)(void *arg, const struct payload_shown *f), void *arg);

/* model_payload_fields() of a row of the file and its tail, which a zero must follow.  process: position in model_processes(). */
void model_payload_decode(struct model *m, uint32_t process, const struct payload_row *row, const char *tail,
			  void (*fn)(void *arg, const struct payload_shown *f), void *arg);

/*
 * Copies the bytes of numbers from a tail of row->bytes bytes to the same offsets in out, of the same size.  All other bytes of out (texts,
 * unknown bytes) become 0.
 */
void model_payload_numbers(struct model *m, uint32_t process, const struct payload_row *row, const char *tail, uint8_t *out);

#endif
