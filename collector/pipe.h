/* The session's pipe of frames: what processes send whose memory is not shared.  Every byte in it is foreign. */
#ifndef COLLECTOR_PIPE_H
#define COLLECTOR_PIPE_H

#include <stdbool.h>

#include "trace/frame.h"

/* What is done with a frame; false: it makes no sense. */
struct frame_user {
	bool (*use)(void *arg, const struct frame *f, const void *body);
	void *arg;
};

struct pipe {
	int fd;
	size_t size;                    /* bytes that the kernel keeps of it */
	uint8_t *text;                  /* of size + FRAME_MAX */
	size_t n;                       /* bytes of a frame that is not whole yet */
	bool lost;                      /* behind bytes that are no frame */
	uint64_t bad;                   /* stretches of such bytes, and frames that nobody could use */
};

#define PIPE_INIT { .fd = -1 }

/* Creates and opens the pipe in the folder.  0 or -1. */
int pipe_open(struct pipe *p, const char *folder);
void pipe_close(struct pipe *p);

/*
 * Gives the user every frame that is there, head checked and body as long as it says.  At least all that was written
 * before the call; then it returns, however much comes meanwhile.
 */
void pipe_read(struct pipe *p, const struct frame_user *u);

/* The same for n bytes that came out of it, behind those kept from before. */
void pipe_take(struct pipe *p, const void *bytes, size_t n, const struct frame_user *u);

#endif
