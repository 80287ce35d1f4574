/*
 * modules: what a model's nn.Modules cost.  Added up are the operators of PyTorch that are in no other one: each belongs to the modules
 * that Python was in when it began; what the backward pass did for it, and what it launched, belongs to the same.
 */
#include "cli/analyze/report.h"
#include "cli/analyze/stats.h"
#include "cli/model/map.h"
#include "cli/model/model.h"
#include "cli/model/sort.h"
#include "cli/model/torch_costs.h"
#include "cli/model/torch_modules.h"

#include <ctype.h>
#include <stdlib.h>

#define TEXT_MOST 4096u
#define OUTSIDE "(outside of modules)"

static const struct heading columns[] = {
	{ "host_pct", 0 }, { "host_ns", 0 }, { "self_host_ns", 0 }, { "gpu_ns", 0 }, { "self_gpu_ns", 0 }, { "backward_ns", 0 },
	{ "backward_gpu_ns", 0 }, { "operators", 0 }, { "module", COLUMN_TEXT },
};

/* Times with those of modules in it, but for self_. */
struct module {
	uint32_t text;                  /* string id; STRING_NONE: outside */
	int64_t host, self_host, gpu, self_gpu, backward, backward_gpu;
	uint64_t operators;             /* directly in it */
};

struct work {
	struct model *m;
	struct table *t;
	const struct torch_ranges *torch;
	const struct torch_cost *costs;
	const uint32_t *of;             /* torch_modules_make() */
	bool classes;                   /* objects of one class in one place are one row */
	bool gpu;
	struct map index;               /* text -> position in list */
	struct module *list;
	size_t n, cap;
	int64_t whole;
};

static struct module *module_of(struct work *w, uint32_t text)
{
	bool new;
	uint32_t *at = map_put(&w->index, text, (uint32_t)w->n, &new);

	if (!at)
		return NULL;
	if (new && w->n == w->cap) {
		size_t cap = w->cap ? w->cap * 2 : 256;
		struct module *list = realloc(w->list, cap * sizeof *list);

		if (!list)
			return NULL;
		w->list = list;
		w->cap = cap;
	}
	if (new)
		w->list[w->n++] = (struct module){ .text = text };
	return &w->list[*at - 1];
}

/* "Net_0 > Linear_12" into out; for rows of classes "Net > Linear". */
static void copy(char out[TEXT_MOST], const char *text, bool classes)
{
	size_t n = 0, name = 0;

	for (; *text && n < TEXT_MOST - 1; text++) {
		out[n++] = *text;
		if (classes && (!text[1] || strncmp(text + 1, MODULES_BETWEEN, sizeof MODULES_BETWEEN - 1) == 0)) {
			size_t end = n;

			while (end > name && (isdigit((unsigned char)out[end - 1]) || out[end - 1] == '?'))
				end--;
			if (end > name && out[end - 1] == '_')
				n = end - 1;
			name = n + sizeof MODULES_BETWEEN - 1;
		}
	}
	out[n] = '\0';
}

struct times {
	int64_t host, gpu, backward, backward_gpu;
	uint64_t operators;
};

static int add_to(struct work *w, uint32_t text, const struct times *x, bool self)
{
	struct module *at = text == MAP_NONE ? NULL : module_of(w, text);

	if (!at)
		return -1;
	at->host = time_add(at->host, x->host);
	at->gpu = time_add(at->gpu, x->gpu);
	at->backward = time_add(at->backward, x->backward);
	at->backward_gpu = time_add(at->backward_gpu, x->backward_gpu);
	if (self) {
		at->self_host = time_add(at->self_host, x->host);
		at->self_gpu = time_add(at->self_gpu, x->gpu);
		at->operators += x->operators;
	}
	return 0;
}

/* To the module, and all around it. */
static int add(struct work *w, uint32_t modules, const struct times *x)
{
	char text[TEXT_MOST], *cut;
	bool self = true;

	if (modules == STRING_NONE)
		return add_to(w, STRING_NONE, x, true);
	copy(text, model_string(w->m, modules), w->classes);
	for (;; self = false) {
		if (add_to(w, model_intern(w->m, text), x, self) < 0)
			return -1;
		cut = NULL;
		for (char *p = text; (p = strstr(p, MODULES_BETWEEN)); p++)
			cut = p;
		if (!cut)
			return 0;
		*cut = '\0';
	}
}

/* The outermost operator around one that made a node. */
static uint32_t modules_around(const struct work *w, uint32_t i)
{
	while (w->of[i] == NO_TORCH && w->torch->list[i].parent != NO_TORCH)
		i = w->torch->list[i].parent;
	return w->of[i];
}

static int sum(struct work *w, const uint32_t *forwards)
{
	for (size_t i = 0; i < w->torch->n; i++) {
		const struct torch_cost *c = &w->costs[i];
		uint32_t modules;

		if (w->of[i] != NO_TORCH) {
			w->whole = time_add(w->whole, c->host);
			if (add(w, w->of[i], &(struct times){ .host = c->host, .gpu = c->gpu, .operators = 1 }) < 0)
				return -1;
		}
		modules = forwards[i] == NO_TORCH ? NO_TORCH : modules_around(w, forwards[i]);
		if (modules != NO_TORCH && add(w, modules, &(struct times){ .backward = c->host, .backward_gpu = c->gpu }) < 0)
			return -1;
	}
	return 0;
}

static int dearest_first(const void *a, const void *b, void *model)
{
	const struct module *x = a, *y = b;
	int64_t xs = time_add(x->gpu, x->backward_gpu), ys = time_add(y->gpu, y->backward_gpu);

	if (xs != ys)
		return xs > ys ? -1 : 1;
	if (x->host != y->host)
		return x->host > y->host ? -1 : 1;
	return strcmp(model_string(model, x->text), model_string(model, y->text));
}

static void put(struct work *w)
{
	if (w->n)
		qsort_r(w->list, w->n, sizeof *w->list, dearest_first, w->m);
	for (size_t i = 0; i < w->n; i++) {
		const struct module *x = &w->list[i];

		table_row(w->t, (const struct cell[]){
			FIXED(share((uint64_t)x->host, (uint64_t)w->whole), 1), NUMBER(x->host), NUMBER(x->self_host),
			w->gpu ? NUMBER(x->gpu) : UNKNOWN, w->gpu ? NUMBER(x->self_gpu) : UNKNOWN, NUMBER(x->backward),
			w->gpu ? NUMBER(x->backward_gpu) : UNKNOWN, NUMBER(x->operators),
			TEXT(x->text == STRING_NONE ? OUTSIDE : model_string(w->m, x->text)) });
	}
}

static int run(struct model *m, struct table *t, const char *variant)
{
	struct work w = { .m = m, .t = t, .torch = model_torch(m), .classes = variant != NULL };
	uint32_t *forwards = NULL, *of = NULL;
	struct torch_cost *costs = NULL;
	int rc = -1;

	if (!model_has_modules(m)) {
		table_note(t, "no nn.Modules were recorded: gprof-run --torch-modules does, where libtorch_cpu is loaded (see report -r health)");
		return 0;
	}
	if (w.torch && (forwards = torch_forwards(m, w.torch)) && (w.costs = costs = torch_costs_make(m, w.torch, forwards, &w.gpu)) &&
	    (w.of = of = torch_modules_make(m, w.torch)))
		rc = sum(&w, forwards);
	if (rc == 0)
		put(&w);
	free(forwards);
	free(costs);
	free(of);
	free(w.list);
	map_release(&w.index);
	return rc;
}

const struct report report_modules = {
	.name = "modules",
	.title = "PyTorch Modules",
	.help = "PyTorch: time of nn.Modules along their nesting; modules:class takes those of a class together",
	.variants = "class",
	COLUMNS(columns),
	.run = run,
};
