/*
 * What the points of docs/howto/check-a-gpu.md ask, one at a time.  Prints figures and what a trace of it must hold.
 *
 * points threads N K   N threads launch K kernels each, on streams of their own
 * points short N       N threads, 32 at a time, launch one kernel each and end
 * points latency N     N threads at once, each its first launch: what it took, and the resident memory then
 * points graph N L     a graph of N empty kernels in a row, launched L times, and a second one made of it
 * points retain N      the primary context retained and released N times, with work in between
 * points events        an event recorded on a stream of device 1 while device 0 is current
 * points capture       events recorded on the legacy stream while another thread captures a stream
 * points second        subscribes to CUPTI a second time, as a profiler in the program does: prints what it is told
 * points reset         cudaDeviceReset() with work in flight
 */
#include "client.h"
#include "expect.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cuda.h>
#include <string>
#include <thread>
#include <vector>

extern "C" __global__ void nothing()
{
}

/* On the simulated GPU the name says that the argument is how long it runs. */
extern "C" __global__ void spin_points(unsigned long long ns)
{
	long long start = clock64();

	while (clock64() - start < (long long)ns)
		;
}

static double us_since(std::chrono::steady_clock::time_point start)
{
	return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

static long resident_kb()
{
	long pages = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%ld %ld", &pages, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void expect(int kernels)
{
	printf("expect kernels %d\nexpect kernel nothing %d\nexpect api cudaLaunchKernel %d\n", kernels, kernels, kernels);
}

static int threads(int n, int k)
{
	std::vector<std::thread> all;

	for (int i = 0; i < n; i++)
		all.emplace_back([k] {
			cudaStream_t stream;

			OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
			for (int j = 0; j < k; j++)
				nothing<<<1, 1, 0, stream>>>();
			OK(cudaStreamSynchronize(stream));
			OK(cudaStreamDestroy(stream));
		});
	for (auto &t : all)
		t.join();
	expect(n * k);
	return 0;
}

static int short_lived(int n)
{
	for (int done = 0; done < n; done += 32) {
		std::vector<std::thread> some;

		for (int i = done; i < n && i < done + 32; i++)
			some.emplace_back([] { nothing<<<1, 1>>>(); });
		for (auto &t : some)
			t.join();
	}
	OK(cudaDeviceSynchronize());
	expect(n);
	return 0;
}

static int latency(int n)
{
	std::vector<double> us(n);
	std::vector<std::thread> all;
	std::atomic<int> ready{0};

	OK(cudaFree(0));
	nothing<<<1, 1>>>();
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < n; i++)
		all.emplace_back([&, i] {
			ready++;
			while (ready < n)
				std::this_thread::yield();
			auto start = std::chrono::steady_clock::now();
			nothing<<<1, 1>>>();
			us[i] = us_since(start);
		});
	for (auto &t : all)
		t.join();
	OK(cudaDeviceSynchronize());
	std::sort(us.begin(), us.end());
	printf("figure us_first_launch %.1f\nfigure us_first_launch_most %.1f\nfigure resident_kb %ld\n", us[n / 2], us[n - 1], resident_kb());
	expect(n + 1);
	return 0;
}

static int graph(int nodes, int launches)
{
	cudaGraphExec_t exec[2];
	cudaStream_t stream;
	cudaGraph_t made;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < nodes; i++)
		nothing<<<1, 1, 0, stream>>>();
	OK(cudaStreamEndCapture(stream, &made));
	for (auto &e : exec)
		OK(cudaGraphInstantiate(&e, made, 0));
	auto start = std::chrono::steady_clock::now();
	for (int i = 0; i < launches; i++)
		OK(cudaGraphLaunch(exec[i % 2], stream));
	OK(cudaStreamSynchronize(stream));
	printf("figure us_per_launch %.1f\n", us_since(start) / launches);
	printf("expect graph_kernels %d\nexpect api cudaGraphLaunch %d\ndid nodes %d\n", nodes * launches, launches, nodes);
	return 0;
}

#define DRIVER(fn) auto p_##fn = (__typeof__(&fn))dlsym(dlopen("libcuda.so.1", RTLD_NOW), #fn)

static int retain(int n)
{
	DRIVER(cuDevicePrimaryCtxRetain);
	auto p_release = (CUresult(*)(CUdevice))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuDevicePrimaryCtxRelease_v2");
	CUcontext context;

	if (!p_cuDevicePrimaryCtxRetain || !p_release)
		return 2;
	OK(cudaFree(0));
	auto start = std::chrono::steady_clock::now();
	for (int i = 0; i < n; i++) {
		if (p_cuDevicePrimaryCtxRetain(&context, 0) || p_release(0))
			return 3;
		if (i % 100 == 0)
			nothing<<<1, 1>>>();
	}
	printf("figure us_per_pair %.2f\n", us_since(start) / n);
	OK(cudaDeviceSynchronize());
	expect((n + 99) / 100);
	return 0;
}

static int events()
{
	cudaStream_t stream;
	cudaEvent_t event[2];
	float ms;
	int n;

	OK(cudaGetDeviceCount(&n));
	printf("devices %d\n", n);
	if (n < 2)
		return 2;
	OK(cudaSetDevice(1));
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (auto &e : event)
		OK(cudaEventCreate(&e));
	OK(cudaSetDevice(0));
	OK(cudaFree(0));
	OK(cudaEventRecord(event[0], stream));
	OK(cudaSetDevice(1));
	nothing<<<1, 1, 0, stream>>>();
	OK(cudaSetDevice(0));
	OK(cudaEventRecord(event[1], stream));
	OK(cudaEventSynchronize(event[1]));
	OK(cudaEventElapsedTime(&ms, event[0], event[1]));
	expect(1);
	return 0;
}

/* The capture of a thread-local mode must survive what another thread does; records say what its result was. */
static int capture()
{
	std::atomic<bool> capturing{false}, recorded{false};
	cudaError_t record = cudaSuccess, end = cudaSuccess;
	cudaEvent_t event;

	OK(cudaFree(0));
	OK(cudaEventCreate(&event));
	std::thread other([&] {
		cudaStream_t stream;
		cudaGraph_t made = NULL;

		OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
		OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
		nothing<<<1, 1, 0, stream>>>();
		capturing = true;
		while (!recorded)
			std::this_thread::yield();
		nothing<<<1, 1, 0, stream>>>();
		end = cudaStreamEndCapture(stream, &made);
	});
	while (!capturing)
		std::this_thread::yield();
	record = cudaEventRecord(event, 0);
	recorded = true;
	other.join();
	cudaGetLastError();
	printf("capture record %d end %d\n", record, end);
	return 0;
}

static void called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	(void)user, (void)domain, (void)id, (void)data;
}

static int second()
{
	CUpti_SubscriberHandle handle;

	nothing<<<1, 1>>>();
	OK(cudaDeviceSynchronize());
	auto subscribe = (CUptiResult(*)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *))dlsym(client_open_cupti(), "cuptiSubscribe");
	if (!subscribe)
		return 2;
	printf("second %d\n", subscribe(&handle, called, NULL));
	for (int i = 0; i < 99; i++)
		nothing<<<1, 1>>>();
	OK(cudaDeviceSynchronize());
	expect(100);
	return 0;
}

static int reset()
{
	for (int i = 0; i < 100; i++)
		spin_points<<<1, 32>>>(100000);
	OK(cudaDeviceReset());
	puts("did launches 100");
	return 0;
}

int main(int argc, char **argv)
{
	std::string how = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 1, k = argc > 3 ? atoi(argv[3]) : 1;

	return how == "threads"   ? threads(n, k)
	       : how == "short"   ? short_lived(n)
	       : how == "latency" ? latency(n)
	       : how == "graph"   ? graph(n, k)
	       : how == "retain"  ? retain(n)
	       : how == "events"  ? events()
	       : how == "capture" ? capture()
	       : how == "second"  ? second()
	       : how == "reset"   ? reset()
				  : 2;
}
