/*
 * launches: every way to launch a kernel, into streams of every priority: <<<>>>, cooperatively, in clusters, with attributes.  A kind
 * that the GPU refuses (clusters before compute capability 9.0) is left out.  Prints how many of each kind there were.
 */
#include "spin.cuh"

__global__ void spin_plain(nanoseconds ns)
{
	spin_for(ns);
}

__global__ void spin_together(nanoseconds ns)
{
	spin_for(ns);
}

__global__ void spin_clusters(nanoseconds ns)
{
	spin_for(ns);
}

static int launch_clusters(cudaStream_t stream)
{
	cudaLaunchAttribute attribute[1];
	cudaLaunchConfig_t config = {};

	attribute[0].id = cudaLaunchAttributeClusterDimension;
	attribute[0].val.clusterDim = { 2, 2, 1 };
	config.gridDim = dim3(4, 4, 1);
	config.blockDim = dim3(32);
	config.dynamicSmemBytes = 256;
	config.stream = stream;
	config.attrs = attribute;
	config.numAttrs = 1;
	if (cudaLaunchKernelEx(&config, spin_clusters, (nanoseconds)20000) == cudaSuccess)
		return 1;
	cudaGetLastError();
	return 0;
}

int main()
{
	int least, greatest, n = 0, together = 0, clusters = 0;
	nanoseconds ns = 20000;
	void *args[] = { &ns };

	CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	for (int priority = least; priority >= greatest; priority--, n++) {
		cudaStream_t stream;

		CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
		spin_plain<<<dim3(2, 3, 4), dim3(8, 4, 2), 128, stream>>>(ns);
		CHECK(cudaGetLastError());
		if (cudaLaunchCooperativeKernel((const void *)spin_together, dim3(2), dim3(64), args, 0, stream) == cudaSuccess)
			together++;
		cudaGetLastError();
		clusters += launch_clusters(stream);
		CHECK(cudaStreamSynchronize(stream));
		CHECK(cudaStreamDestroy(stream));
	}
	puts("Name,Instances");
	printf("spin_plain(unsigned long long),%d\nstreams,%d\npriorities,%d to %d\n", n, n, least, greatest);
	printf("expect kernel spin_plain %d\nexpect kernel spin_together %d\nexpect kernel spin_clusters %d\n", n, together, clusters);
	return 0;
}
