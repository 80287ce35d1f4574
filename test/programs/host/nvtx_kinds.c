/*
 * All kinds of NVTX calls.  Prints the ranges expected in its trace as `domain:name,instances`, the form of nvtx_pushpop_sum; start/end
 * ranges and marks have a word in front.
 */
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static nvtxEventAttributes_t attributes(const char *text)
{
	nvtxEventAttributes_t a = { 0 };

	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = text;
	return a;
}

static void default_domain(void)
{
	nvtxNameCategoryA(3, "data");
	for (int i = 0; i < 3; i++) {
		nvtxRangePushA("step");
		nvtxRangePushA("forward");
		nvtxRangePop();
		nvtxRangePushW(L"rückwärts");
		nvtxRangePop();
		nvtxRangePop();
	}
	nvtxMarkA("ready");
	nvtxMarkW(L"fertig");
	puts("range :step,3\nrange :forward,3\nrange :rückwärts,3\nmark ready\nmark fertig");
}

static void payloads(nvtxDomainHandle_t domain)
{
	nvtxEventAttributes_t a = attributes("payload");

	a.category = 3;
	a.colorType = NVTX_COLOR_ARGB;
	a.color = 0xff336699;
	for (int type = 1; type <= 6; type++) {
		a.payloadType = type;
		switch (type) {
		case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64: a.payload.ullValue = 18446744073709551615ull; break;
		case NVTX_PAYLOAD_TYPE_INT64:          a.payload.llValue = -5; break;
		case NVTX_PAYLOAD_TYPE_DOUBLE:         a.payload.dValue = 0.25; break;
		case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32: a.payload.ullValue = 4294967295u; break;
		case NVTX_PAYLOAD_TYPE_INT32:          a.payload.ullValue = 0; a.payload.iValue = -7; break;
		case NVTX_PAYLOAD_TYPE_FLOAT:          a.payload.ullValue = 0; a.payload.fValue = 1.5f; break;
		}
		nvtxDomainRangePushEx(domain, &a);
		nvtxDomainRangePop(domain);
	}
	puts("range train:payload,6");
}

static nvtxRangeId_t handed_over;

static void *ends_it(void *arg)
{
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "finisher");
	nvtxRangeEnd(handed_over);
	nvtxRangePushA("in thread");
	nvtxRangePop();
	return arg;
}

int main(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("train");
	nvtxDomainHandle_t again = nvtxDomainCreateA("train");
	nvtxStringHandle_t registered = nvtxDomainRegisterStringA(domain, "registered");
	nvtxEventAttributes_t a = attributes(NULL);
	pthread_t thread;

	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "main loop");
	default_domain();
	payloads(domain);
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = registered;
	nvtxDomainRangePushEx(again, &a);
	nvtxDomainRangePop(domain);
	nvtxDomainMarkEx(domain, &a);
	puts("range train:registered,1\nmark registered");

	handed_over = nvtxRangeStartA("across threads");
	pthread_create(&thread, NULL, ends_it, NULL);
	pthread_join(thread, NULL);
	puts("startend across threads\nrange :in thread,1");

	/* Ranges of two domains interleave; there is one pop too many. */
	nvtxRangePushA("outer");
	a = attributes("inner");
	nvtxDomainRangePushEx(domain, &a);
	nvtxRangePop();
	nvtxDomainRangePop(domain);
	nvtxRangePop();
	puts("range :outer,1\nrange train:inner,1");
	nvtxDomainDestroy(domain);
	return 0;
}
