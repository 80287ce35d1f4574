// Kernels, copies and sets of known number; ends as its argument says: return, _exit or reset.  To show that the check would notice:
// with GPU_CHECK_MISCOUNT it says one kernel more than there was, with GPU_CHECK_HANG it does not end.
#include "expect.h"

#include <cstring>
#include <unistd.h>

static const int N = 1 << 18;

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] += a * x[i];
}

extern "C" __global__ void scale(float a, float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] *= a;
}

int main(int argc, char **argv)
{
	const char *end = argc > 1 ? argv[1] : "return";
	float *host, *x, *y;
	cudaStream_t stream;

	OK(cudaMallocHost((void **)&host, N * sizeof(float)));
	memset(host, 0, N * sizeof(float));
	OK(cudaMalloc((void **)&x, N * sizeof(float)));
	OK(cudaMalloc((void **)&y, N * sizeof(float)));
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int i = 0; i < 3; i++)
		OK(cudaMemcpyAsync(x, host, N * sizeof(float), cudaMemcpyHostToDevice, stream));
	OK(cudaMemsetAsync(y, 0, N * sizeof(float), stream));
	OK(cudaMemsetAsync(x, 1, N * sizeof(float), stream));
	for (int i = 0; i < 100; i++)
		saxpy<<<N / 256, 256, 0, stream>>>(2.0f, x, y, N);
	for (int i = 0; i < 50; i++)
		scale<<<N / 256, 256, 0, stream>>>(0.5f, x, N);
	OK(cudaMemcpyAsync(y, x, N * sizeof(float), cudaMemcpyDeviceToDevice, stream));
	OK(cudaMemcpyAsync(host, y, N * sizeof(float), cudaMemcpyDeviceToHost, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaDeviceSynchronize());
	OK(cudaGetLastError());

	if (getenv("GPU_CHECK_HANG"))
		pause();
	printf("expect kernels %d\nexpect kernel saxpy 100\nexpect kernel scale 50\n", getenv("GPU_CHECK_MISCOUNT") ? 151 : 150);
	puts("expect copies 5\nexpect sets 2");
	puts("expect api cudaLaunchKernel 150\nexpect api cudaMemcpyAsync 5\nexpect api cudaMemsetAsync 2");
	puts("expect api cudaStreamSynchronize 1\nexpect api cudaDeviceSynchronize 1");
	fflush(stdout);
	if (strcmp(end, "_exit") == 0)
		_exit(0);
	if (strcmp(end, "reset") == 0)
		OK(cudaDeviceReset());
	return 0;
}
