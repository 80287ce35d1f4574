/* Convolutions: output shape from stride, padding and dilation; backward pass from the requested gradients. */
#include "cli/model/torch/flops.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define VALUES 11u                      /* number of inputs of aten::convolution_backward */

/* An input that is not a tensor.  A number or a boolean is a list of one element. */
struct value {
	bool known;
	unsigned n;
	int64_t of[FLOP_DIMS];
};

/* ---- ["", "[1, 1]", "False"] ---- */

static const char *number_parse(const char *p, int64_t *number)
{
	char *end;

	if (strncmp(p, "True", 4) == 0 || strncmp(p, "False", 5) == 0) {
		*number = *p == 'T';
		return p + (*p == 'T' ? 4 : 5);
	}
	*number = strtoll(p, &end, 10);
	return end > p && *end != '.' && !isalpha((unsigned char)*end) ? end : NULL;
}

/* Parses the text between two quotes. */
static struct value value_parse(const char *p)
{
	struct value v = { 0 };
	bool list = *p == '[';

	p += list;
	while (*p != (list ? ']' : '"')) {
		if (v.n == FLOP_DIMS || !(p = number_parse(p, &v.of[v.n])))
			return v;
		v.n++;
		if (*p == ',')
			p += strspn(p, ", ");
		else if (*p != ']' && *p != '"')
			return v;
	}
	v.known = list ? p[1] == '"' : v.n == 1;
	return v;
}

static unsigned values_parse(const char *text, struct value values[VALUES])
{
	const char *p = text;
	unsigned n = 0;

	if (*p++ != '[')
		return 0;
	while (n < VALUES && *(p += strspn(p, ", ")) == '"') {
		values[n++] = value_parse(++p);
		for (; *p != '"'; p++)
			if (!*p || (*p == '\\' && !*++p))
				return n;
		p++;
	}
	return n;
}

/* ---- the shape of the output ---- */

/* Positions of these parameters among the inputs.  dilation 0: it is 1; transposed 0: never transposed. */
struct argument_positions {
	unsigned stride, padding, dilation, transposed;
};

static struct argument_positions places_of(enum flop_rule rule, const struct value *values)
{
	unsigned bias = !values[2].known;       /* old versions of cudnn_convolution have a bias input */

	if (rule == FLOPS_CONV_CUDNN)
		return (struct argument_positions){ .padding = 2 + bias, .stride = 3 + bias, .dilation = 4 + bias };
	if (rule == FLOPS_CONV_SLOW)
		return (struct argument_positions){ .stride = 4, .padding = 5 };
	return (struct argument_positions){ .stride = 3, .padding = 4, .dilation = 5, .transposed = 6 };
}

/* A number for each spatial dimension; a single number applies to all. */
static bool spread(const struct value *v, unsigned dims, int64_t least, int64_t out[FLOP_DIMS])
{
	if (!v->known || (v->n != 1 && v->n != dims))
		return false;
	for (unsigned i = 0; i < dims; i++) {
		out[i] = v->of[v->n == 1 ? 0 : i];
		if (out[i] < least || out[i] > INT32_MAX)
			return false;
	}
	return true;
}

static bool output_of(const struct shape *in, const struct shape *weight, const struct value *values, struct argument_positions at,
		      struct shape *out)
{
	static const struct value one = { .known = true, .n = 1, .of = { 1 } };
	int64_t stride[FLOP_DIMS], padding[FLOP_DIMS], dilation[FLOP_DIMS];
	unsigned dims = in->n - 2;

	if (!spread(&values[at.stride], dims, 1, stride) || !spread(&values[at.padding], dims, 0, padding) ||
	    !spread(at.dilation ? &values[at.dilation] : &one, dims, 1, dilation))
		return false;
	*out = (struct shape){ .n = in->n, .of = { in->of[0], weight->of[0] } };
	for (unsigned i = 0; i < dims; i++) {
		uint64_t length = in->of[2 + i], filter = weight->of[2 + i];
		int64_t room;

		if (length > INT32_MAX || filter < 1 || filter > INT32_MAX)
			return false;
		room = (int64_t)length + 2 * padding[i] - dilation[i] * ((int64_t)filter - 1) - 1;
		if (room < 0)
			return false;
		out->of[2 + i] = (uint64_t)(room / stride[i] + 1);
	}
	return true;
}

/* ---- the formulas ---- */

/* Batch size * weights * points of the output (transposed: of the input). */
static bool count(const struct shape *in, const struct shape *weight, const struct shape *out, bool transposed, uint64_t *sum)
{
	const struct shape *points = transposed ? in : out;
	uint64_t product = 2;

	for (unsigned i = 0; i < weight->n; i++)
		if (!flops_times(&product, weight->of[i]))
			return false;
	for (unsigned i = 2; i < points->n; i++)
		if (!flops_times(&product, points->of[i]))
			return false;
	return flops_times(&product, in->of[0]) && !__builtin_add_overflow(*sum, product, sum);
}

static struct shape turned(const struct shape *s)
{
	struct shape t = *s;

	t.of[0] = s->of[1];
	t.of[1] = s->of[0];
	return t;
}

bool flops_of_convolution_into(const char *dims, const struct shape *output, bool transposed, uint64_t *flops)
{
	struct shape s[FLOP_INPUTS];

	*flops = 0;
	if (shapes_parse(dims, s) < 2 || s[0].n < 3 || s[1].n != s[0].n || output->n != s[0].n || output->of[0] != s[0].of[0])
		return false;
	return count(&s[0], &s[1], output, transposed, flops);
}

/* The gradient of the input is a transposed convolution of the output's gradient; that of the weight convolves the input with it. */
static bool backward(const struct shape *s, unsigned shapes, const struct value *v, unsigned values, uint64_t *flops)
{
	const struct shape *gradient = &s[0], *in = &s[1], *weight = &s[2];
	struct shape image = turned(in), filter = turned(gradient), out = turned(weight);
	bool transposed;

	if (shapes < 3 || values < VALUES || gradient->n < 3 || in->n != gradient->n || weight->n != gradient->n ||
	    in->of[0] != gradient->of[0] || !v[7].known || v[7].n != 1 || !v[10].known || v[10].n != 3)
		return false;
	transposed = v[7].of[0];
	if (v[10].of[0] && !count(gradient, weight, in, !transposed, flops))
		return false;
	return !v[10].of[1] || count(transposed ? &filter : &image, transposed ? &image : &filter, &out, false, flops);
}

static bool forward(enum flop_rule rule, const struct shape *s, unsigned shapes, const struct value *v, unsigned values, uint64_t *flops)
{
	struct argument_positions at = places_of(rule, v);
	struct shape out = { 0 };
	bool transposed;

	/* Missing inputs have known false; the array is larger than any position. */
	if (shapes < 2 || !values || s[0].n < 3 || s[1].n != s[0].n || (at.transposed && (!v[at.transposed].known || v[at.transposed].n != 1)))
		return false;
	transposed = at.transposed && v[at.transposed].of[0];
	if (!transposed && !output_of(&s[0], &s[1], v, at, &out))
		return false;
	return count(&s[0], &s[1], &out, transposed, flops);
}

bool flops_of_convolution(enum flop_rule rule, const char *dims, const char *values, uint64_t *flops)
{
	struct shape s[FLOP_INPUTS];
	struct value v[VALUES] = { 0 };
	unsigned shapes = shapes_parse(dims, s), known = values_parse(values, v);

	*flops = 0;
	return rule == FLOPS_CONV_BACKWARD ? backward(s, shapes, v, known, flops) : forward(rule, s, shapes, v, known, flops);
}
