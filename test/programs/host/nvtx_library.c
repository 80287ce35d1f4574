/* nvtx_library PATH N: loads the stand-in for cuBLAS and calls it N times inside a range of the program. */
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	void (*gemm)(void) = library ? (void (*)(void))dlsym(library, "standin_gemm") : NULL;
	nvtxDomainHandle_t domain = nvtxDomainCreateA("mine");
	nvtxEventAttributes_t a = { .version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE };
	nvtxRangeId_t range;

	if (!gemm) {
		fprintf(stderr, "nvtx_library: %s\n", dlerror());
		return 1;
	}
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = "own domain";
	range = nvtxRangeStartA("all of it");
	nvtxRangePushA("layer");
	nvtxDomainRangePushEx(domain, &a);
	for (int i = 0; i < atoi(argv[2]); i++)
		gemm();
	nvtxDomainRangePop(domain);
	nvtxRangePop();
	nvtxMarkA("done");
	nvtxRangeEnd(range);
	return 0;
}
