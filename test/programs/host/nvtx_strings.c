/* nvtx_strings STRINGS DOMAINS: STRINGS ranges with distinct names, and DOMAINS domains with one range each. */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int strings = argc > 1 ? atoi(argv[1]) : 0, domains = argc > 2 ? atoi(argv[2]) : 0;
	nvtxEventAttributes_t a = { .version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE };
	char text[64];

	for (int i = 0; i < strings; i++) {
		snprintf(text, sizeof text, "request %d of many", i);
		nvtxRangePushA(text);
		nvtxRangePop();
	}
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = "in";
	for (int i = 0; i < domains; i++) {
		nvtxDomainHandle_t domain;

		snprintf(text, sizeof text, "domain %d", i);
		domain = nvtxDomainCreateA(text);
		nvtxDomainRangePushEx(domain, &a);
		nvtxDomainRangePop(domain);
	}
	return 0;
}
