#include "cli/model/torch/torch_costs.h"

#include "cli/model/inside.h"
#include "cli/model/join.h"
#include "cli/model/sort.h"
#include "cli/model/torch/flops.h"

struct cost_builder {
	struct model *m;
	const struct torch_ranges *t;
	struct torch_cost *out;
	uint8_t *rule;                  /* enum flop_rule, by position */
	uint32_t *backward_of;          /* by convolution: the aten::convolution_backward of its autograd node */
	struct map rules;               /* string id -> rule */
};

/* ---- time ---- */

static void add_host(struct cost_builder *k)
{
	for (size_t i = 0; i < k->t->n; i++) {
		const struct torch_range *r = &k->t->list[i];
		int64_t host = time_sub(r->end, r->start);

		k->out[i].host = host;
		k->out[i].self = r->flags & RANGE_STARTEND ? 0 : time_add(k->out[i].self, host);
		if (r->parent < i)
			k->out[r->parent].self = time_sub(k->out[r->parent].self, host);
	}
	for (size_t i = 0; i < k->t->n; i++)    /* in a damaged trace, two ranges may contain each other */
		if (k->out[i].self < 0)
			k->out[i].self = 0;
}

static int add_gpu_kind(struct cost_builder *k, unsigned kind, unsigned start_field, unsigned duration_field, unsigned corr_field)
{
	const int64_t *start = model_column(k->m, kind, start_field), *duration = model_column(k->m, kind, duration_field);
	const uint32_t *corr = model_column(k->m, kind, corr_field), *process = model_row_process(k->m, kind);
	const uint64_t *range = MODEL_U64(k->m, api, range);
	const int64_t *call_start = MODEL_I64(k->m, api, start);

	if (!start || !duration || !corr || !process || !range || !call_start || model_join(k->m) < 0)
		return -1;
	for (size_t i = 0, n = model_rows(k->m, kind); i < n; i++) {
		size_t call = start[i] && duration[i] > 0 ? model_api_of(k->m, process[i], corr[i]) : NO_ROW;
		size_t row = call == NO_ROW ? NO_ROW : model_range_of(k->m, process[i], range[call]);
		uint32_t at = row == NO_ROW ? NO_TORCH : torch_open_at(k->t, torch_around(k->t, row), call_start[call]);

		if (at != NO_TORCH)
			k->out[at].self_gpu = time_add(k->out[at].self_gpu, duration[i]);
	}
	return 0;
}

static int add_gpu(struct cost_builder *k, bool *gpu)
{
	if (add_gpu_kind(k, ROW_kernel, COL_kernel_start, COL_kernel_duration, COL_kernel_corr) < 0 ||
	    add_gpu_kind(k, ROW_memcpy, COL_memcpy_start, COL_memcpy_duration, COL_memcpy_corr) < 0 ||
	    add_gpu_kind(k, ROW_memset, COL_memset_start, COL_memset_duration, COL_memset_corr) < 0 ||
	    add_gpu_kind(k, ROW_graph, COL_graph_start, COL_graph_duration, COL_graph_corr) < 0)
		return -1;
	*gpu = model_has_gpu_rows(k->m);
	for (size_t i = k->t->n; i-- > 0;) {
		struct torch_cost *c = &k->out[i];
		uint32_t up = k->t->list[i].parent;

		c->gpu = time_add(c->gpu, c->self_gpu);
		if (up < i)
			k->out[up].gpu = time_add(k->out[up].gpu, c->gpu);
	}
	return 0;
}

/* ---- floating point operations ---- */

static int rules_find(struct cost_builder *k)
{
	for (size_t i = 0; i < k->t->n; i++) {
		const struct torch_range *r = &k->t->list[i];
		bool new;
		uint32_t *rule = map_put(&k->rules, r->name, 0, &new);

		if (!rule)
			return -1;
		if (new)
			*rule += flop_rule_of(model_string(k->m, r->name));
		k->rule[i] = r->scope == TORCH_OPERATOR && r->op != NO_TORCH ? (uint8_t)(*rule - 1) : FLOPS_NONE;
	}
	return 0;
}

/* Finds the backward operator of each convolution; its first input is the output's gradient, which has the output's shape. */
static void pair_convolutions(struct cost_builder *k, const uint32_t *forwards)
{
	for (size_t i = 0; i < k->t->n; i++) {
		uint32_t up = (uint32_t)i;

		k->backward_of[i] = NO_TORCH;
		if (k->rule[i] != FLOPS_CONV_BACKWARD)
			continue;
		while (up != NO_TORCH && forwards[up] == NO_TORCH)
			up = k->t->list[up].parent < up ? k->t->list[up].parent : NO_TORCH;
		if (up != NO_TORCH && forwards[up] < i)
			k->backward_of[forwards[up]] = (uint32_t)i;
	}
}

static const char *dims_of(struct cost_builder *k, size_t i)
{
	uint32_t id = k->t->dims[k->t->list[i].op];

	return id ? model_string(k->m, id) : NULL;
}

/* Whether a convolution is transposed: by an operator aten::conv_transpose* around it, else by the channels (not, if both fit). */
static bool is_transposed(struct cost_builder *k, size_t i, const struct shape *in, const struct shape *weights, const struct shape *out)
{
	for (uint32_t up = k->t->list[i].parent, depth = 0; up != NO_TORCH && depth < 4; up = k->t->list[up].parent, depth++)
		if (strncmp(model_string(k->m, k->t->list[up].name), "aten::conv_transpose", 20) == 0)
			return true;
	return out->of[1] != weights->of[0] && in->of[1] == weights->of[0];
}

/* Counts a convolution without recorded parameters, from the shape of its output. */
static bool count_by_gradient(struct cost_builder *k, size_t i, const char *dims, uint64_t *flops)
{
	struct shape s[FLOP_INPUTS], gradient[FLOP_INPUTS];
	uint32_t backward = k->backward_of[i];
	const char *behind = backward == NO_TORCH ? NULL : dims_of(k, backward);

	if (!behind || shapes_parse(dims, s) < 2 || s[0].n < 2 || s[1].n < 2 || shapes_parse(behind, gradient) < 1 || gradient[0].n < 2)
		return false;
	return flops_of_convolution_into(dims, &gradient[0], is_transposed(k, i, &s[0], &s[1], &gradient[0]), flops);
}

static bool count_convolution(struct cost_builder *k, size_t i, const char *dims, uint64_t *flops)
{
	uint32_t values = k->t->values[k->t->list[i].op];

	if (values && flops_of_convolution(k->rule[i], dims, model_string(k->m, values), flops))
		return true;
	return k->rule[i] != FLOPS_CONV_BACKWARD && count_by_gradient(k, i, dims, flops);
}

static void count(struct cost_builder *k, size_t i)
{
	struct torch_cost *c = &k->out[i];
	const char *dims = dims_of(k, i);

	if (!dims)
		c->counted = FLOPS_UNSHAPED;
	else if (flops_is_convolution(k->rule[i]))
		c->counted = count_convolution(k, i, dims, &c->flops) ? FLOPS_KNOWN : FLOPS_OPEN;
	else
		c->counted = flops_of(k->rule[i], dims, &c->flops) ? FLOPS_KNOWN : FLOPS_OPEN;
	if (c->counted != FLOPS_KNOWN)
		c->flops = 0;
}

/* Counts operations of all operators with a rule, except those inside a counted operator. */
static int add_flops(struct cost_builder *k, const uint32_t *forwards)
{
	bool *inside = calloc(k->t->n + 1, sizeof *inside);

	if (!inside || rules_find(k) < 0) {
		free(inside);
		return -1;
	}
	pair_convolutions(k, forwards);
	for (size_t i = 0; i < k->t->n; i++) {
		uint32_t up = k->t->list[i].parent;

		inside[i] = up < i && (inside[up] || k->out[up].counted != FLOPS_UNCOUNTED);
		if (k->rule[i] != FLOPS_NONE && !inside[i])
			count(k, i);
	}
	free(inside);
	return 0;
}

struct torch_cost *torch_costs_make(struct model *m, const struct torch_ranges *t, const uint32_t *forwards, bool *gpu)
{
	struct cost_builder k = {
		.m = m, .t = t, .out = calloc(t->n + 1, sizeof *k.out), .rule = calloc(t->n + 1, 1),
		.backward_of = malloc(t->n * sizeof *k.backward_of + 1),
	};
	int rc = -1;

	if (k.out && k.rule && k.backward_of) {
		add_host(&k);
		rc = add_gpu(&k, gpu) < 0 || add_flops(&k, forwards) < 0 ? -1 : 0;
	}
	map_release(&k.rules);
	free(k.rule);
	free(k.backward_of);
	if (rc == 0)
		return k.out;
	free(k.out);
	return NULL;
}
