/* A process that sends its memory's descriptor to the collector, although the number of descriptors in flight is limited. */
#include "inject/core/late.h"

#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test/unit/test.h"

static int refusals, tries;             /* sendmsg() fails so many times more */

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	tries++;
	if (refusals > 0) {
		refusals--;
		errno = ETOOMANYREFS;
		return -1;
	}
	return syscall(SYS_sendmsg, fd, m, flags);
}

static int send_refused(int times, int64_t deadline)
{
	int ends[2], rc, why;

	if (!CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0))
		return 0;
	refusals = times;
	tries = 0;
	rc = late_send(ends[0], ends[1], 4096, deadline);
	why = errno;
	refusals = 0;
	close(ends[0]);
	close(ends[1]);
	errno = why;
	return rc;
}

TEST(memory_that_is_one_too_many_in_flight_is_handed_over_later)
{
	CHECK_EQ(send_refused(3, INT64_MAX), 0);
	CHECK_EQ(tries, 4);
}

TEST(past_its_deadline_it_is_not)
{
	CHECK_EQ(send_refused(3, 0), -1);
	CHECK_EQ(errno, ETOOMANYREFS);
	CHECK_EQ(tries, 1);
}
