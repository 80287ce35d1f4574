/*
 * The collector's copy of an arena that it cannot share: frames from the pipe are applied to it in order, and
 * everything else works on it as on a shared one.  What the collector has to tell goes the other way as a file.
 */
#ifndef COLLECTOR_MIRROR_H
#define COLLECTOR_MIRROR_H

#include "collector/process.h"
#include "trace/frame.h"

struct mirror {
	uint32_t sequence;              /* of the last frame */
	uint64_t left;                  /* rows that the process could not send before its end, as it said */
	char path[128];                 /* of its order file */
	uint32_t got[MAX_BLOCKS];       /* bytes of each block; those of a row that is not whole are not used yet */
};

/* NULL: out of memory. */
struct mirror *mirror_new(const char *folder, uint32_t process);
void mirror_free(struct mirror *m);

/* The folder is about to go; the process goes on. */
void mirror_forget_orders(const struct mirror *m);

/* Applies a frame of p's, whose guest has a mirror.  False: it makes no sense, or some before it are missing. */
bool mirror_apply(struct process *p, const struct frame *f, const void *body);

/* The line of the arena that is ours becomes the process's within a tenth of a second.  0 or -1. */
int mirror_tell(const struct guest *g);

#endif
