#include "collector/threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test/unit/test.h"

static void *own_tid(void *arg)
{
	*(uint32_t *)arg = (uint32_t)syscall(SYS_gettid);
	return NULL;
}

TEST(a_thread_that_is_gone_leaves_its_place_to_another)
{
	struct connected_guest g = { .n_threads = 0 };
	struct tree_process p = { .pid = (uint32_t)getpid(), .host_pid = (uint32_t)getpid(), .guest = &g };
	struct thread_row row = { .id = 1 };
	pthread_t t;

	pthread_create(&t, NULL, own_tid, &row.tid);
	pthread_join(t, NULL);
	threads_note(&g, &row, "");
	while (syscall(SYS_tgkill, getpid(), row.tid, 0) == 0)
		usleep(100);    /* joined, and the kernel still takes it apart */
	char comm[16] = "";

	pthread_getname_np(pthread_self(), comm, sizeof comm);
	row = (struct thread_row){ .id = 2, .tid = (uint32_t)getpid(), .bytes = (uint32_t)strlen(comm) };
	threads_note(&g, &row, comm);
	CHECK_EQ(g.n_threads, 2);
	threads_refresh(&p);
	CHECK_EQ(g.n_threads, 1);
	CHECK_EQ(g.threads[0].id, 2);
	free(g.threads);
}
