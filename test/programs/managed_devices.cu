/* managed_devices: every GPU uses the same managed memory in turn, then the host does.  Transfers between devices need two GPUs. */
#include "spin.cuh"

#define BYTES ((size_t)4 << 20)

__global__ void spin_share(nanoseconds ns, unsigned *p, size_t n)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		p[i]++;
	spin_for(ns);
}

int main()
{
	size_t n = BYTES / sizeof(unsigned);
	unsigned *p, sum = 0;
	int devices;

	CHECK(cudaGetDeviceCount(&devices));
	CHECK(cudaMallocManaged(&p, BYTES));
	for (size_t i = 0; i < n; i++)
		p[i] = 1;
	for (int d = 0; d < devices; d++) {
		CHECK(cudaSetDevice(d));
		spin_share<<<8, 128>>>(20000, p, n);
		CHECK(cudaGetLastError());
		CHECK(cudaDeviceSynchronize());
	}
	for (size_t i = 0; i < n; i += 1024)
		sum += p[i];
	CHECK(cudaFree(p));
	printf("sum %u\nexpect kernel spin_share %d\n", sum, devices);
	return 0;
}
