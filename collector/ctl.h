/*
 * The socket of gprof-ctl, SESSION/ctl: unix, SOCK_SEQPACKET, one text packet a request and one for its answer; any number of
 * controllers at once.  Requests:
 *
 *	start MASK PROCESS      record these tracers (ORDER_ bits) as well; process number, 0: all
 *	stop MASK PROCESS       record them no more
 *	toggle                  stop when anything is recorded in all processes, else start
 *	followed                how many processes have not yet seen the last order
 *	status                  what is going on, a fact a line
 *	mark TEXT               a mark in the trace
 *
 * Answers begin with "ok" or "error"; the rest is for people, but for status, whose lines are words.
 */
#ifndef COLLECTOR_CTL_H
#define COLLECTOR_CTL_H

#include <stddef.h>
#include <stdint.h>

struct session;

#define CTL_CLIENTS 16u
#define CTL_TAG     0xfffffffdu         /* what epoll reports for client i; the low half of the word */

struct ctl {
	int fd;
	int clients[CTL_CLIENTS];       /* 0: free place */
	unsigned next;                  /* place to take when all are taken */
	uint32_t strings;               /* string ids given in process 0, for marks */
};

#define CTL_INIT { .fd = -1 }

/* 0 or -1: there will be no control of this session. */
int ctl_open(struct ctl *c, const char *folder);
void ctl_close(struct ctl *c);

/* Somebody connects; a client spoke, or went. */
void ctl_accept(struct session *s);
void ctl_hear(struct session *s, uint32_t place);

/* What a request means; the answer into out.  Also for gprof-run's own, which come another way. */
void ctl_answer(struct session *s, const char *request, char *out, size_t size);

#endif
