/*
 * copies: copies from and to pageable, pinned, registered, managed and device memory, synchronous and asynchronous, on one device and, if
 * there are two, between them; and memory sets.  Prints the number of each kind.
 */
#include "spin.cuh"

#include <vector>

#define BYTES ((size_t)64 << 10)

static void peer(cudaStream_t stream, int *n)
{
	int devices;
	void *here, *there;

	CHECK(cudaGetDeviceCount(&devices));
	if (devices < 2)
		return;
	CHECK(cudaMalloc(&here, BYTES));
	CHECK(cudaSetDevice(1));
	CHECK(cudaMalloc(&there, BYTES));
	CHECK(cudaSetDevice(0));
	CHECK(cudaMemcpyPeerAsync(there, 1, here, 0, BYTES, stream));
	CHECK(cudaStreamSynchronize(stream));
	*n = 1;
}

int main()
{
	std::vector<char> pageable(BYTES), registered(BYTES);
	void *pinned, *device, *other, *managed;
	cudaStream_t stream;
	int n_peer = 0;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaMallocHost(&pinned, BYTES));
	CHECK(cudaHostRegister(registered.data(), BYTES, 0));
	CHECK(cudaMalloc(&device, BYTES));
	CHECK(cudaMalloc(&other, BYTES));
	CHECK(cudaMallocManaged(&managed, BYTES));

	CHECK(cudaMemcpy(device, pageable.data(), BYTES, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(pageable.data(), device, BYTES, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
	CHECK(cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, stream));
	CHECK(cudaMemcpyAsync(device, registered.data(), BYTES, cudaMemcpyHostToDevice, stream));
	CHECK(cudaMemcpyAsync(device, pageable.data(), BYTES, cudaMemcpyHostToDevice, stream));
	CHECK(cudaMemcpyAsync(other, device, BYTES, cudaMemcpyDeviceToDevice, stream));
	CHECK(cudaMemcpyAsync(device, managed, BYTES, cudaMemcpyDefault, stream));
	CHECK(cudaMemset(device, 1, BYTES));
	CHECK(cudaMemsetAsync(other, 2, BYTES, stream));
	CHECK(cudaStreamSynchronize(stream));
	peer(stream, &n_peer);

	CHECK(cudaHostUnregister(registered.data()));
	CHECK(cudaFreeHost(pinned));
	CHECK(cudaFree(managed));
	printf("copies,8\npeer copies,%d\nmemory sets,2\n", n_peer);
	printf("expect api cudaMemcpyAsync 6\nexpect api cudaMemcpy 2\n");
	return 0;
}
