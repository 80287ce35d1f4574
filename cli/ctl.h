/* Finding running sessions and speaking to their collectors (collector/ctl.h has the words). */
#ifndef CLI_CTL_H
#define CLI_CTL_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#define CTL_ANSWER 16384

struct ctl_session {
	char folder[PATH_MAX];          /* .../gprof-XXXXXX */
	dev_t dev;                      /* of the folder, where it was searched for */
	ino_t ino;
	int fd;                         /* connected to its collector */
};

/* Name of a session: the last part of its folder. */
const char *ctl_name(const struct ctl_session *s);

/* The running sessions of this user, at most max; how many there are. */
size_t ctl_find(struct ctl_session *all, size_t max);

/* One that is named by its folder, its name, the end of its name, or its trace.  0 or -1, having spoken. */
int ctl_open(struct ctl_session *s, const char *name);

void ctl_close(struct ctl_session *s);

/* One request.  The answer without its "ok " into answer, 0; or -1: having said what was wrong. */
int ctl_ask(struct ctl_session *s, const char *request, char answer[CTL_ANSWER]);

/* A line "word value" of a status; "" when there is none.  Static storage. */
const char *ctl_fact(const char *status, const char *word);

#endif
