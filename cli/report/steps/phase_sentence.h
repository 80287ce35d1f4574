/* The phases of the median step as a sentence. */
#ifndef CLI_REPORT_STEPS_PHASE_SENTENCE_H
#define CLI_REPORT_STEPS_PHASE_SENTENCE_H

#include "cli/report/steps/phase_times.h"

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

/* Whether a step is selected, its rows were recorded, and its process has phases. */
bool phase_listed(const struct phase_rows *r, const struct step *step);

/* Whether PyTorch's events show the phase.  The time of a phase that is not known is part of `other`. */
bool phase_known(const struct phases *p, enum phase phase);

#define PHASE_SENTENCE 512u     /* bytes of the longest sentence */

/*
 * "median step (#5 of 20 steps), 212 ms: data 31 ms, forward 60 ms, ...; communication ...; GPU idle 35 % of the step, most of it during
 * data" of one process and kind; several: with "process 3: " before it.  "": no complete step, or no phase known.  Returns 0, or -1 when
 * out of memory.
 */
int phase_sentence(const struct phase_rows *r, uint32_t process, size_t kind, bool several, char *text, size_t size);

extern const char *const phase_word[PHASES];

struct step_view;

/* The page's lines about the median step; "": not known, or not worth a line. */
struct phase_words {
	char phases[320];               /* "median step #5, 212 ms: data 31, forward 60, ..." */
	char comm[200];                 /* "15.6 ms (7 % of the median step); exposed (no compute runs): 13.2 ms, 84 % of comm" */
	char idle[160];                 /* "35 % of the median step, most of it during data" */
};

/* Returns 0, or -1 when out of memory. */
int phase_line(const struct step_view *v, struct phase_words *w);

#endif
