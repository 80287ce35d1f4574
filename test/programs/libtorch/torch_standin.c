/*
 * torch_standin LIBRARY WHAT...: loads a stand-in for PyTorch, or is linked with it (LIBRARY "-"), and makes records.  Exit status 7.
 *
 *	train N		N steps: loader, forward with operators, backward, optimizer
 *	threads		four threads, each with 100 ranges around operators
 *	fork		an open range, a child with 50 ranges
 *	elsewhere	a range ended by another thread, one marked async, one whose thread has ended, one never ended
 *	cuda		allocates and sets GPU memory in a user scope, and in an operator inside it
 *	names N		N distinct names, and one of 10,000 bytes
 *	clear		removes all callbacks while a range is open
 *	memory		the allocator ($ALLOCATOR, loaded first) allocates 1000 bytes in an operator, 500 after it, and frees 200
 *	exit		ends inside a range, in an operator
 *	again LIBRARY	loads another copy
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/programs/libtorch/standin.h"

enum { FUNCTION, BACKWARD, USER = 7 };

static __typeof__(standin_begin) *begin;
static __typeof__(standin_end) *end;
static __typeof__(standin_clear) *clear;

static void one(int scope, const char *name)
{
	end(begin(scope, name, -1, 0, false));
}

static void op(const char *outer, const char *inner)
{
	void *r = begin(FUNCTION, outer, 5, 0, false);

	one(FUNCTION, inner);
	end(r);
}

static void train(int n)
{
	for (int i = 0; i < n; i++) {
		one(USER, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
		one(USER, "Optimizer.zero_grad#SGD.zero_grad");
		op("aten::linear", "aten::addmm");
		op("aten::add", "aten::add");
		end(begin(BACKWARD, "AddBackward0", 6, 1, false));
		end(begin(BACKWARD, "AddmmBackward0", 5, 1, false));
		one(USER, "Optimizer.step#SGD.step");
	}
}

static void *in_thread(void *arg)
{
	for (int i = 0; i < 100; i++) {
		void *r = begin(USER, "in a thread", -1, 0, false);

		op("aten::linear", "aten::addmm");
		end(r);
	}
	return arg;
}

static void threads(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, in_thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static void fork_in_range(void)
{
	void *r = begin(USER, "around the fork", -1, 0, false);
	pid_t child = fork();

	if (child == 0) {
		end(r);
		for (int i = 0; i < 50; i++)
			one(USER, "in the child");
		_exit(0);
	}
	waitpid(child, NULL, 0);
	end(r);
}

static void *ends(void *record)
{
	end(record);
	return NULL;
}

static void *begins(void *arg)
{
	(void)arg;
	return begin(USER, "its thread is gone", -1, 0, false);
}

static void elsewhere(void)
{
	pthread_t t;
	void *left;

	pthread_create(&t, NULL, begins, NULL);
	pthread_join(t, &left);
	end(left);

	pthread_create(&t, NULL, ends, begin(USER, "ended elsewhere", -1, 0, false));
	pthread_join(t, NULL);
	one(USER, "after it");
	pthread_create(&t, NULL, ends, begin(USER, "gloo:all_reduce", -1, 0, true));
	pthread_join(t, NULL);
	begin(USER, "never ended", -1, 0, false);
}

static void names(int n)
{
	static char name[10001];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof name, "name %d", i);
		one(USER, name);
	}
	memset(name, 'x', 10000);
	one(USER, name);
}

static void cleared(void)
{
	void *r = begin(USER, "before", -1, 0, false);

	clear();
	end(r);
	one(USER, "unseen");
}

static void on_gpu(void)
{
	void *runtime = dlopen("libcudart.so.13", RTLD_NOW), *memory = NULL, *outer, *inner;
	int (*take)(void **, size_t) = runtime ? dlsym(runtime, "cudaMalloc") : NULL;
	int (*set)(void *, int, size_t) = runtime ? dlsym(runtime, "cudaMemset") : NULL;

	if (!take || !set)
		exit(1);
	outer = begin(USER, "on the GPU", -1, 0, false);
	take(&memory, 4096);
	inner = begin(FUNCTION, "aten::zero_", 3, 0, false);
	set(memory, 0, 4096);
	end(inner);
	end(outer);
}

static void *load(const char *path)
{
	void *library = strcmp(path, "-") == 0 ? RTLD_DEFAULT : dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library && strcmp(path, "-") != 0) {
		printf("%s\n", dlerror());
		exit(1);
	}
	return library;
}

static void memory(void)
{
	void *library = load(getenv("ALLOCATOR"));
	void (*allocate)(int64_t) = dlsym(library, "standin_allocate");
	int64_t (*told)(void) = dlsym(library, "standin_told");
	void *r;

	r = begin(FUNCTION, "aten::empty", -1, 0, false);
	allocate(1000);
	end(r);
	allocate(500);
	allocate(-200);
	printf("told %ld\n", (long)told());
}

static void run(const char *what, const char *arg)
{
	if (strcmp(what, "train") == 0)
		train(atoi(arg));
	else if (strcmp(what, "threads") == 0)
		threads();
	else if (strcmp(what, "fork") == 0)
		fork_in_range();
	else if (strcmp(what, "elsewhere") == 0)
		elsewhere();
	else if (strcmp(what, "names") == 0)
		names(atoi(arg));
	else if (strcmp(what, "clear") == 0)
		cleared();
	else if (strcmp(what, "again") == 0)
		load(arg);
	else if (strcmp(what, "cuda") == 0)
		on_gpu();
	else if (strcmp(what, "memory") == 0)
		memory();
	else if (strcmp(what, "exit") == 0)
		begin(USER, "unfinished", -1, 0, false), begin(FUNCTION, "aten::mm", 9, 0, false), exit(7);
}

int main(int argc, char **argv)
{
	void *library;

	if (getenv("ALLOCATOR"))
		load(getenv("ALLOCATOR"));
	library = argc > 1 ? load(argv[1]) : NULL;

	*(void **)&begin = dlsym(library, "standin_begin");
	*(void **)&end = dlsym(library, "standin_end");
	*(void **)&clear = dlsym(library, "standin_clear");
	if (!begin || !end || !clear)
		return 1;
	for (int i = 2; i < argc; i++)
		run(argv[i], i + 1 < argc ? argv[i + 1] : "");
	printf("done\n");
	return 7;
}
