#include "inject/core/self.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool libc_knows;

/* glibc stores the owner's thread id in a locked recursive mutex. */
static uint32_t ask_libc(void)
{
	pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	uint32_t id;

	if (pthread_mutex_lock(&mutex) != 0)
		return 0;
	id = (uint32_t)mutex.__data.__owner;
	pthread_mutex_unlock(&mutex);
	return id;
}

void self_init(void)
{
	libc_knows = ask_libc() == (uint32_t)syscall(SYS_gettid);
}

uint32_t self_ask(void)
{
	long id = syscall(SYS_gettid);

	return id > 0 ? (uint32_t)id : ask_libc();
}

uint32_t self_parent(void)
{
	long id = syscall(SYS_getppid);

	return id > 0 ? (uint32_t)id : 0;
}

uint32_t self_id(void)
{
	return libc_knows ? ask_libc() : self_ask();
}
