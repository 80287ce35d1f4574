/*
 * Number of floating point operations of PyTorch operators, from their inputs.  No state, no I/O.
 *
 * Formulas and results are those of torch.utils.flop_counter (PyTorch 2.13): a multiply-add counts 2, a bias 0, causal attention counts
 * as full attention.
 */
#ifndef CLI_MODEL_TORCH_FLOPS_H
#define CLI_MODEL_TORCH_FLOPS_H

#include <stdbool.h>
#include <stdint.h>

enum flop_rule {
	FLOPS_NONE, FLOPS_MM, FLOPS_ADDMM, FLOPS_BMM, FLOPS_BADDBMM, FLOPS_ATTENTION, FLOPS_ATTENTION_BACKWARD,
	/* One formula; they differ in the positions of stride, padding etc. among the inputs. */
	FLOPS_CONV, FLOPS_CONV_CUDNN, FLOPS_CONV_SLOW,
	FLOPS_CONV_BACKWARD,
};

static inline bool flops_is_convolution(enum flop_rule rule)
{
	return rule >= FLOPS_CONV;
}

/* The rule for an operator's name; FLOPS_NONE: no formula. */
enum flop_rule flop_rule_of(const char *name);

#define FLOP_INPUTS 8u
#define FLOP_DIMS   8u

struct shape {
	unsigned n;
	uint64_t of[FLOP_DIMS];
};

/*
 * Parses shapes as Kineto writes them, "[[8, 3], [], [3]]", of the first FLOP_INPUTS inputs; returns their number, 0 if text is not such a
 * list.  An input that is a list of tensors or has too many dimensions gets a shape without dimensions.
 */
unsigned shapes_parse(const char *text, struct shape shapes[FLOP_INPUTS]);

/* Computes *flops from the shapes of the inputs (as for shapes_parse()).  False: the shapes do not fit the rule's formula. */
bool flops_of(enum flop_rule rule, const char *dims, uint64_t *flops);

/*
 * Computes *flops of a convolution or its backward pass.  values: the inputs that are not tensors (Kineto's Concrete Inputs).  False: they
 * do not contain stride, padding etc., or do not fit.
 */
bool flops_of_convolution(enum flop_rule rule, const char *dims, const char *values, uint64_t *flops);

/* Computes *flops of a convolution from the shapes of its inputs and its output.  False: they do not fit. */
bool flops_of_convolution_into(const char *dims, const struct shape *output, bool transposed, uint64_t *flops);

/* Multiplies *product by factor; false: overflow. */
bool flops_times(uint64_t *product, uint64_t factor);

#endif
