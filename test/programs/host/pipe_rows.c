/*
 * pipe_rows THREADS ROWS [ACTION...]: each thread makes ROWS marks whose payload counts from 0, so that a test can see which rows are
 * missing.  Then the actions, in the given order: touch=FILE wait=FILE ms=N fork=N (N children that make as many rows) kill=SIGNAL _exit
 * quick_exit exec pthread_exit.  "more" makes the rows again, "forever" until it is killed.  Prints the number of rows and the time of the
 * slowest call.
 */
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

static int threads, rows;
static long made, longest;

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000l + t.tv_nsec / 1000;
}

static void mark(unsigned long i)
{
	nvtxEventAttributes_t e = {
		.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE, .messageType = NVTX_MESSAGE_TYPE_ASCII,
		.message.ascii = "row", .payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, .payload.ullValue = i,
	};

	nvtxMarkEx(&e);
}

static void *make_rows(void *arg)
{
	long longest_here = 0;

	(void)arg;
	for (int i = 0; i < rows; i++) {
		long begin = now_us(), took;

		mark((unsigned long)i);
		took = now_us() - begin;
		longest_here = took > longest_here ? took : longest_here;
	}
	__atomic_fetch_add(&made, rows, __ATOMIC_RELAXED);
	if (longest_here > longest)
		longest = longest_here;
	return NULL;
}

static void all_threads(void)
{
	pthread_t t[256];

	for (int i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, make_rows, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
}

static void say(void)
{
	printf("made %ld longest %ld us\n", made, longest);
	fflush(stdout);
}

static void wait_for(const char *file)
{
	for (int i = 0; access(file, F_OK) != 0 && i < 6000; i++)
		usleep(10000);
}

/* Runs longer than main()'s thread, and so writes stdout's buffer at its end. */
static void *outlive_main(void *arg)
{
	(void)arg;
	usleep(300000);
	made = 0;
	make_rows(NULL);
	printf("outlived\n");
	return NULL;
}

static void leave_a_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, outlive_main, NULL);
	pthread_exit(NULL);
}

static void children(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			made = 0;
			all_threads();
			say();
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	threads = atoi(argv[1]);
	rows = atoi(argv[2]);
	mark(0);        /* connects first, so that the threads only use the pipe */
	all_threads();
	say();
	for (int i = 3; i < argc; i++) {
		const char *equals = strchr(argv[i], '='), *value = equals ? equals + 1 : "";

		if (strncmp(argv[i], "touch=", 6) == 0)
			close(open(value, O_CREAT | O_WRONLY, 0600));
		else if (strncmp(argv[i], "wait=", 5) == 0)
			wait_for(value);
		else if (strncmp(argv[i], "ms=", 3) == 0)
			usleep((unsigned)atoi(value) * 1000);
		else if (strncmp(argv[i], "fork=", 5) == 0)
			children(atoi(value));
		else if (strncmp(argv[i], "kill=", 5) == 0)
			raise(atoi(value));
		else if (strcmp(argv[i], "more") == 0)
			all_threads(), say();
		else if (strcmp(argv[i], "forever") == 0)
			for (;;)
				all_threads();
		else if (strcmp(argv[i], "_exit") == 0)
			_exit(0);
		else if (strcmp(argv[i], "quick_exit") == 0)
			quick_exit(0);
		else if (strcmp(argv[i], "exec") == 0)
			execl("/bin/true", "true", NULL);
		else if (strcmp(argv[i], "pthread_exit") == 0)
			leave_a_thread();
	}
	return 0;
}
