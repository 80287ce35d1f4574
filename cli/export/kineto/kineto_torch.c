/* Writes PyTorch's ranges as Kineto does: operators and autograd nodes as cpu_op, scopes as user_annotation, and fwdbwd arrows. */
#include "cli/export/kineto/kineto.h"
#include "cli/export/kineto/kineto_pieces.h"
#include "cli/model/torch/torch.h"
#include "cli/model/torch/torch_modules.h"

#include <stdlib.h>

static const struct torch_ranges *torch_of(struct export *x)
{
	return ((struct kineto_writer *)x->own)->torch;
}

bool kineto_is_torch(struct export *x, size_t row)
{
	return torch_of(x) && torch_of(x)->at[row] != NO_TORCH;
}

/* The op whose numbers are written for a range: its own, or that of the node for the autograd engine's range around a node. */
static uint32_t numbers_of(struct export *x, uint32_t at)
{
	const struct torch_ranges *t = torch_of(x);
	const struct torch_range *r = &t->list[at];

	if (at + 1 < t->n && t->sequence[r->op] < 0 && t->list[at + 1].parent == at && t->list[at + 1].scope == TORCH_BACKWARD &&
	    t->list[at + 1].op != NO_TORCH &&
	    strncmp(model_string(x->m, r->name), TORCH_EVALUATE, sizeof TORCH_EVALUATE - 1) == 0)
		return t->list[at + 1].op;
	return r->op;
}

static void put_list(struct export *x, const char *key, uint32_t id)
{
	if (!id)
		return;
	out_format(x->out, ", \"%s\": ", key);
	kineto_list(x, id);
}

static void put_modules(struct export *x, uint32_t at)
{
	const struct kineto_writer *k = x->own;
	const char *path;

	if (!k->nesting || k->nesting[at].modules == NO_TORCH || k->nesting[at].modules == STRING_NONE)
		return;
	out_lit(x->out, ", \"Module Hierarchy\": ");
	kineto_name(x, PIECE_TEXT, k->nesting[at].modules);
	path = torch_modules_last(model_string(x->m, k->nesting[at].paths));
	if (k->nesting[at].paths == STRING_NONE || strcmp(path, PATH_UNKNOWN) == 0)
		return;
	out_lit(x->out, ", \"Module Path\": ");
	json_string(x->out, strcmp(path, PATH_OUTERMOST) == 0 ? "" : path);
}

static void put_op(struct export *x, uint32_t at)
{
	const struct torch_ranges *t = torch_of(x);
	uint32_t op = t->list[at].op, numbers = numbers_of(x, at);

	out_lit(x->out, ", \"Record function id\": 0");
	if (t->sequence[numbers] >= 0)
		out_format(x->out, ", \"Sequence number\": %lld, \"Fwd thread id\": %llu", (long long)t->sequence[numbers],
			   (unsigned long long)t->fwd_thread[numbers]);
	put_list(x, "Input Dims", t->dims[op]);
	put_list(x, "Input type", t->types[op]);
	put_list(x, "Concrete Inputs", t->values[op]);
	if (t->overload[op]) {
		out_lit(x->out, ", \"Overload\": ");
		kineto_name(x, PIECE_TEXT, t->overload[op]);
	}
	put_modules(x, at);
}

void kineto_torch_range(struct export *x, const struct host_slice *s)
{
	const struct torch_ranges *t = torch_of(x);
	struct kineto_writer *k = x->own;
	uint32_t at = t->at[s->row];
	bool user = t->list[at].op == NO_TORCH || t->list[at].scope == TORCH_USER;

	kineto_next(x);
	out_format(x->out, "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": ", user ? "user_annotation" : "cpu_op");
	kineto_name(x, PIECE_TEXT, t->list[at].name);
	kineto_track(x, s->track);
	kineto_span(x, s->start, s->duration);
	out_format(x->out, ", \"args\": {\"External id\": %llu", (unsigned long long)s->external);
	if (!user)
		put_op(x, at);
	if (k->range_stack)
		kineto_call_stack(x, k->range_stack[s->row]);
	out_lit(x->out, "}}");
}

void kineto_projection(struct export *x, const struct gpu_slice *s)
{
	const struct torch_ranges *t = torch_of(x);

	kineto_next(x);
	out_lit(x->out, "{\"ph\": \"X\", \"cat\": \"gpu_user_annotation\", \"name\": ");
	kineto_name(x, PIECE_TEXT, t->list[t->at[s->row]].name);
	kineto_track(x, s->track);
	kineto_span(x, s->start, s->duration);
	out_format(x->out, ", \"args\": {\"External id\": %llu}}", (unsigned long long)s->external);
}

static void put_end(struct export *x, const struct torch_range *r, uint64_t id, bool backward)
{
	kineto_next(x);
	out_format(x->out, "{\"ph\": \"%s, \"id\": %llu", backward ? "f\", \"bp\": \"e\"" : "s\"", (unsigned long long)id);
	kineto_track(x, track_of_thread(x, r->process, r->thread));
	kineto_time(x, r->start);
	out_lit(x->out, ", \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\"}");
}

int kineto_torch_flows(struct export *x)
{
	const struct torch_ranges *t = torch_of(x);
	uint32_t *forwards;
	uint64_t id = 0;

	if (!t)
		return 0;
	forwards = torch_forwards(x->m, t);
	for (size_t i = 0; forwards && i < t->n; i++) {
		const struct torch_range *r = &t->list[i], *forward = forwards[i] == NO_TORCH ? NULL : &t->list[forwards[i]];

		if (!forward || (r->flags | forward->flags) & RANGE_STARTEND || (x->takes && !x->takes[r->process]))
			continue;
		put_end(x, forward, ++id, false);
		put_end(x, r, id, true);
	}
	free(forwards);
	return forwards ? 0 : -1;
}
