/*
 * What PyTorch's operators are given besides tensors, as Kineto writes it in Concrete Inputs: ["", "[1, 1]", "False", "0.5"].  A tensor, None, what is
 * no number and a complex number are "".
 */
#ifndef INJECT_TORCH_VALUES_H
#define INJECT_TORCH_VALUES_H

#include "inject/stream.h"
#include "inject/torch_abi.h"

#define TORCH_VALUE_WORDS 160

/* Of one record, copied. */
struct torch_values {
	uint64_t words[TORCH_VALUE_WORDS];
	uint32_t n;                     /* words */
};

/* Each adds one input. */
void torch_values_none(struct torch_values *to);
void torch_values_number(struct torch_values *to, const struct torch_value *v, uint32_t bool_tag);
void torch_values_list(struct torch_values *to, const struct torch_value *v, uint64_t n, uint32_t bool_tag);

/*
 * Id of their text, for the operator of that name; 0: there is none.  They may be new with every call (a learning rate, an index): beyond a
 * number of texts only convolutions get them, of which without stride and padding nobody can say what they took.
 */
uint32_t torch_values_intern(struct stream *s, const struct torch_values *values, const char *name);

/* The text, cut at size; for intern and its test. */
void torch_values_text(const struct torch_values *values, char *out, size_t size);

#endif
