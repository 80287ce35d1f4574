/* Small traces by hand, and what the reports print about them. */
#ifndef TEST_MAKE_TRACE_H
#define TEST_MAKE_TRACE_H

#include "cli/model/model.h"
#include "cli/table.h"
#include "trace/file.h"
#include "trace/wire.h"

#define T0 1700000000000000000ll        /* when the session of these traces started */

struct making {
	char path[64];
	struct writer *writer;
};

/* A new file in /tmp.  unmake() removes it. */
void make_begin(struct making *k);
void make_end(struct making *k);        /* with index and footer */
void make_abandon(struct making *k);    /* without: as if still being written */
void unmake(struct making *k);

/* One chunk of rows of a process. */
#define ROWS(k, process, rec, ...) do {                                                         \
	const struct rec##_row rows_[] = { __VA_ARGS__ };                                       \
	make_rows((k), (process), ROW_##rec, rows_, sizeof rows_ / sizeof *rows_);              \
} while (0)
void make_rows(struct making *k, uint32_t process, unsigned kind, const void *rows, size_t n);

/* One row with n bytes behind it. */
void make_row(struct making *k, uint32_t process, unsigned kind, const void *row, const void *tail, size_t n);

/* Rows with a text behind them, one chunk each. */
void make_string(struct making *k, uint32_t process, uint32_t id, const char *text);
void make_thread(struct making *k, uint32_t process, uint32_t id, uint32_t tid, const char *name);
void make_attribute(struct making *k, uint32_t process, const char *text);
void make_health(struct making *k, uint32_t process, uint32_t reason, uint64_t count, const char *detail);

/*
 * The trace of most tests: two processes with CUDA (pids 100 and 200), ranges, calls, kernels, copies, a set.  Its
 * numbers are written out in the expectations beside it.
 */
void make_two_processes(struct making *k);

/* What a report prints; free() it.  sort may be NULL. */
char *report_text(struct model *m, const char *name, enum table_format format, const char *sort, uint64_t limit);

#endif
