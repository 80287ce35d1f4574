/* One vector addition with its copies.  Prints the rows expected in its trace. */
#include "spin.cuh"

#include <vector>

__global__ void vector_add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

int main()
{
	const int n = 1 << 20;
	std::vector<float> host(n, 1.0f);
	float *a, *b, *c;

	CHECK(cudaMalloc((void **)&a, n * sizeof(float)));
	CHECK(cudaMalloc((void **)&b, n * sizeof(float)));
	CHECK(cudaMalloc((void **)&c, n * sizeof(float)));
	CHECK(cudaMemcpy(a, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(b, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
	CHECK(cudaMemset(c, 0, n * sizeof(float)));
	vector_add<<<(n + 255) / 256, 256>>>(a, b, c, n);
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(host.data(), c, n * sizeof(float), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(a));
	CHECK(cudaFree(b));
	CHECK(cudaFree(c));
	puts("Name,Instances");
	puts("\"vector_add(const float *, const float *, float *, int)\",1");
	puts("memcpy HtoD,2");
	puts("memcpy DtoH,1");
	puts("memset,1");
	printf("bytes HtoD,%zu\n", 2 * n * sizeof(float));
	return 0;
}
