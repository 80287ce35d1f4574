/* Processes of which nothing was recorded: mostly shells and launchers that start the program of interest. */
#ifndef CLI_REPORT_SESSION_WRAPPERS_H
#define CLI_REPORT_SESSION_WRAPPERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

/*
 * Whether a process used no CUDA, has no rows of what the program did and dropped none, in all its images.  It may have connected.
 * position: of its first image.
 */
bool process_recorded_nothing(struct model *m, uint32_t position);

/* Counts names; names with equal first 63 bytes are one.  { 0 } is empty. */
struct tally {
	struct tally_name *names;
	size_t n, cap;
};

/* Counts a name.  Returns 0, or -1 when out of memory. */
int tally_add(struct tally *t, const char *name);
/* The four most frequent names: "76 sh, 2 git", then ", ..." for further ones; "": none.  Cut at size bytes.  Sorts the names. */
void tally_text(struct tally *t, char *text, size_t size);
void tally_release(struct tally *t);

/*
 * "78 processes that recorded nothing: 76 sh, 2 git" of the selected processes; "": fewer than two.  Returns 0, or -1 when out of memory.
 */
int wrappers_text(struct model *m, char *text, size_t size);

#endif
