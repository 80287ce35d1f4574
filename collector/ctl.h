/*
 * The socket of gprof-ctl, SESSION/ctl: unix, SOCK_SEQPACKET, one text packet for a request and one for its answer.  At most CTL_CLIENTS
 * controllers at once: one more takes the place of another.  Requests:
 *
 * 	start MASK PROCESS      start recording these tracers (ORDER_ bits); process number, 0: all
 * 	stop MASK PROCESS       stop recording these tracers
 * 	toggle                  stop if recording is on for all processes, else start
 * 	followed                how many processes have not yet followed the last order
 * 	status                  state of the session, one fact per line
 * 	mark TEXT               write a mark into the trace
 *
 * Answers begin with "ok" or "error"; the rest is for people, except that of status, whose lines are for programs.
 */
#ifndef COLLECTOR_CTL_H
#define COLLECTOR_CTL_H

#include <stddef.h>
#include <stdint.h>

struct session;

#define CTL_CLIENTS 16u
#define CTL_TAG     0xfffffffdu         /* epoll data of client i: i << 32 | CTL_TAG */

struct ctl {
	int fd;
	int clients[CTL_CLIENTS];       /* descriptors; 0: free */
	unsigned next;                  /* client to replace when all are in use */
	uint32_t strings;               /* string ids given out in process 0, for marks */
};

#define CTL_INIT { .fd = -1 }

/* Returns 0, or -1 after fail(). */
int ctl_open(struct ctl *c, const char *folder);
void ctl_close(struct ctl *c);

/* ctl_accept(): accepts new clients.  ctl_hear(): answers a request of client `place`, or forgets it if it disconnected. */
void ctl_accept(struct session *s);
void ctl_hear(struct session *s, uint32_t place);

/* Carries out a request and writes the answer to out.  Also for requests of gprof-run, which arrive on another socket. */
void ctl_answer(struct session *s, const char *request, char *out, size_t size);

#endif
