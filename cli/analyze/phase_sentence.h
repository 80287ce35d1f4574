/* Phases of the median step in a sentence. */
#ifndef ANALYZE_PHASE_SENTENCE_H
#define ANALYZE_PHASE_SENTENCE_H

#include "cli/analyze/phase_times.h"

#include <stdint.h>

struct model;
struct step;
struct steps;

struct phase_rows {
	struct model *m;
	const struct steps *s;
	const struct phases *phases;    /* by process */
	const struct phase_times *times;        /* by step */
};

/* Whether a step is selected, was kept, and its process told of phases. */
bool phase_listed(const struct phase_rows *r, const struct step *step);

/* What nothing announced is not known; all of it together is in other. */
bool phase_known(const struct phases *p, enum phase phase);

#define PHASE_SENTENCE 512u     /* room for one */

/*
 * "median of 20 steps (#5), 212 ms: data 31, forward 60, ...; communication ...; GPU idle 35 %, most of it during data" of a
 * process; several: it begins with which.  Empty where it has no complete steps.  0, or -1: out of memory.
 */
int phase_sentence(const struct phase_rows *r, uint32_t process, size_t kind, bool several, char *text, size_t size);

/* That of the process with most steps, for a page that is printed after every run; "": none, or it would take long.  0, or -1: out of memory. */
int phase_line(struct model *m, char *text, size_t size);

#endif
