/*
 * How many floating point operations an operator of PyTorch takes, by its inputs.  Pure.
 *
 * The formulas are those of torch.utils.flop_counter (PyTorch 2.13), so that the numbers are the same: a multiplication and an
 * addition are two, a bias is none, causal attention counts as if it were not.
 */
#ifndef MODEL_FLOPS_H
#define MODEL_FLOPS_H

#include <stdbool.h>
#include <stdint.h>

enum flop_rule {
	FLOPS_NONE, FLOPS_MM, FLOPS_ADDMM, FLOPS_BMM, FLOPS_BADDBMM, FLOPS_ATTENTION, FLOPS_ATTENTION_BACKWARD,
	/* The same formula; where stride, padding and the like stand among the inputs is not the same. */
	FLOPS_CONV, FLOPS_CONV_CUDNN, FLOPS_CONV_SLOW,
	FLOPS_CONV_BACKWARD,
};

static inline bool flops_is_convolution(enum flop_rule rule)
{
	return rule >= FLOPS_CONV;
}

/* FLOPS_NONE: there is no formula for it. */
enum flop_rule flop_rule_of(const char *name);

#define FLOP_INPUTS 8u
#define FLOP_DIMS   8u

struct shape {
	unsigned n;
	uint64_t of[FLOP_DIMS];
};

/*
 * Shapes as Kineto writes them, "[[8, 3], [], [3]]": of the first FLOP_INPUTS inputs.  Their number; what is no such list, a
 * list of tensors or has too many dimensions has none.
 */
unsigned shapes_parse(const char *text, struct shape shapes[FLOP_INPUTS]);

/* False: the shapes do not fit the formula.  dims: of the inputs. */
bool flops_of(enum flop_rule rule, const char *dims, uint64_t *flops);

/*
 * Of a convolution or its backward pass; values: of the inputs that are no tensors (Kineto's Concrete Inputs).  False: they do not say it, or do
 * not fit.
 */
bool flops_of_convolution(enum flop_rule rule, const char *dims, const char *values, uint64_t *flops);

/* Of a convolution of which the shape of its output is known instead. */
bool flops_of_convolution_into(const char *dims, const struct shape *output, bool transposed, uint64_t *flops);

/* *product times factor; false: too large. */
bool flops_times(uint64_t *product, uint64_t factor);

#endif
