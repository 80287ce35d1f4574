/*
 * Shapes and types of a record's inputs, as Kineto writes them: [[8, 3], [], [3]] and ["float", "", "Scalar"], and what they are where they are no
 * tensors.  Where sizes lie in a tensor is found out with PyTorch's own functions, at the first tensor that comes.
 */
#ifndef INJECT_TORCH_INPUTS_H
#define INJECT_TORCH_INPUTS_H

#include "inject/stream.h"
#include "inject/torch_abi.h"
#include "inject/torch_values.h"

#define TORCH_INPUT_WORDS 192

/* The inputs of a record, copied: outside of the stream, as PyTorch's code is called; nothing is found in it later. */
struct torch_inputs {
	uint64_t words[TORCH_INPUT_WORDS];
	uint32_t n;                     /* words; 0: there are no inputs, or they cannot be read */
	struct torch_values values;
};

/* Another libtorch_cpu: nothing is known of its objects yet. */
void torch_inputs_begin(void);

void torch_inputs_read(struct torch_inputs *in, const struct torch *t, const void *record);

/* Ids of the two texts; 0: there are none. */
void torch_inputs_intern(struct stream *s, const struct torch_inputs *in, uint32_t *dims, uint32_t *types);

/* The texts themselves, cut at size; for intern and its test. */
void torch_inputs_dims(const struct torch_inputs *in, char *out, size_t size);
void torch_inputs_types(const struct torch_inputs *in, char *out, size_t size);

#endif
