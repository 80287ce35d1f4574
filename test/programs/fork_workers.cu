/*
 * fork_workers [N [before|after]]: N children (3).  before: forked before the first CUDA call; child i runs 5 + i kernels and ends with
 * _exit, as workers of multiprocessing do.  after: forked after cuInit, so that CUDA returns errors in the children.
 */
#include "spin.cuh"

#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

__global__ void spin_worker(nanoseconds ns)
{
	spin_for(ns);
}

__global__ void spin_parent(nanoseconds ns)
{
	spin_for(ns);
}

static int child(int kernels)
{
	for (int i = 0; i < kernels; i++) {
		spin_worker<<<1, 32>>>(20000);
		if (cudaGetLastError() != cudaSuccess)
			return 1;
	}
	return cudaDeviceSynchronize() != cudaSuccess;
}

static void parent()
{
	for (int i = 0; i < 3; i++) {
		spin_parent<<<1, 32>>>(20000);
		CHECK(cudaGetLastError());
	}
	CHECK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 3, expected = 0, wrong = 0, status;
	bool after = argc > 2 && !strcmp(argv[2], "after");

	if (after)
		parent();
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(child(5 + i));
		expected += 5 + i;
	}
	if (!after)
		parent();
	while (wait(&status) > 0)
		wrong += !WIFEXITED(status) || WEXITSTATUS(status) != (after ? 1 : 0);
	if (wrong) {
		fprintf(stderr, "fork_workers: %d children ended otherwise than expected\n", wrong);
		return 1;
	}
	puts("Name,Instances");
	if (!after)
		printf("spin_worker(unsigned long long),%d\n", expected);
	puts("spin_parent(unsigned long long),3");
	printf("CUDA processes,%d\n", after ? 1 : n + 1);
	return 0;
}
