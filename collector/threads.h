/* The kernel's names of a guest's threads, which may change after the guest has written its thread row. */
#ifndef COLLECTOR_THREADS_H
#define COLLECTOR_THREADS_H

#include "collector/process.h"

/* Notes a thread row; name: its tail of row->bytes bytes.  For a known thread sets row->start to that of its first row. */
void threads_note(struct connected_guest *g, struct thread_row *row, const char *name);

/* Reads the names while the process lives; writes a row for each name that changed. */
void threads_refresh(struct tree_process *p);

#endif
