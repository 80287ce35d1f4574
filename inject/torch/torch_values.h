/*
 * Values of operator inputs that are not tensors, as Kineto writes them in Concrete Inputs: ["", "[1, 1]", "False", "0.5"].  A tensor,
 * None, a complex number and anything that is not a number are "".
 */
#ifndef INJECT_TORCH_TORCH_VALUES_H
#define INJECT_TORCH_TORCH_VALUES_H

#include "inject/core/stream.h"
#include "inject/torch/torch_abi.h"

#define TORCH_VALUE_WORDS 160

/* Values of one record, copied. */
struct torch_values {
	uint64_t words[TORCH_VALUE_WORDS];
	uint32_t n;                     /* words in use */
};

/* Append one input: without a value, a number, or a list of n numbers.  bool_tag: the tag of bools. */
void torch_values_none(struct torch_values *to);
void torch_values_number(struct torch_values *to, const struct torch_value *v, uint32_t bool_tag);
void torch_values_list(struct torch_values *to, const struct torch_value *v, uint64_t n, uint32_t bool_tag);

/*
 * Returns the string id of the values' text for the operator of that name; 0: none.  Values may differ at each call (a learning rate, an
 * index): after 32768 texts only convolutions get one, because their FLOP cannot be computed without stride and padding.
 */
uint32_t torch_values_intern(struct stream *s, const struct torch_values *values, const char *name);

/* Writes the text, cut at size bytes; for torch_values_intern() and its test. */
void torch_values_text(const struct torch_values *values, char *out, size_t size);

#endif
