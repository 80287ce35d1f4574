/*
 * stepper STEPS [WORD...]: marks and launches of a training loop; each step launches KERNELS kernels.
 *
 *	nvtx            a range "step N" around each step; "setup" before the first
 *	marks           a mark "step" before each step
 *	pairs           cudaProfilerStart and Stop around each step
 *	profile=A:B     cudaProfilerStart before step A, Stop after step B
 *	eval=N          after every N steps a step of evaluation, "val N", with two kernels
 *	sleep=MS        pause after each step
 *	until=FILE      continues until the file exists, at most three minutes
 *	threads=N       N threads run the loop at once, each with its own stream
 *	filter          after the first step, a seccomp filter on all threads kills whoever starts a thread
 *
 * Prints the number of launched kernels.
 */
#include "spin.cuh"

#include <cstddef>
#include <cstring>
#include <cuda_profiler_api.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KERNELS 3

static int steps, pause_ms, eval_every, first = -1, last = -1, threads = 1;
static bool nvtx, marks, pairs, filtered;
static const char *until;
static long launched;

__global__ void spin_train(nanoseconds ns)
{
	spin_for(ns);
}

__global__ void spin_val(nanoseconds ns)
{
	spin_for(ns);
}

static void train(int i, cudaStream_t stream)
{
	char name[32];

	snprintf(name, sizeof name, "step %d", i);
	if (i == first)
		CHECK(cudaProfilerStart());
	if (pairs)
		CHECK(cudaProfilerStart());
	if (nvtx)
		nvtxRangePushA(name);
	if (marks)
		nvtxMarkA("step");
	for (int k = 0; k < KERNELS; k++)
		spin_train<<<1, 32, 0, stream>>>(20000);
	CHECK(cudaGetLastError());
	CHECK(cudaStreamSynchronize(stream));
	if (nvtx)
		nvtxRangePop();
	if (pairs)
		CHECK(cudaProfilerStop());
	if (i == last)
		CHECK(cudaProfilerStop());
	__atomic_fetch_add(&launched, KERNELS, __ATOMIC_RELAXED);
}

static void evaluate(int i, cudaStream_t stream)
{
	char name[32];

	snprintf(name, sizeof name, "val %d", i / eval_every);
	if (nvtx)
		nvtxRangePushA(name);
	for (int k = 0; k < 2; k++)
		spin_val<<<1, 32, 0, stream>>>(20000);
	CHECK(cudaStreamSynchronize(stream));
	if (nvtx)
		nvtxRangePop();
	__atomic_fetch_add(&launched, 2, __ATOMIC_RELAXED);
}

static void no_more_threads(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof code / sizeof *code, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0)
		exit(77);
}

static void *loop(void *arg)
{
	cudaStream_t stream;

	(void)arg;
	CHECK(cudaStreamCreate(&stream));
	for (int i = 0; i < steps || (until && access(until, F_OK) != 0); i++) {
		train(i, stream);
		if (filtered && i == 0)
			no_more_threads();
		if (eval_every && i % eval_every == eval_every - 1)
			evaluate(i, stream);
		if (pause_ms)
			usleep(pause_ms * 1000);
	}
	CHECK(cudaStreamDestroy(stream));
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other[64];

	steps = argc > 1 ? atoi(argv[1]) : 10;
	for (int i = 2; i < argc; i++) {
		nvtx |= strcmp(argv[i], "nvtx") == 0;
		marks |= strcmp(argv[i], "marks") == 0;
		pairs |= strcmp(argv[i], "pairs") == 0;
		filtered |= strcmp(argv[i], "filter") == 0;
		sscanf(argv[i], "profile=%d:%d", &first, &last);
		sscanf(argv[i], "eval=%d", &eval_every);
		sscanf(argv[i], "sleep=%d", &pause_ms);
		sscanf(argv[i], "threads=%d", &threads);
		if (strncmp(argv[i], "until=", 6) == 0)
			until = argv[i] + 6;
	}
	if (until)
		alarm(180);
	if (nvtx) {
		nvtxRangePushA("setup");
		CHECK(cudaFree(NULL));
		nvtxRangePop();
	}
	for (int t = 1; t < threads && t < 64; t++)
		pthread_create(&other[t], NULL, loop, NULL);
	loop(NULL);
	for (int t = 1; t < threads && t < 64; t++)
		pthread_join(other[t], NULL);
	printf("%ld\n", launched);
	return 0;
}
