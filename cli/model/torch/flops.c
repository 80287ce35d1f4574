#include "cli/model/torch/flops.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum flop_rule flop_rule_of(const char *name)
{
	static const struct { const char *name; enum flop_rule rule; } rules[] = {
		{ "mm", FLOPS_MM }, { "addmm", FLOPS_ADDMM }, { "bmm", FLOPS_BMM }, { "baddbmm", FLOPS_BADDBMM }, { "_scaled_mm", FLOPS_MM },
		{ "convolution", FLOPS_CONV }, { "_convolution", FLOPS_CONV }, { "convolution_overrideable", FLOPS_CONV },
		{ "cudnn_convolution", FLOPS_CONV_CUDNN }, { "_slow_conv2d_forward", FLOPS_CONV_SLOW },
		{ "convolution_backward", FLOPS_CONV_BACKWARD },
		{ "_scaled_dot_product_efficient_attention", FLOPS_ATTENTION },
		{ "_scaled_dot_product_flash_attention", FLOPS_ATTENTION },
		{ "_scaled_dot_product_flash_attention_for_cpu", FLOPS_ATTENTION },
		{ "_scaled_dot_product_cudnn_attention", FLOPS_ATTENTION },
		{ "_scaled_dot_product_efficient_attention_backward", FLOPS_ATTENTION_BACKWARD },
		{ "_scaled_dot_product_flash_attention_backward", FLOPS_ATTENTION_BACKWARD },
		{ "_scaled_dot_product_flash_attention_for_cpu_backward", FLOPS_ATTENTION_BACKWARD },
		{ "_scaled_dot_product_cudnn_attention_backward", FLOPS_ATTENTION_BACKWARD },
	};

	if (strncmp(name, "aten::", 6) != 0)
		return FLOPS_NONE;
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (strcmp(name + 6, rules[i].name) == 0)
			return rules[i].rule;
	return FLOPS_NONE;
}

static const char *skip_blanks(const char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

/* Parses one "[8, 3]"; returns its end, or NULL: not a list of numbers. */
static const char *shape_parse(const char *p, struct shape *s)
{
	s->n = 0;
	for (p = skip_blanks(p + 1); *p != ']'; p = skip_blanks(*p == ',' ? p + 1 : p)) {
		char *end;

		if (!isdigit((unsigned char)*p) || s->n == FLOP_DIMS)
			return NULL;
		s->of[s->n++] = strtoull(p, &end, 10);
		p = skip_blanks(end);
		if (*p != ',' && *p != ']')
			return NULL;
	}
	return p + 1;
}

/* End of a list of anything; NULL: unterminated. */
static const char *list_skip(const char *p)
{
	unsigned open = 0;

	for (; *p; p++) {
		open += *p == '[';
		if (*p == ']' && --open == 0)
			return p + 1;
	}
	return NULL;
}

unsigned shapes_parse(const char *text, struct shape shapes[FLOP_INPUTS])
{
	const char *p = skip_blanks(text);
	unsigned n = 0;

	if (*p != '[')
		return 0;
	for (p = skip_blanks(p + 1); *p == '[' && n < FLOP_INPUTS; p = skip_blanks(*p == ',' ? p + 1 : p)) {
		const char *behind = shape_parse(p, &shapes[n]);

		if (!behind) {
			shapes[n].n = 0;
			behind = list_skip(p);
		}
		if (!behind)
			return n;
		p = skip_blanks(behind);
		n++;
	}
	return n;
}

/* ---- products with overflow check ---- */

bool flops_times(uint64_t *product, uint64_t factor)
{
	return !__builtin_mul_overflow(*product, factor, product);
}

/* Adds the operations of b products of an m x k matrix with a k x n matrix to *sum. */
static bool product(uint64_t b, uint64_t m, uint64_t k, uint64_t n, uint64_t *sum)
{
	uint64_t p = 2;

	return flops_times(&p, b) && flops_times(&p, m) && flops_times(&p, k) && flops_times(&p, n) && !__builtin_add_overflow(*sum, p, sum);
}

static bool matrices(const struct shape *a, const struct shape *b, unsigned dims, uint64_t *sum)
{
	unsigned at = dims - 2;

	if (a->n != dims || b->n != dims || a->of[at + 1] != b->of[at] || (at && a->of[0] != b->of[0]))
		return false;
	return product(at ? a->of[0] : 1, a->of[at], a->of[at + 1], b->of[at + 1], sum);
}

/* query [batch, heads, length, depth].  Keys and values may have fewer heads, each shared by several query heads. */
static bool attention(const struct shape *q, const struct shape *k, const struct shape *v, bool backward, uint64_t *sum)
{
	uint64_t b, length, keys, depth, width;

	if (q->n != 4 || k->n != 4 || v->n != 4 || q->of[0] != k->of[0] || q->of[0] != v->of[0] || q->of[3] != k->of[3] ||
	    k->of[2] != v->of[2] || k->of[1] != v->of[1] || !k->of[1] || q->of[1] % k->of[1])
		return false;
	b = q->of[0];
	if (!flops_times(&b, q->of[1]))
		return false;
	length = q->of[2];
	keys = k->of[2];
	depth = q->of[3];
	width = v->of[3];
	if (!backward)
		return product(b, length, depth, keys, sum) && product(b, length, keys, width, sum);
	/* Recomputes the scores, then computes the gradients of scores, values, queries and keys. */
	return product(b, length, depth, keys, sum) && product(b, length, width, keys, sum) && product(b, keys, length, width, sum) &&
	       product(b, length, keys, depth, sum) && product(b, depth, length, keys, sum);
}

bool flops_of(enum flop_rule rule, const char *dims, uint64_t *flops)
{
	struct shape s[FLOP_INPUTS];
	unsigned n = shapes_parse(dims, s);

	*flops = 0;
	switch (rule) {
	case FLOPS_MM:
		return n >= 2 && matrices(&s[0], &s[1], 2, flops);
	case FLOPS_ADDMM:
		return n >= 3 && matrices(&s[1], &s[2], 2, flops);
	case FLOPS_BMM:
		return n >= 2 && matrices(&s[0], &s[1], 3, flops);
	case FLOPS_BADDBMM:
		return n >= 3 && matrices(&s[1], &s[2], 3, flops);
	case FLOPS_ATTENTION:
		return n >= 3 && attention(&s[0], &s[1], &s[2], false, flops);
	case FLOPS_ATTENTION_BACKWARD:
		return n >= 4 && attention(&s[1], &s[2], &s[3], true, flops);
	default:
		return false;
	}
}
