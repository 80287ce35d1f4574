/*
 * The interface of libtorch_cpu for observers, as declared in C: at::addGlobalCallback() of ATen/record_function.h.  The struct is the same
 * from PyTorch 2.0 to 2.15 (compiled against five of them); torch_self_test.c finds what differs.
 */
#ifndef INJECT_TORCH_TORCH_ABI_H
#define INJECT_TORCH_TORCH_ABI_H

#include <stddef.h>
#include <stdint.h>

/* at::RecordScope */
enum torch_scope {
	TORCH_FUNCTION = 0, TORCH_BACKWARD = 1, TORCH_USER = 7, TORCH_STATIC_OP = 8, TORCH_STATIC_MODEL = 9, TORCH_SCOPES = 10,
};

/* at::RecordFunctionCallback, passed by value: it has more than 16 bytes, so the caller copies it to the stack, as in C. */
struct torch_callback {
	void *(*start)(void **context, const void *record);     /* stores the context, returns `context` */
	void (*end)(const void *record, void *context);
	double probability;
	uint8_t scopes[TORCH_SCOPES];
	uint8_t inputs, outputs, ids;
};

_Static_assert(sizeof(struct torch_callback) == 40, "as PyTorch has it");

/* std::variant<std::string_view, reference_wrapper<FunctionSchema const>> that holds a string_view; libstdc++'s layout. */
struct torch_text {
	size_t length;
	const char *text;
	uint8_t index;
};

/* Offsets in at::RecordFunction, the same in all versions.  Inputs are relative to sequence_nr_, whose offset torch_self_test.c finds. */
#define TORCH_THREAD        0x58        /* uint64_t: PyTorch's number of the thread */
#define TORCH_SCOPE         0x60        /* uint8_t */
#define TORCH_INPUTS        8           /* from the sequence number on: address of the inputs, then their number */
#define TORCH_INPUT_COUNT   16

/* c10::IValue: payload, then its tag. */
struct torch_value {
	uint64_t payload;
	uint32_t tag, rest;
};

enum torch_tag { TORCH_TENSOR = 1, TORCH_DOUBLE = 3, TORCH_COMPLEX = 4, TORCH_INT = 5 };

/* vtable of an object of which only the two destructors are called. */
struct torch_vtable {
	void *offset, *type;
	void (*destroy)(void *), (*delete)(void *);
};

/* A libtorch_cpu: its functions, and offsets in its records. */
struct torch {
	uint64_t (*add)(struct torch_callback callback);
	void (*remove)(uint64_t handle);
	const char *(*name)(const void *record);
	void *(*step_callbacks)(void *result, uint8_t scope);
	void (*construct)(void *record, uint8_t scope);
	void (*destruct)(void *record);
	void (*before)(void *record, struct torch_text name, int64_t sequence);         /* used if not NULL, else before_old */
	void (*before_old)(void *record, const char *name, int64_t sequence);
	/* Optional, NULL if missing: */
	const char *(*overload)(const void *record);
	_Bool (*is_async)(const void *record);
	uint64_t (*version)(void);
	int32_t (*dim)(const void *tensor, int64_t *n);
	int32_t (*sizes)(const void *tensor, int64_t **sizes);
	int32_t (*dtype)(const void *tensor, int32_t *dtype);
	const void *undefined;          /* c10::UndefinedTensorImpl: stands for no tensor */
	uint32_t sequence;              /* offset of the sequence number in a record */
	uint32_t forward_thread;        /* offset of the forward thread in a record; 0: unknown */
};

#endif
