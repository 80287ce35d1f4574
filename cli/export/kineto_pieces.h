/* What kineto.c writes with: each puts one part of an event.  Repeated texts are made once and then copied. */
#ifndef EXPORT_KINETO_PIECES_H
#define EXPORT_KINETO_PIECES_H

#include "cli/export/kineto.h"

/* START, "dur": DURATION */
void kineto_span(struct export *x, int64_t start, int64_t duration);

/* A text as a JSON string; the name of a kernel or call as printed. */
void kineto_name(struct export *x, enum piece_class class, uint32_t id);

/* A text that is a JSON list, as it is; another one as a string. */
void kineto_list(struct export *x, uint32_t id);

/* , "pid": 0, "tid": 7, "ts": */
void kineto_track(struct export *x, uint32_t track);

/* a / b with six decimals, as Kineto prints floats to about that. */
void kineto_ratio(struct out *o, unsigned __int128 a, uint64_t b);

/* Grid, block, registers and what follows from them. */
void kineto_config(struct export *x, const struct track *t, uint32_t config);

/* "Memcpy HtoD (Pageable -> Device)"; kind 0: "Memset (Device)". */
void kineto_copy_name(struct export *x, unsigned kind, unsigned from, unsigned to);

void kineto_pieces_release(struct kineto *k);

#endif
