/*
 * closer FILE: while the injected object connects to the collector, closes all descriptors above 2 and opens the file, as another thread
 * could do at that moment.  Prints "reused" if the file got the connection's descriptor number, and makes 10 ranges.
 */
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *path;
static int times;

/* The injected object calls this function, because symbols of the program come before those of libc. */
__attribute__((visibility("default"))) int connect(int fd, const struct sockaddr *to, socklen_t size)
{
	if (times++ == 0) {
		for (int i = 3; i < 2000; i++)
			close(i);
		if (open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) == fd)
			puts("reused");
	}
	return (int)syscall(SYS_connect, fd, to, size);
}

int main(int argc, char **argv)
{
	path = argc > 1 ? argv[1] : "file";
	for (int i = 0; i < 10; i++) {
		nvtxRangePushA("range");
		nvtxRangePop();
	}
	printf("connected %d times\n", times);
	return 0;
}
