/* Finds running sessions and sends requests to their collectors.  collector/ctl.h defines the requests. */
#ifndef CLI_CTL_CTL_H
#define CLI_CTL_CTL_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#define CTL_ANSWER 16384

struct ctl_session {
	char folder[PATH_MAX];          /* .../gprof-XXXXXX */
	dev_t dev;                      /* dev, ino: of the folder; set by ctl_find() only */
	ino_t ino;
	int fd;                         /* connected to its collector; -1: closed */
};

/* Name of a session: the last part of its folder.  Points into s. */
const char *ctl_name(const struct ctl_session *s);

/* Connects to the running sessions of this user (root: of all users), at most max.  Returns their number; ctl_close() each. */
size_t ctl_find(struct ctl_session *all, size_t max);

/*
 * Connects to one session.  name: its folder, its name with or without "gprof-", or its trace; NULL: the session of the
 * calling process (GPROF_SESSION), else the only one.  0, or -1 after an error message.
 */
int ctl_open(struct ctl_session *s, const char *name);

/* Closes the connection, if there is one.  Keeps errno. */
void ctl_close(struct ctl_session *s);

/* Sends a request and waits for the answer, which is stored without "ok ".  0, or -1 after an error message. */
int ctl_ask(struct ctl_session *s, const char *request, char answer[CTL_ANSWER]);

/* The value in the line "word value" of a status; "" if there is no such line.  Static storage, until the next call. */
const char *ctl_fact(const char *status, const char *word);

#endif
