/* Measures the stack that a function uses, and runs functions on stacks of a given size. */
#ifndef TEST_PROGRAMS_MEASURE_STACK_H
#define TEST_PROGRAMS_MEASURE_STACK_H

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define PATTERN 0x5a

static ucontext_t stack_caller, stack_callee;
static void (*stack_function)(void);

static void stack_begin(void)
{
	stack_function();
}

/* A mapping of whole pages: an inaccessible page, then memory at whose end the stack begins. */
static char *stack_new(size_t size)
{
	size_t pages = (size + 4095) & ~(size_t)4095;
	char *p = mmap(NULL, pages + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + 4096, pages, PROT_READ | PROT_WRITE) < 0) {
		perror("stack_new");
		exit(1);
	}
	return p + 4096 + pages - size;
}

static void run_on(char *stack, size_t size, void (*fn)(void))
{
	getcontext(&stack_callee);
	stack_callee.uc_stack.ss_sp = stack;
	stack_callee.uc_stack.ss_size = size;
	stack_callee.uc_link = &stack_caller;
	stack_function = fn;
	makecontext(&stack_callee, stack_begin, 0);
	swapcontext(&stack_caller, &stack_callee);
}

static void __attribute__((unused)) on_coroutine(size_t size, void (*fn)(void))
{
	run_on(stack_new(size), size, fn);
}

static void do_nothing(void)
{
}

/* Returns the bytes of stack used from the first frame of fn on. */
static size_t __attribute__((unused)) stack_used(void (*fn)(void))
{
	static size_t none;
	static char *stack;
	size_t size = 256 << 10, at = 0;

	if (!stack) {
		stack = stack_new(size);
		none = 1;
		none = stack_used(do_nothing);
	}
	memset(stack, PATTERN, size);
	run_on(stack, size, fn);
	while (at < size && stack[at] == PATTERN)
		at++;
	return size - at - none + (none == 1);
}

/* The calls to measure, in order. */
struct stack_call {
	const char *name;       /* NULL: end of the list */
	void (*fn)(void);
};
static const struct stack_call *stack_calls;

static void __attribute__((unused)) everything(void)
{
	for (const struct stack_call *c = stack_calls; c->name; c++)
		c->fn();
}

static void __attribute__((unused)) measure(void)
{
	for (const struct stack_call *c = stack_calls; c->name; c++)
		printf("%s %zu\n", c->name, stack_used(c->fn));
}

static void (*handler_function)(void);

static void in_handler(int number)
{
	(void)number;
	handler_function();
}

static void __attribute__((unused)) on_signal_stack(size_t size, void (*fn)(void))
{
	stack_t alternate = { .ss_sp = stack_new(size), .ss_size = size };
	struct sigaction action = { .sa_handler = in_handler, .sa_flags = SA_ONSTACK };

	handler_function = fn;
	if (sigaltstack(&alternate, NULL) < 0 || sigaction(SIGUSR1, &action, NULL) < 0)
		exit(1);
	raise(SIGUSR1);
}

static void *in_thread(void *fn)
{
	(*(void (**)(void))fn)();
	return NULL;
}

static void __attribute__((unused)) on_thread(size_t size, void (*fn)(void))
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	if (pthread_attr_setstacksize(&attr, size) != 0 || pthread_create(&thread, &attr, in_thread, &fn) != 0)
		exit(1);
	pthread_join(thread, NULL);
}

#endif
