/*
 * The collector's copy of an arena that is not shared: frames from the pipe are applied to it in order, and all other code uses it like a
 * shared arena.  The collector's orders go to the process as a file.
 */
#ifndef COLLECTOR_MIRROR_H
#define COLLECTOR_MIRROR_H

#include "collector/process.h"
#include "trace/frame.h"

struct mirror {
	uint32_t sequence;              /* number of the last frame */
	uint64_t left;                  /* rows that the process could not send before its end, as it reported */
	char path[128];                 /* the process's order file */
	uint32_t got[MAX_BLOCKS];       /* bytes received of each block; those of an incomplete row are not used yet */
};

/* NULL: no memory. */
struct mirror *mirror_new(const char *folder, uint32_t process);
void mirror_free(struct mirror *m);

/* Removes the order file: the folder is about to be removed, while the process goes on. */
void mirror_forget_orders(const struct mirror *m);

/* Applies a frame of p, whose guest has a mirror.  False: it is invalid, or frames before it are missing. */
bool mirror_apply(struct process *p, const struct frame *f, const void *body);

/* Writes the collector's orders to the process's order file; the process reads it within 100 ms.  Returns 0, or -1 after fail(). */
int mirror_tell(const struct guest *g);

#endif
