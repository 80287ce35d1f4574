/*
 * call_chain FOLDER: CUDA calls from functions with known names: nested functions, a callback of libc, a thread, a signal handler on an
 * alternate stack, a coroutine, and libraries of FOLDER that are loaded one after the other.  Uses only the driver API.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__clang__)
#define PLACE static __attribute__((noinline))
#else
#define PLACE static __attribute__((noinline, noclone))
#endif
#define STOP __asm__ volatile("" ::: "memory")  /* after a call: prevents a tail call */

static CUresult (*init)(unsigned int);
static CUresult (*retain)(CUcontext *, CUdevice);
static CUresult (*set_current)(CUcontext);
static CUresult (*synchronize)(void);
static CUresult (*allocate)(CUdeviceptr *, size_t);
static CUresult (*release)(CUdeviceptr);

static CUcontext context;

static void must(CUresult rc, const char *what)
{
	if (rc) {
		fprintf(stderr, "call_chain: %s: CUDA error %d\n", what, rc);
		exit(1);
	}
}

PLACE void innermost(void)
{
	must(synchronize(), "cuCtxSynchronize");
	STOP;
}

PLACE void middle(int n)
{
	char room[200];

	memset(room, n, sizeof room);
	__asm__ volatile("" :: "r"(room) : "memory");
	if (n > 0)
		middle(n - 1);
	else
		innermost();
	STOP;
}

PLACE void outermost(void)
{
	middle(3);
	STOP;
}

static int compare(const void *a, const void *b)
{
	static int calls;
	CUdeviceptr p;

	if (!calls++) {
		must(allocate(&p, 64), "cuMemAlloc");
		must(release(p), "cuMemFree");
	}
	return *(const int *)a - *(const int *)b;
}

PLACE void by_callback(void)
{
	int numbers[] = { 3, 1, 2 };

	qsort(numbers, 3, sizeof numbers[0], compare);
	STOP;
}

PLACE void *by_thread(void *arg)
{
	must(set_current(context), "cuCtxSetCurrent");
	innermost();
	STOP;
	return arg;
}

static void handler(int sig)
{
	(void)sig;
	innermost();
	STOP;
}

PLACE void by_signal(void)
{
	raise(SIGUSR1);
	STOP;
}

static ucontext_t outside, inside;

static void by_coroutine(void)
{
	innermost();
	STOP;
}

/* Loads a library whose function calls the function that it gets. */
static void by_library(const char *folder, const char *name)
{
	char path[4096];
	void (*run)(void (*f)(void));
	void *lib;

	snprintf(path, sizeof path, "%s/lib%s.so", folder, name);
	lib = dlopen(path, RTLD_NOW);
	*(void **)&run = lib ? dlsym(lib, name) : NULL;
	if (!run) {
		fprintf(stderr, "call_chain: %s\n", dlerror());
		exit(1);
	}
	printf("%s is at %p\n", name, (void *)run);
	run(innermost);
	dlclose(lib);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_size = 128 << 10 };
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
	pthread_t t;

	if (argc != 2 || !cuda)
		return 2;
	*(void **)&init = dlsym(cuda, "cuInit");
	*(void **)&retain = dlsym(cuda, "cuDevicePrimaryCtxRetain");
	*(void **)&set_current = dlsym(cuda, "cuCtxSetCurrent");
	*(void **)&synchronize = dlsym(cuda, "cuCtxSynchronize");
	*(void **)&allocate = dlsym(cuda, "cuMemAlloc_v2");
	*(void **)&release = dlsym(cuda, "cuMemFree_v2");
	must(init(0), "cuInit");
	must(retain(&context, 0), "cuDevicePrimaryCtxRetain");
	must(set_current(context), "cuCtxSetCurrent");

	for (int i = 0; i < 20; i++)
		outermost();
	by_callback();
	pthread_create(&t, NULL, by_thread, NULL);
	pthread_join(t, NULL);
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	by_signal();
	getcontext(&inside);
	inside.uc_stack.ss_size = 128 << 10;
	inside.uc_stack.ss_sp = mmap(NULL, inside.uc_stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	inside.uc_link = &outside;
	makecontext(&inside, by_coroutine, 0);
	swapcontext(&outside, &inside);
	for (int i = 0; i < 3; i++) {
		by_library(argv[1], "one");
		by_library(argv[1], "two");
	}
	return 0;
}
