#include "cli/report/torch/op_top.h"

#include "cli/model/model.h"
#include "cli/model/torch/torch_costs.h"

#include <stdlib.h>
#include <string.h>

/* Whether the program pushed the scope; names that PyTorch, its profiler and its optimizers use are not the program's. */
static bool is_programs(const char *name)
{
	static const char *const theirs[] = { "ProfilerStep#", "Optimizer.", "enumerate(DataLoader)", "nn.Module:", "DistributedDataParallel.",
					      "FullyShardedDataParallel.", "FSDP::", "Torch-Compiled Region", "TorchDynamo ",
					      "CompiledFunction", "nccl:", "gloo:", "record_param_comms", "PyTorch Profiler", "## " };
	enum phase_mark mark;

	for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
		if (strncmp(name, theirs[i], strlen(theirs[i])) == 0)
			return false;
	return !phase_mark_of(name, false, &mark);
}

static bool add_time(struct groups *g, uint64_t key, int64_t ns)
{
	struct series *s = groups_get(g, key);

	return s && series_add(s, ns > 0 ? ns : 0);
}

static int sum(struct model *m, const struct torch_ranges *torch, const struct torch_cost *costs, struct op_top *t)
{
	for (size_t i = 0; i < torch->n; i++) {
		const struct torch_range *r = &torch->list[i];

		if (!add_time(&t->self, r->name, costs[i].self))
			return -1;
		if (r->scope == TORCH_USER && is_programs(model_string(m, r->name)) && !add_time(&t->scopes, r->name, costs[i].host))
			return -1;
	}
	groups_sort(&t->self);
	groups_sort(&t->scopes);
	return 0;
}

int op_top(struct model *m, struct op_top *t)
{
	const struct torch_ranges *torch = model_torch(m);
	uint32_t *forwards = torch ? torch_forwards(m, torch) : NULL;
	bool gpu;
	struct torch_cost *costs = forwards ? torch_costs_make(m, torch, forwards, &gpu) : NULL;
	int rc;

	*t = (struct op_top){ 0 };
	rc = costs ? sum(m, torch, costs, t) : -1;
	free(forwards);
	free(costs);
	return rc;
}

void op_top_release(struct op_top *t)
{
	groups_release(&t->self);
	groups_release(&t->scopes);
}
