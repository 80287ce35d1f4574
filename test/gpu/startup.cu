/*
 * startup: when main began, CUDA was up, the first kernel had run and main ended, in ns since GPU_CHECK_T0 (CLOCK_REALTIME, ns); memory
 * of the process and of the device when it ended.
 */
#include "expect.h"

#include <ctime>

static long long t0;

extern "C" __global__ void first()
{
}

static void stamp(const char *what)
{
	timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	printf("stamp %s %lld\n", what, now.tv_sec * 1000000000ll + now.tv_nsec - t0);
}

/* What /proc/self/status says, in kB. */
static void memory_of_process()
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kb;

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "VmHWM: %ld", &kb) == 1)
			printf("memory rss_kb %ld\n", kb);
	if (f)
		fclose(f);
}

int main()
{
	size_t free_bytes = 0, total = 0;
	const char *text = getenv("GPU_CHECK_T0");

	t0 = text ? atoll(text) : 0;
	stamp("main");
	OK(cudaFree(0));
	stamp("cuda");
	first<<<1, 1>>>();
	OK(cudaDeviceSynchronize());
	stamp("kernel");
	OK(cudaMemGetInfo(&free_bytes, &total));
	printf("memory device_used_kb %zu\n", (total - free_bytes) / 1024);
	memory_of_process();
	stamp("end");
	return 0;
}
