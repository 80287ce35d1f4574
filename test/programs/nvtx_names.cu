/* nvtx_names: names a device, a context, two streams and an event with every NVTX function for names.  Prints type|id is known|name. */
#include "spin.cuh"

#include <cuda.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>

__global__ void spin_named(nanoseconds ns)
{
	spin_for(ns);
}

static nvtxResourceHandle_t resource(nvtxDomainHandle_t domain, int type, const void *handle, const char *name)
{
	nvtxResourceAttributes_t a = {};

	a.version = NVTX_VERSION;
	a.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
	a.identifierType = type;
	a.identifier.pValue = handle;
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = name;
	return nvtxDomainResourceCreate(domain, &a);
}

int main(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("names");
	cudaStream_t first, second, third;
	cudaEvent_t event;
	int value;

	CHECK(cudaSetDevice(0));
	CHECK(cudaStreamCreate(&first));
	CHECK(cudaStreamCreate(&second));
	CHECK(cudaStreamCreate(&third));
	CHECK(cudaEventCreate(&event));
	nvtxNameCudaDeviceA(0, "the \"big\" one");
	nvtxNameCudaStreamA(first, "copy");
	nvtxNameCuStreamA((CUstream)second, "compute");
	nvtxNameCudaEventA(event, "ready");
	nvtxDomainResourceDestroy(resource(domain, NVTX_RESOURCE_TYPE_CUDART_STREAM, third, "third"));
	resource(domain, NVTX_RESOURCE_TYPE_GENERIC_POINTER, &value, "a value");
	spin_named<<<1, 32, 0, first>>>(10000);
	spin_named<<<1, 32, 0, second>>>(10000);
	spin_named<<<1, 32, 0, third>>>(10000);
	CHECK(cudaDeviceSynchronize());
	puts("CUDA device|known|the \"big\" one\nCUDA stream|known|copy\nCUDA stream|known|compute\nCUDA event||ready\n"
	     "CUDA stream|known|third\npointer||a value\nexpect kernel spin_named 3");
	return 0;
}
