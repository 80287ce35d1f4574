/* The kernel's names of a guest's threads: they change after the guest has written its thread row. */
#ifndef COLLECTOR_THREADS_H
#define COLLECTOR_THREADS_H

#include "collector/process.h"

/* A thread row went by; its tail of row->bytes bytes is at name. */
void threads_note(struct guest *g, const struct thread_row *row, const char *name);

/* Reads the names while the process lives; a changed one becomes a row. */
void threads_refresh(struct process *p);

#endif
