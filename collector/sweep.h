/* Work on all processes: when the bell rings, ten times a second, once a second, at the end. */
#ifndef COLLECTOR_SWEEP_H
#define COLLECTOR_SWEEP_H

struct tree_process;
struct session;

/* Takes the blocks that all guests have handed over. */
void sweep_full(struct session *s);

/* Ten times a second: writes the clocks, ends processes without a pidfd that are gone, describes new ones. */
void sweep_tick(struct session *s);

/* Once a second: writes everything that is published to the file.  If the collector is killed, at most a second is lost. */
void sweep_second(struct session *s);

/* For a process that still runs when the session ends: takes its rows.  Its end is unknown. */
void sweep_last(struct session *s, struct tree_process *p);

#endif
