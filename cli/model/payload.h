/* NVTX payloads, decoded: what a program hung on its ranges and marks, by the layouts that it registered. */
#ifndef MODEL_PAYLOAD_H
#define MODEL_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;
struct payload_row;

/* Payloads of the trace; 0 also when there was no memory. */
size_t model_payloads(struct model *m);

/* One of them, by position; they stand in the order of (process, range), those of marks by (process, thread, time) before them. */
struct payload_seen {
	const struct payload_row *row;
	uint32_t process;               /* position in model_processes() */
	const char *schema;             /* its name; "" when it has none or the definition is lost */
};

struct payload_seen model_payload(struct model *m, size_t i);

/* How many a range has, or the mark of this thread and time; the first of them in *first. */
size_t model_range_payloads(struct model *m, uint32_t process, uint64_t range, size_t *first);
size_t model_mark_payloads(struct model *m, uint32_t process, uint32_t thread, int64_t start, size_t *first);

struct payload_shown {
	const char *name;               /* "outer.inner" of a schema in a schema, "#2" of an entry without a name */
	const char *value;
	bool text;                      /* else value is a JSON number or array of them */
};

/* Calls fn for every field that is whole in what was kept; the texts are gone afterwards. */
void model_payload_fields(struct model *m, size_t i, void (*fn)(void *arg, const struct payload_shown *f), void *arg);

/* The same for a row and its tail as they stand in the file, of a process by its position; a zero must follow the tail. */
void model_payload_decode(struct model *m, uint32_t process, const struct payload_row *row, const char *tail,
			  void (*fn)(void *arg, const struct payload_shown *f), void *arg);

#endif
