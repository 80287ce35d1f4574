/* The session's pipe of frames, sent by processes whose arena is not shared.  Every byte in it is untrusted. */
#ifndef COLLECTOR_PIPE_H
#define COLLECTOR_PIPE_H

#include <stdbool.h>

#include "trace/frame.h"

/* Handler of frames; use() returns false for an invalid frame. */
struct frame_user {
	bool (*use)(void *arg, const struct frame *f, const void *body);
	void *arg;
};

struct pipe {
	int fd;
	size_t size;                    /* capacity in the kernel, in bytes */
	uint8_t *text;                  /* buffer of size + FRAME_MAX bytes */
	size_t n;                       /* bytes of an incomplete frame in it */
	bool lost;                      /* in a stretch of bytes that are no frame */
	uint64_t bad;                   /* such stretches, and invalid frames */
};

#define PIPE_INIT { .fd = -1 }

/* Creates a named pipe and opens it for reading and writing, without waiting.  Returns a descriptor, or -1 after fail(). */
int pipe_create(const char *folder, const char *name);

/* Creates and opens the pipe of frames in the folder.  Returns 0, or -1 after fail(). */
int pipe_open(struct pipe *p, const char *folder);
void pipe_close(struct pipe *p);

/*
 * Passes each complete frame to the user, with its head checked.  Takes at least all that was written before the call, then returns, even
 * if more arrives.
 */
void pipe_read(struct pipe *p, const struct frame_user *u);

/* As pipe_read(), for n bytes that were read from the pipe, after those kept from before. */
void pipe_take(struct pipe *p, const void *bytes, size_t n, const struct frame_user *u);

#endif
