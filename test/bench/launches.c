/*
 * launches N [PER_SECOND SECONDS]: kernels through the driver API, N as fast as they go, or so many a second for that
 * long.  Prints one line: ns of this thread's CPU for a launch, launches, seconds, peak resident KiB.  It needs no header
 * of NVIDIA, and runs on the simulated stack (SIM_KERNEL_NS=1, so that the GPU is never what it waits for).
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static void *driver;

static void *function(const char *name)
{
	void *fn = dlsym(driver, name);

	if (!fn) {
		fprintf(stderr, "launches: no %s\n", name);
		exit(1);
	}
	return fn;
}

static void must(int result, const char *what)
{
	if (result) {
		fprintf(stderr, "launches: %s: CUDA error %d\n", what, result);
		exit(1);
	}
}

#define DO(name, types, ...) must(((int (*)types)function(name))(__VA_ARGS__), name)

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct kernel {
	int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
		      void **);
	void *function, *stream, *arguments[1];
	unsigned long long ns;
};

static void start(struct kernel *k)
{
	static const char ptx[] = ".version 6.0\n.target sm_60\n.address_size 64\n"
				  ".visible .entry launched(.param .u64 n)\n{\n\tret;\n}\n";
	void *context, *module;
	int device;

	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver) {
		fprintf(stderr, "launches: %s\n", dlerror());
		exit(1);
	}
	DO("cuInit", (unsigned), 0);
	DO("cuDeviceGet", (int *, int), &device, 0);
	DO("cuDevicePrimaryCtxRetain", (void **, int), &context, device);
	DO("cuCtxSetCurrent", (void *), context);
	DO("cuModuleLoadData", (void **, const void *), &module, ptx);
	DO("cuModuleGetFunction", (void **, void *, const char *), &k->function, module, "launched");
	DO("cuStreamCreate", (void **, unsigned), &k->stream, 1);
	k->launch = (__typeof__(k->launch))function("cuLaunchKernel");
	k->arguments[0] = &k->ns;
}

static void launch(struct kernel *k, long n)
{
	for (long i = 0; i < n; i++)
		must(k->launch(k->function, 1 + (unsigned)(i & 7), 1, 1, 128, 1, 1, 0, k->stream, k->arguments, NULL),
		     "cuLaunchKernel");
}

/* Each millisecond what is due by then; behind, as fast as it goes. */
static long at_rate(struct kernel *k, double per_second, double for_seconds)
{
	double begin = seconds(CLOCK_MONOTONIC), now = 0;
	const struct timespec nap = { .tv_nsec = 500000 };
	long done = 0;

	for (; now < for_seconds; now = seconds(CLOCK_MONOTONIC) - begin) {
		long due = (long)(now * per_second) - done;

		if (due <= 0) {
			nanosleep(&nap, NULL);
			continue;
		}
		if (due > 1000)
			due = 1000;
		launch(k, due);
		done += due;
	}
	return done;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000000;
	struct kernel k = { 0 };
	struct rusage usage;
	double cpu, wall;

	start(&k);
	launch(&k, n ? 1000 : 1);       /* first times are dear */
	cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
	wall = seconds(CLOCK_MONOTONIC);
	if (argc > 3)
		n = at_rate(&k, atof(argv[2]), atof(argv[3]));
	else
		launch(&k, n);
	cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
	wall = seconds(CLOCK_MONOTONIC) - wall;
	DO("cuStreamSynchronize", (void *), k.stream);
	getrusage(RUSAGE_SELF, &usage);
	printf("%.1f %ld %.2f %ld\n", n ? cpu / (double)n * 1e9 : 0, n, wall, usage.ru_maxrss);
	return 0;
}
