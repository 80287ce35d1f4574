/*
 * A stand-in for libtorch_cpu: the parts that observers use, with PyTorch's symbols and layouts.  -DOLD: as PyTorch 2.0 to 2.4; otherwise
 * as 2.9 and later.  The other switches make versions that must be refused.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/programs/libtorch/standin.h"

#ifdef OLD
#define SEQUENCE 0xb0
#define FORWARD  0xe0
#define HANDLE   0xe8
#else
#define SEQUENCE 0xc8
#define FORWARD  0x130
#define HANDLE   0x138
#endif
#define MAX 8

struct pair {
	void *(*start)(void **context, const void *record);
	void (*end)(const void *record, void *context);
};

struct callback {
	struct pair pair;
	double probability;
	uint8_t scopes[10], inputs, outputs, ids;
};

struct steps {                          /* at::StepCallbacks */
	struct pair *begin;
	uint32_t size, capacity;
	struct pair pairs[4];
	uint64_t thread;
	uint8_t scope, inputs, outputs, ids, pad[4];
};
_Static_assert(offsetof(struct steps, scope) == 0x58 && sizeof(struct steps) == 0x60, "as PyTorch has it");

static struct {
	struct callback callback;
	uint64_t handle;
} registered[MAX];
static int n_registered;
static uint64_t last_handle;
static _Thread_local uint64_t thread;

uint64_t _ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE(struct callback c);
void _ZN2at14removeCallbackEm(uint64_t handle);
void *_ZN2at16getStepCallbacksENS_11RecordScopeE(void *result, uint8_t scope);
void _ZN2at14RecordFunctionC1ENS_11RecordScopeE(void *record, uint8_t scope);
void _ZN2at14RecordFunctionD1Ev(void *record);
const char *_ZNK2at14RecordFunction4nameEv(const void *record);
bool _ZNK2at14RecordFunction7isAsyncEv(const void *record);

uint64_t _ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE(struct callback c)
{
	if (n_registered == MAX)
		abort();
	registered[n_registered].callback = c;
	return registered[n_registered++].handle = ++last_handle;
}

void _ZN2at14removeCallbackEm(uint64_t handle)
{
	for (int i = 0; i < n_registered; i++) {
		if (registered[i].handle != handle)
			continue;
		memmove(registered + i, registered + i + 1, (size_t)(--n_registered - i) * sizeof *registered);
		return;
	}
	fprintf(stderr, "Requested callback is not found\n");
}

void *_ZN2at16getStepCallbacksENS_11RecordScopeE(void *result, uint8_t scope)
{
	static _Thread_local uint64_t threads;
	struct steps *s = result;

	memset(s, 0, sizeof *s);
	s->begin = s->pairs;
	s->capacity = 4;
	s->scope = scope;
	if (!thread)
		thread = __atomic_add_fetch(&last_handle, 1, __ATOMIC_RELAXED) + threads;
	s->thread = thread;
	for (int i = 0; i < n_registered; i++) {
		const struct callback *c = &registered[i].callback;
#ifdef MORE_SCOPES
		const uint8_t *needs = (const uint8_t *)c + offsetof(struct callback, inputs) + 1;
		bool on = c->scopes[scope + 1];
#else
		const uint8_t *needs = &c->inputs;
		bool on = c->scopes[scope];
#endif
		if (!on || s->size == 4)
			continue;
		s->pairs[s->size++] = c->pair;
		s->inputs |= needs[0];
		s->outputs |= needs[1];
		s->ids |= needs[2];
	}
	return result;
}

static struct steps *steps_of(const void *record)
{
	return (struct steps *)((char *)record + 8);
}

/* Follows the step callbacks in a record: contexts, name, flags that tests set. */
struct inner {
	void *contexts[4];
	char *name;
	bool active, async;
};
_Static_assert(0x68 + sizeof(struct inner) <= 0xb0, "before the sequence number");

static struct inner *inner_of(const void *record)
{
	return (struct inner *)((char *)record + 0x68);
}

void _ZN2at14RecordFunctionC1ENS_11RecordScopeE(void *record, uint8_t scope)
{
	static uint64_t numbers;

	memset(record, 0, STANDIN_RECORD);
	*(const void **)record = &numbers;      /* table of virtual functions */
	_ZN2at16getStepCallbacksENS_11RecordScopeE(steps_of(record), scope);
	if (steps_of(record)->ids)
		*(uint64_t *)((char *)record + HANDLE) = 1000 + __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
}

static void before(void *record, const char *name, size_t n, int64_t sequence)
{
	struct steps *s = steps_of(record);
	struct inner *in = inner_of(record);

	if (!s->size)
		return;
	in->name = strndup(name, n);
	in->active = true;
	*(int64_t *)((char *)record + SEQUENCE) = sequence;
	s->begin = s->pairs;
	for (uint32_t i = 0; i < s->size; i++) {
		s->pairs[i].start(&in->contexts[i], record);
#ifdef STARTS_TWICE
		s->pairs[i].start(&in->contexts[i], record);
#endif
	}
}

#ifdef OLD
void _ZN2at14RecordFunction6beforeEPKcl(void *record, const char *name, int64_t sequence);
void _ZN2at14RecordFunction6beforeEPKcl(void *record, const char *name, int64_t sequence)
{
	before(record, name, strlen(name), sequence);
}
#else
struct text {
	size_t n;
	const char *p;
	uint8_t index;
};
#define BEFORE _ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_viewIcSt11char_traitsIcEESt17reference_wrapperIKN3c1014FunctionSchemaEEEEl
void BEFORE(void *record, struct text name, int64_t sequence);
void BEFORE(void *record, struct text name, int64_t sequence)
{
	before(record, name.p, name.n, sequence);
}

const char *_ZNK2at14RecordFunction13overload_nameEv(const void *record);
const char *_ZNK2at14RecordFunction13overload_nameEv(const void *record)
{
	return strcmp(inner_of(record)->name, "aten::add") == 0 ? "Tensor" : "";
}

uint64_t aoti_torch_abi_version(void);
uint64_t aoti_torch_abi_version(void)
{
#ifdef VERSION_3
	return 3ull << 56;
#else
	return 2ull << 56 | 13ull << 48;
#endif
}
#endif

/* Deletes a C++ object; the second entry of its table is the deleting destructor. */
static void delete(void *context)
{
	if (context)
		(*(void (***)(void *))context)[1](context);
}

void _ZN2at14RecordFunctionD1Ev(void *record)
{
	struct steps *s = steps_of(record);
	struct inner *in = inner_of(record);

	for (uint32_t i = 0; in->active && i < s->size; i++)
		s->pairs[i].end(record, in->contexts[i]);
	for (uint32_t i = 0; in->active && i < s->size; i++)
		delete(in->contexts[i]);
	free(in->name);
	in->active = false;
	in->name = NULL;
}

#ifdef NO_NAME
#define NAME standin_name
const char *standin_name(const void *record);
#else
#define NAME _ZNK2at14RecordFunction4nameEv
#endif
const char *NAME(const void *record)
{
#ifdef OTHER_NAME
	(void)record;
	return "something else";
#else
	return inner_of(record)->name;
#endif
}

bool _ZNK2at14RecordFunction7isAsyncEv(const void *record)
{
	return inner_of(record)->async;
}

/* ---- functions for the test program ---- */

void *standin_begin(int scope, const char *name, int64_t sequence, uint64_t forward_thread, bool async)
{
	char *record = malloc(STANDIN_RECORD);

	if (!record)
		abort();
	_ZN2at14RecordFunctionC1ENS_11RecordScopeE(record, (uint8_t)scope);
	inner_of(record)->async = async;
	*(uint64_t *)(record + FORWARD) = forward_thread;
	before(record, name, strlen(name), sequence);
	return record;
}

void standin_end(void *record)
{
	_ZN2at14RecordFunctionD1Ev(record);
	free(record);
}

void standin_clear(void)
{
	n_registered = 0;
}

int standin_observers(void)
{
	return n_registered;
}

/* An initialiser that calls __cxa_atexit(), as in C++ libraries. */
static void at_end(void)
{
}

__attribute__((constructor)) static void initialise(void)
{
	atexit(at_end);
}
