/* Segments of a critical path as people read them: what kind of time each is, and whose. */
#ifndef ANALYZE_PATH_PIECES_H
#define ANALYZE_PATH_PIECES_H

#include "cli/analyze/path_span.h"
#include "cli/model/path_rows.h"

struct table;

/* The definitions are in docs/numbers.md. */
enum piece_kind {
	PIECE_HOST,                     /* of a process whose phases are not known */
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
	uint32_t on;                    /* place of its thread, or of its queue */
	uint32_t name;                  /* string id; STRING_NONE: nothing was recorded there */
};

struct pieces {
	struct path_rows rows;
	struct piece *list;             /* in order of time; they tile the span */
	size_t n;
};

/* pieces_release() in any case.  0, or -1: out of memory. */
int pieces_make(struct pieces *p, struct model *m, const struct path_span *span);
void pieces_release(struct pieces *p);

#endif
