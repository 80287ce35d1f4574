/* The segments of a critical path, each with its kind, its thread or stream, and its name. */
#ifndef CLI_REPORT_STEPS_PATH_PIECES_H
#define CLI_REPORT_STEPS_PATH_PIECES_H

#include "cli/model/path/path_rows.h"
#include "cli/report/steps/path_span.h"

struct table;

/* Definitions: "The critical path" in docs/reference/numbers.md. */
enum piece_kind {
	PIECE_HOST,                     /* host time of a process whose phases are not known */
	PIECE_DATA, PIECE_FORWARD, PIECE_BACKWARD, PIECE_OPTIMIZER, PIECE_ZERO_GRAD, PIECE_OTHER,
	PIECE_CALLS, PIECE_WORKER, PIECE_WAIT_DATA, PIECE_WAIT_COMM,
	PIECE_LAUNCH, PIECE_STREAM,
	PIECE_COMPUTE, PIECE_COMM, PIECE_COPY, PIECE_SET, PIECE_GRAPH,
	PIECE_KINDS
};

extern const char *const piece_words[PIECE_KINDS];

struct piece {
	int64_t start, end;
	enum piece_kind kind;
	bool gpu;
	uint32_t on;                    /* gpu: position in rows.streams; else in rows.threads */
	uint32_t name;                  /* string id of kernel, call or range; STRING_NONE: nothing was recorded at that time */
};

struct pieces {
	struct path_rows rows;
	struct piece *list;             /* by time, without gaps or overlap from the start to the end of the span */
	size_t n;
};

/* The critical path of a span.  Returns 0, or -1 when out of memory; pieces_release() in any case. */
int pieces_make(struct pieces *p, struct model *m, const struct path_span *span);
void pieces_release(struct pieces *p);

#endif
