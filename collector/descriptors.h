/*
 * The collector's descriptors under RLIMIT_NOFILE: a quarter is for connections of guests, DESCRIPTORS_OWN are for arenas being handed
 * over, files and gprof-ctl, and the rest is for watching processes.
 */
#ifndef COLLECTOR_DESCRIPTORS_H
#define COLLECTOR_DESCRIPTORS_H

#include <stdbool.h>

#define DESCRIPTORS_OWN 32u

/* Returns how many connections of guests may be open at once: 1 to `most`. */
unsigned descriptors_for_guests(unsigned most);

/* True if a descriptor with this number may watch a process. */
bool descriptors_may_watch(int fd);

#endif
