/* Writers of parts of Kineto events.  Repeated texts are formatted once and then copied. */
#ifndef CLI_EXPORT_KINETO_KINETO_PIECES_H
#define CLI_EXPORT_KINETO_KINETO_PIECES_H

#include "cli/export/kineto/kineto.h"

/* Writes: START, "dur": DURATION */
void kineto_span(struct export *x, int64_t start, int64_t duration);

/* Writes a text as a JSON string; names of kernels and calls in their printed form. */
void kineto_name(struct export *x, enum piece_class class, uint32_t id);

/* Writes a text that is a JSON list unchanged, any other text as a JSON string. */
void kineto_list(struct export *x, uint32_t id);

/* Writes: , "pid": 0, "tid": 7, "ts": */
void kineto_track(struct export *x, uint32_t track);

/* Writes a / b with six decimals, about the precision of floats in Kineto's files. */
void kineto_ratio(struct out *o, unsigned __int128 a, uint64_t b);

/* Writes grid, block, registers and values derived from them. */
void kineto_config(struct export *x, const struct track *t, uint32_t config);

/* Writes "Memcpy HtoD (Pageable -> Device)"; for kind 0 "Memset (Device)". */
void kineto_copy_name(struct export *x, unsigned kind, unsigned from, unsigned to);

void kineto_pieces_release(struct kineto_writer *k);

#endif
