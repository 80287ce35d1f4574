/* The session's socket: a guest says hello and goes with an arena, or with the reason why not. */
#ifndef COLLECTOR_DOOR_H
#define COLLECTOR_DOOR_H

#include "collector/bell.h"
#include "collector/tree.h"

/* Guests that have connected but not said hello yet. */
#define DOOR_WAITING 64u

struct door {
	int fd;
	char path[108];
	int waiting[DOOR_WAITING];      /* 0: free place */
	unsigned next;                  /* place to take when all are taken: the oldest goes */
};

#define DOOR_INIT { .fd = -1 }

/* What epoll reports for the guest waiting at place i; the low half of the word. */
#define DOOR_TAG 0xfffffffeu

/* 0 or -1. */
int door_open(struct door *d, const char *folder);
void door_close(struct door *d);

/* Somebody is at the door, or one of the waiting spoke. */
void door_accept(struct door *d, struct tree *t, const struct bell_watch *bell);
void door_hear(struct door *d, uint32_t place, struct tree *t, const struct bell_watch *bell);

#endif
