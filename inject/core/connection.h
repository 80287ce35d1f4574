/* The process's single connection to the collector: at most three descriptors, open for some milliseconds during the handshake. */
#ifndef INJECT_CORE_CONNECTION_H
#define INJECT_CORE_CONNECTION_H

#include <stdbool.h>

#include "trace/wire.h"

/*
 * Connects to folder/sock.  Returns the socket, or -1 and errno; EAGAIN: not accepted before the deadline (MONOTONIC ns).
 * connection_close() closes the socket, also after a failure.
 */
int connection_dial(const char *folder, int64_t deadline);

/* Sends the hello.  0, or -1 and errno. */
int connection_hello(int fd, const struct wire_hello *h);

/*
 * Receives the welcome, its two descriptors (-1: none) and guest->config.  0, or -1 and errno; EAGAIN: no answer before the deadline
 * (MONOTONIC ns), EACCES: refused, EPROTO: malformed.  The descriptors are closed by connection_close().
 */
int connection_welcome(int fd, int64_t deadline, struct wire_welcome *w, int fds[2]);

/* Registers the descriptor of an arena that this process made itself, so that connection_close() closes it. */
void connection_note(int memory);

/* Closes the descriptor given to connection_note(): the collector does not take it.  Keeps errno. */
void connection_drop_memory(void);

/* Closes all descriptors of the handshake.  Also in a forked child, which closes its copies.  Keeps errno. */
void connection_close(void);

/* True if fd is a regular file or memfd of exactly this size; else EBADF: the program has closed it and reused the number. */
bool connection_is_memory(int fd, uint64_t size);

#endif
