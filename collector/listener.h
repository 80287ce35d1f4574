/* The session's socket: a guest sends a hello, and gets an arena or a refusal. */
#ifndef COLLECTOR_LISTENER_H
#define COLLECTOR_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/bell.h"
#include "collector/tree.h"

/* Most connections at once, if the limit of descriptors allows: without a hello, waiting for an answer, and answered. */
#define LISTENER_CONNECTIONS 4096u

struct connection {
	int fd;                         /* 0: this place is free */
	uint32_t process;               /* number of the process that sent a hello; 0: none yet */
	int64_t unsent;                 /* MONOTONIC ns: since when the answer waits until descriptors can be sent; 0: it does not wait */
	uint32_t most_mib, carrier;     /* from the hello, until it is answered */
	int32_t error;
	bool alone;
	bool shut;                      /* its guest can send nothing more: an end of input does not mean that it left */
};

/*
 * Further guests wait in the kernel's queue.  When a place is needed, the oldest answered connection is closed: the guest can still read
 * the answer.
 */
struct listener {
	int fd;
	char path[108];
	struct connection connections[LISTENER_CONNECTIONS];
	unsigned most;                  /* places that may be used at once */
	unsigned next;                  /* index to try first; the oldest connection is the first one from there on */
	unsigned used;                  /* places in use */
	unsigned unsent;                /* answers that wait, among these */
	int64_t tried;                  /* MONOTONIC ns: last attempt to send these answers */
};

#define LISTENER_INIT { .fd = -1 }

/* epoll data of the connection at index i: i << 32 | LISTENER_TAG. */
#define LISTENER_TAG 0xfffffffeu

/* Returns 0, or -1 after fail(). */
int listener_open(struct listener *d, const char *folder);
void listener_close(struct listener *d);

/*
 * listener_accept(): accepts new connections.  epoll reports these once (EPOLLET), so all functions below accept again when a place is free.
 * listener_read(): reads the connection at index `place`.
 */
void listener_accept(struct listener *d, struct tree *t, const struct bell_watch *bell);
void listener_read(struct listener *d, uint32_t place, struct tree *t, const struct bell_watch *bell);

/* Sends the answers that wait, if possible.  Call in each step. */
void listener_send_waiting(struct listener *d, struct tree *t, const struct bell_watch *bell);

/* Reads all connections of a process (0: of all).  Call before a process is declared over: its last messages may be unread. */
void listener_read_all(struct listener *d, struct tree *t, const struct bell_watch *bell, uint32_t process);

#endif
