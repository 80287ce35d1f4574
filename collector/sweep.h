/* What is done for all processes alike: on a ring, ten times a second, once a second, at the end. */
#ifndef COLLECTOR_SWEEP_H
#define COLLECTOR_SWEEP_H

struct process;
struct session;

/* Handed-over blocks of all guests. */
void sweep_full(struct session *s);

/* Clocks, processes that nobody reports, what is new. */
void sweep_tick(struct session *s);

/* Everything that is published goes to the file: a second is what can be lost when we are killed. */
void sweep_second(struct session *s);

/* A process that is left when the session ends: its end is not known. */
void sweep_last(struct session *s, struct process *p);

#endif
