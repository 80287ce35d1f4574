#include "cli/model/torch/torch_modules.h"

#include "cli/model/inside.h"
#include "cli/model/join.h"

bool model_has_modules(const struct model *m)
{
	return model_rows(m, ROW_modules) != 0;
}

const char *torch_modules_last(const char *text)
{
	for (const char *p; (p = strstr(text, MODULES_BETWEEN));)
		text = p + sizeof MODULES_BETWEEN - 1;
	return text;
}

/* Whether a range is an operator of a forward; the autograd engine's range around a node looks like an operator too. */
static bool is_forward(struct model *m, const struct torch_range *r)
{
	return r->scope == TORCH_OPERATOR && strncmp(model_string(m, r->name), TORCH_EVALUATE, sizeof TORCH_EVALUATE - 1) != 0;
}

/* Whether only user scopes are around the range. */
static bool is_outermost(const struct torch_ranges *t, const struct torch_range *r)
{
	uint32_t up = r->parent;

	while (up != NO_TORCH && t->list[up].scope == TORCH_USER)
		up = t->list[up].parent;
	return up == NO_TORCH;
}

struct torch_nesting *torch_modules_make(struct model *m, const struct torch_ranges *t)
{
	const uint64_t *range = MODEL_U64(m, modules, range);
	const uint32_t *text = MODEL_U32(m, modules, modules), *paths = MODEL_U32(m, modules, paths);
	const uint32_t *process = model_row_process(m, ROW_modules);
	struct torch_nesting *of = malloc(t->n * sizeof *of + 1);

	if (!of || !range || !text || !paths || !process || model_join(m) < 0) {
		free(of);
		return NULL;
	}
	for (size_t i = 0; i < t->n; i++)
		of[i] = (struct torch_nesting){ is_forward(m, &t->list[i]) && is_outermost(t, &t->list[i]) ? STRING_NONE : NO_TORCH, STRING_NONE };
	for (size_t i = 0, n = model_rows(m, ROW_modules); i < n; i++) {
		size_t row = model_range_of(m, process[i], range[i]);
		uint32_t at = row == NO_ROW ? NO_TORCH : t->at[row];

		if (at != NO_TORCH && of[at].modules == STRING_NONE)
			of[at] = (struct torch_nesting){ text[i], paths[i] };
	}
	return of;
}
