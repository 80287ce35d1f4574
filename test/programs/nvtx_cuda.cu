/* nvtx_cuda [STEPS]: NVTX ranges around launches, STEPS times (3).  Prints the ranges and kernels of its own trace. */
#include "spin.cuh"

#include <nvtx3/nvToolsExt.h>

__global__ void spin_forward(nanoseconds ns)
{
	spin_for(ns);
}

__global__ void spin_backward(nanoseconds ns)
{
	spin_for(ns);
}

static void step(nvtxDomainHandle_t domain)
{
	nvtxEventAttributes_t attr = {};

	attr.version = NVTX_VERSION;
	attr.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	attr.messageType = NVTX_MESSAGE_TYPE_ASCII;
	attr.message.ascii = "backward";
	nvtxRangePushA("step");
	nvtxRangePushA("forward");
	spin_forward<<<1, 32>>>(30000);
	CHECK(cudaGetLastError());
	nvtxRangePop();
	nvtxDomainRangePushEx(domain, &attr);
	spin_backward<<<1, 32>>>(60000);
	spin_backward<<<1, 32>>>(60000);
	CHECK(cudaGetLastError());
	nvtxDomainRangePop(domain);
	CHECK(cudaDeviceSynchronize());
	nvtxRangePop();
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 3;
	nvtxDomainHandle_t domain = nvtxDomainCreateA("train");

	nvtxMarkA("begin");
	for (int i = 0; i < steps; i++)
		step(domain);
	puts("Name,Instances");
	printf("spin_forward(unsigned long long),%d\nspin_backward(unsigned long long),%d\n", steps, 2 * steps);
	printf("range step,%d\nrange forward,%d\nrange train:backward,%d\nmark begin,1\n", steps, steps, steps);
	return 0;
}
