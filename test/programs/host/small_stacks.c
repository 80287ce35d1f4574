/*
 * NVTX on small stacks.
 *	small_stacks use		prints the bytes of stack that each call takes, after a first call on the main thread
 *	small_stacks use-thread		the same for the first calls of a thread
 *	small_stacks first		the same for the first call of the process
 *	small_stacks first-thread N	the first call of the process, on a thread with N bytes
 *	small_stacks thread N		20 threads with N bytes of stack
 *	small_stacks coroutine N	a coroutine with N bytes, after a first call elsewhere
 *	small_stacks handler N		a handler on an alternate signal stack of N bytes, after a first call elsewhere
 */
#include <nvtx3/nvToolsExt.h>

#include "test/programs/measure_stack.h"

static nvtxDomainHandle_t domain;
static nvtxStringHandle_t registered;

static void push(void) { nvtxRangePushA("range"); }
static void pop(void) { nvtxRangePop(); }
static void push_new(void) { static char name[] = "new A"; name[4]++; nvtxRangePushA(name); nvtxRangePop(); }
static void push_wide(void) { nvtxRangePushW(L"wide range"); nvtxRangePop(); }
static void mark(void) { nvtxMarkA("mark"); }
static void start_end(void) { nvtxRangeEnd(nvtxRangeStartA("started")); }
static void make_domain(void) { domain = nvtxDomainCreateW(L"domain"); }
static void make_string(void) { registered = nvtxDomainRegisterStringW(domain, L"registered"); }
static void name_thread(void) { nvtxNameOsThreadA(1, "thread"); }

static void push_registered(void)
{
	nvtxEventAttributes_t a = { .version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE };

	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = registered;
	nvtxDomainRangePushEx(domain, &a);
	nvtxDomainRangePop(domain);
}

static const struct stack_call calls[] = {
	{ "push", push }, { "pop", pop }, { "push_again", push }, { "pop_again", pop }, { "push_wide", push_wide }, { "mark", mark },
	{ "start_end", start_end }, { "make_domain", make_domain }, { "make_string", make_string }, { "push_registered", push_registered },
	{ "name_thread", name_thread }, { "push_new", push_new }, { NULL, NULL },
};

int main(int argc, char **argv)
{
	size_t size = argc > 2 ? (size_t)atoi(argv[2]) : 0;

	if (argc < 2)
		return 2;
	stack_calls = calls;
	if (strcmp(argv[1], "first") == 0) {
		printf("first %zu\n", stack_used(push));
		return 0;
	}
	if (strcmp(argv[1], "first-thread") == 0)
		on_thread(size, everything);
	push_new();
	if (strcmp(argv[1], "use") == 0)
		measure();
	if (strcmp(argv[1], "use-thread") == 0)
		on_thread(1 << 20, measure);
	for (int i = 0; i < 20 && strcmp(argv[1], "thread") == 0; i++)
		on_thread(size, everything);
	if (strcmp(argv[1], "coroutine") == 0)
		on_coroutine(size, everything);
	if (strcmp(argv[1], "handler") == 0)
		on_signal_stack(size, everything);
	return 0;
}
