/*
 * Shapes and types of a record's inputs, as Kineto writes them: [[8, 3], [], [3]] and ["float", "", "Scalar"], and the values of inputs
 * that are not tensors.  Where a tensor keeps its sizes is learned with PyTorch's own functions, from the first tensor.
 */
#ifndef INJECT_TORCH_TORCH_INPUTS_H
#define INJECT_TORCH_TORCH_INPUTS_H

#include "inject/core/stream.h"
#include "inject/torch/torch_abi.h"
#include "inject/torch/torch_values.h"

#define TORCH_INPUT_WORDS 192

/* A copy of a record's inputs. */
struct torch_inputs {
	uint64_t words[TORCH_INPUT_WORDS];
	uint32_t n;                     /* words in use; 0: no inputs, or they cannot be read */
	struct torch_values values;
};

/* Call for a new libtorch_cpu: forgets what was learned about its objects. */
void torch_inputs_begin(void);

/* Copies the inputs of a record.  Call outside stream_enter(): calls PyTorch. */
void torch_inputs_read(struct torch_inputs *in, const struct torch *t, const void *record);

/* Interns the two texts and returns their string ids; 0: no inputs, or no memory. */
void torch_inputs_intern(struct stream *s, const struct torch_inputs *in, uint32_t *dims, uint32_t *types);

/* Write the texts, cut at size bytes; for torch_inputs_intern() and its test. */
void torch_inputs_dims(const struct torch_inputs *in, char *out, size_t size);
void torch_inputs_types(const struct torch_inputs *in, char *out, size_t size);

#endif
