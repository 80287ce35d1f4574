#include "cli/run/run_torch.h"

#include <stdlib.h>
#include <string.h>

#include "cli/ui/fail.h"
#include "cli/ui/options.h"

void torch_record(struct config *c, uint64_t at_least)
{
	if (c->trace_torch < at_least)
		c->trace_torch = at_least;
}

/* In nsys these words add Python code that annotates the program.  Here PyTorch's own callbacks give the same ranges. */
int opt_pytorch(const struct opt *o, const char *value)
{
	struct torch_wish *w = o->where;
	char *list = strdup(value), *rest = list, *word;
	int rc = 0;

	if (!list)
		return fail("out of memory");
	while (rc == 0 && (word = strsep(&rest, ","))) {
		bool shapes = strcmp(word, "autograd-shapes-nvtx") == 0, functions = strcmp(word, "functions-trace") == 0;

		if (shapes || strcmp(word, "autograd-nvtx") == 0)
			w->words = TORCH_OPS;
		else if (functions && w->words == TORCH_OFF)
			w->words = TORCH_RANGES;
		else if (!functions && *word && strcmp(word, "none") != 0)
			rc = fail("--%s must be autograd-nvtx, autograd-shapes-nvtx, functions-trace or none, not '%s'", o->name, word);
		w->shapes |= shapes;
	}
	free(list);
	w->said = value;
	w->nearest = w->words == TORCH_OFF ? NULL : w->words == TORCH_RANGES ? "recorded as by -t torch" :
		     w->shapes ? "recorded as by --torch-shapes" : "recorded as by -t torch-ops";
	return rc;
}

void torch_settle(struct config *c, const struct torch_wish *w)
{
	torch_record(c, w->shapes || w->modules || w->stacks ? TORCH_OPS : w->words);
	torch_record(c, w->memory ? TORCH_RANGES : TORCH_OFF);
	c->torch_memory = w->memory;
	c->torch_shapes = w->shapes;
	c->torch_modules = w->modules;
	c->torch_stacks = w->stacks;
}
