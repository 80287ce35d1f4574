/* Makes small traces, and returns what reports print about them. */
#ifndef TEST_MAKE_TRACE_H
#define TEST_MAKE_TRACE_H

#include "cli/model/model.h"
#include "cli/ui/table.h"
#include "trace/file.h"
#include "trace/wire.h"

#define T0 1700000000000000000ll        /* start of the session in these traces, ns since 1970 */

struct making {
	char path[64];
	struct writer *writer;
};

/* Begins a trace in a new file in /tmp.  unmake() removes the file. */
void make_begin(struct making *k);
void make_end(struct making *k);        /* writes index and footer */
void make_abandon(struct making *k);    /* writes neither: the trace looks as if it was still being written */
void unmake(struct making *k);

/* Ends the trace and opens its model.  unmake_model() frees the model and removes the trace. */
struct model *make_model(struct making *k);
void unmake_model(struct making *k, struct model *m);

/* Adds a chunk of rows of one process. */
#define ROWS(k, process, rec, ...) do {                                                         \
	const struct rec##_row rows_[] = { __VA_ARGS__ };                                       \
	make_rows((k), (process), ROW_##rec, rows_, sizeof rows_ / sizeof *rows_);              \
} while (0)
void make_rows(struct making *k, uint32_t process, unsigned kind, const void *rows, size_t n);

/* Adds a row with a tail of n bytes. */
void make_row(struct making *k, uint32_t process, unsigned kind, const void *row, const void *tail, size_t n);

/* Add a row with a text as its tail; one chunk each. */
void make_string(struct making *k, uint32_t process, uint32_t id, const char *text);
void make_thread(struct making *k, uint32_t process, uint32_t id, uint32_t tid, const char *name);
void make_attribute(struct making *k, uint32_t process, const char *text);
void make_health(struct making *k, uint32_t process, uint32_t reason, uint64_t count, const char *detail);

/*
 * Adds the content that most tests use: two processes with CUDA (pids 100 and 200), ranges, calls, kernels, copies, a set.  The tests
 * state the expected numbers.
 */
void make_two_processes(struct making *k);

/* Returns the text that a report prints; the caller frees it.  sort may be NULL. */
char *report_text(struct model *m, const char *name, enum table_format format, const char *sort, uint64_t limit);

#endif
