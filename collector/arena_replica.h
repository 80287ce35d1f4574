/*
 * The collector's copy of an arena that is not shared: frames from the pipe are applied to it in order, and all other code uses it like a
 * shared arena.  The collector's orders go to the process as a file.
 */
#ifndef COLLECTOR_ARENA_REPLICA_H
#define COLLECTOR_ARENA_REPLICA_H

#include "collector/process.h"
#include "trace/frame.h"

struct arena_replica {
	uint32_t sequence;              /* number of the last frame */
	uint64_t left;                  /* rows that the process could not send before its end, as it reported */
	char path[128];                 /* the process's order file */
	uint32_t got[MAX_BLOCKS];       /* bytes received of each block; those of an incomplete row are not used yet */
};

/* NULL: no memory. */
struct arena_replica *arena_replica_new(const char *folder, uint32_t process);
void arena_replica_free(struct arena_replica *m);

/* Removes the order file: the folder is about to be removed, while the process goes on. */
void arena_replica_remove_orders(const struct arena_replica *m);

/* Applies a frame of p, whose guest has a replica.  False: it is invalid, or frames before it are missing. */
bool arena_replica_apply(struct tree_process *p, const struct frame *f, const void *body);

/* Writes the collector's orders to the process's order file; the process reads it within 100 ms.  Returns 0, or -1 after fail(). */
int arena_replica_write_orders(const struct connected_guest *g);

#endif
