/* Lines of the process list are written to the folder's named pipe, and to no other kind of file. */
#include "inject/core/roster.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/wire.h"
#include "test/unit/test.h"

struct place {
	char folder[32], pipe[64], roster[64];
	int fd;                         /* of the pipe */
};

/* A folder with a pipe that is named so. */
static void make(struct place *p, const char *name)
{
	strcpy(p->folder, "/tmp/gprof-unit-XXXXXX");
	if (!CHECK(mkdtemp(p->folder) != NULL))
		exit(1);
	snprintf(p->pipe, sizeof p->pipe, "%s/%s", p->folder, name);
	snprintf(p->roster, sizeof p->roster, "%s/roster", p->folder);
	CHECK_EQ(mkfifo(p->pipe, 0600), 0);
	p->fd = open(p->pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	CHECK(p->fd >= 0);
}

static void unmake(struct place *p)
{
	close(p->fd);
	unlink(p->pipe);
	unlink(p->roster);
	rmdir(p->folder);
}

TEST(a_line_of_the_roster_comes_through_the_pipe)
{
	struct place p;
	char got[ROSTER_LINE_MAX];

	make(&p, "roster");
	errno = 77;
	roster_line(p.folder, 'c', 12, 1, 3, "name");
	CHECK_EQ(errno, 77);
	CHECK(read(p.fd, got, sizeof got) > 0);
	unmake(&p);
}

TEST(a_link_is_not_followed_to_a_pipe)
{
	struct place p;
	char got[ROSTER_LINE_MAX];

	make(&p, "there");
	CHECK_EQ(symlink(p.pipe, p.roster), 0);
	roster_line(p.folder, 'c', 12, 1, 3, "name");
	CHECK_EQ(read(p.fd, got, sizeof got), -1);
	CHECK_EQ(errno, EAGAIN);
	unmake(&p);
}

TEST(a_regular_file_is_not_written)
{
	struct place p;
	struct stat st;
	int fd;

	make(&p, "there");
	fd = open(p.roster, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	roster_line(p.folder, 'c', 12, 1, 3, "name");
	CHECK_EQ(fstat(fd, &st), 0);
	CHECK_EQ(st.st_size, 0);
	close(fd);
	unmake(&p);
}
