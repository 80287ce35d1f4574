/*
 * launches [N]: all kinds of launches, N times each (5): plain, with static and dynamic shared memory, in three dimensions, cooperative, in
 * clusters if the GPU supports them, on streams of the lowest and highest priority; copies on the device, and to a second device if there
 * is one; memory sets.  Prints the rows expected in its trace.
 */
#include "spin.cuh"

__global__ void spin_plain(nanoseconds ns)
{
	spin_for(ns);
}

__global__ void spin_shared(nanoseconds ns, int *out)
{
	__shared__ int fixed[64];
	extern __shared__ int more[];

	fixed[threadIdx.x % 64] = more[threadIdx.x % 16] = (int)ns;
	__syncthreads();
	if (out)
		out[0] = fixed[0] + more[0];
	spin_for(ns);
}

__global__ void spin_cooperative(nanoseconds ns)
{
	spin_for(ns);
}

__global__ void spin_cluster(nanoseconds ns)
{
	spin_for(ns);
}

__global__ void spin_urgent(nanoseconds ns)
{
	spin_for(ns);
}

/* Clusters need a GPU and a binary that support them. */
static bool launch_cluster(nanoseconds ns)
{
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute attribute = {};

	attribute.id = cudaLaunchAttributeClusterDimension;
	attribute.val.clusterDim.x = 2;
	attribute.val.clusterDim.y = 1;
	attribute.val.clusterDim.z = 1;
	config.gridDim = dim3(4);
	config.blockDim = dim3(32);
	config.attrs = &attribute;
	config.numAttrs = 1;
	if (cudaLaunchKernelEx(&config, spin_cluster, ns) == cudaSuccess)
		return true;
	cudaGetLastError();
	return false;
}

static int copy_to_peer(const void *from, size_t bytes)
{
	int devices = 0;
	void *there;

	CHECK(cudaGetDeviceCount(&devices));
	if (devices < 2)
		return 0;
	CHECK(cudaSetDevice(1));
	CHECK(cudaMalloc(&there, bytes));
	CHECK(cudaSetDevice(0));
	CHECK(cudaMemcpyPeerAsync(there, 1, from, 0, bytes, 0));
	return 1;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 5, clusters = 0, peers, low, high;
	const size_t bytes = 1 << 20;
	nanoseconds ns = 5000;
	void *arguments[] = { &ns };
	cudaStream_t slow, urgent;
	char *a, *b;

	CHECK(cudaMalloc((void **)&a, bytes));
	CHECK(cudaMalloc((void **)&b, bytes));
	CHECK(cudaDeviceGetStreamPriorityRange(&low, &high));
	CHECK(cudaStreamCreateWithPriority(&slow, cudaStreamNonBlocking, low));
	CHECK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, high));
	CHECK(cudaMemsetAsync(a, 3, bytes, slow));
	CHECK(cudaStreamSynchronize(slow));
	for (int i = 0; i < n; i++) {
		spin_plain<<<dim3(1 + i, 2, 3), dim3(8, 4, 2)>>>(ns);
		spin_shared<<<2, 64, 1024 * (i + 1), slow>>>(ns, nullptr);
		CHECK(cudaLaunchCooperativeKernel((const void *)spin_cooperative, dim3(2), dim3(32), arguments, 0, slow));
		clusters += launch_cluster(ns);
		spin_urgent<<<1, 32, 0, urgent>>>(ns);
		CHECK(cudaGetLastError());
		CHECK(cudaMemcpyAsync(b, a, bytes / (i + 1), cudaMemcpyDeviceToDevice, slow));
	}
	CHECK(cudaDeviceSynchronize());
	peers = copy_to_peer(a, bytes);
	CHECK(cudaMemset(a, 1, 4096));
	CHECK(cudaMemset(b, 2, 64));
	CHECK(cudaDeviceSynchronize());
	puts("Name,Instances");
	printf("spin_plain(unsigned long long),%d\n", n);
	printf("spin_cooperative(unsigned long long),%d\nspin_urgent(unsigned long long),%d\n", n, n);
	if (clusters)
		printf("spin_cluster(unsigned long long),%d\n", clusters);
	printf("memset,3\n");
	fprintf(stderr, "%d copies on the device, %d to a peer\n", n, peers);
	return 0;
}
