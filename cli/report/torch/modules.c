/*
 * modules: cost of a model's nn.Modules.  Sums up PyTorch's outermost operators.  An operator belongs to the modules whose forward was
 * running when it started; so do its GPU rows, and the backward pass of the operators inside it.
 */
#include "cli/model/map.h"
#include "cli/model/model.h"
#include "cli/model/sort.h"
#include "cli/model/torch/torch_costs.h"
#include "cli/model/torch/torch_modules.h"
#include "cli/report/parts/report.h"
#include "cli/report/parts/stats.h"
#include "cli/report/parts/why.h"
#include "trace/grow.h"

#include <ctype.h>
#include <stdlib.h>

#define TEXT_MOST 4096u
#define OUTSIDE "(outside of modules)"

static const struct heading columns[] = {
	{ "host_pct", 0 }, { "host_ns", COLUMN_KEY }, { "self_host_ns", 0 }, { "gpu_ns", COLUMN_KEY }, { "self_gpu_ns", 0 }, { "backward_ns", 0 },
	{ "backward_gpu_ns", 0 }, { "operators", 0 }, { "path", COLUMN_TEXT | COLUMN_SPARSE }, { "module", COLUMN_TEXT },
};

/* Times in ns include modules inside; self_ times do not. */
struct module_sum {
	uint32_t text;                  /* string id of its nesting, "Net_0 > Linear_12"; STRING_NONE: outside of modules */
	uint32_t path;                  /* string id of its name in the model, "layers.0.attn"; STRING_NONE: not known */
	int64_t host, self_host, gpu, self_gpu, backward, backward_gpu;
	uint64_t operators;             /* number of outermost operators directly in it */
};

struct modules_report {
	struct model *m;
	struct table *t;
	const struct torch_ranges *torch;
	const struct torch_cost *costs;
	const struct torch_nesting *of; /* torch_modules_make() */
	bool classes;                   /* :class: modules of one class in one place are one row */
	bool gpu;
	struct map index;               /* string id of the text (and the path, unless classes) -> position in list */
	struct module_sum *list;
	size_t n, cap;
	int64_t whole;                  /* host time of all outermost operators */
};

static struct module_sum *module_of(struct modules_report *w, uint32_t key, uint32_t text, uint32_t path)
{
	bool new;
	uint32_t *at = map_put(&w->index, key, (uint32_t)w->n, &new);

	if (!at)
		return NULL;
	if (new && !GROW(w->list, w->n + 1, w->cap))
		return NULL;
	if (new)
		w->list[w->n++] = (struct module_sum){ .text = text, .path = path };
	return &w->list[*at - 1];
}

/* Copies "Net_0 > Linear_12" into out; with classes "Net > Linear". */
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

struct module_times {
	int64_t host, gpu, backward, backward_gpu;
	uint64_t operators;
};

static void add_times(struct module_sum *at, const struct module_times *x, bool self)
{
	at->host = time_add(at->host, x->host);
	at->gpu = time_add(at->gpu, x->gpu);
	at->backward = time_add(at->backward, x->backward);
	at->backward_gpu = time_add(at->backward_gpu, x->backward_gpu);
	if (self) {
		at->self_host = time_add(at->self_host, x->host);
		at->self_gpu = time_add(at->self_gpu, x->gpu);
		at->operators += x->operators;
	}
}

/* Cuts off the last (innermost) of several modules.  False: there is only one. */
static bool cut_last(char *text)
{
	const char *last = torch_modules_last(text);

	if (last == text)
		return false;
	text[last - text - (ptrdiff_t)sizeof MODULES_BETWEEN + 1] = '\0';
	return true;
}

/*
 * One path for two modules of a class: "layers.*.attn" for "layers.0.attn" and "layers.1.attn".  STRING_NONE: the number of their parts
 * differs.  MAP_NONE: out of memory.
 */
static uint32_t path_of_both(struct modules_report *w, uint32_t first, uint32_t second)
{
	char out[TEXT_MOST];
	const char *a, *b;
	size_t n = 0;

	if (first == second || first == STRING_NONE || second == STRING_NONE)
		return first == second ? first : STRING_NONE;
	a = model_string(w->m, first);
	b = model_string(w->m, second);
	for (;; a++, b++) {
		size_t an = strcspn(a, "."), bn = strcspn(b, ".");
		bool same = an == bn && memcmp(a, b, an) == 0;

		if (n + an + 3 > sizeof out || !a[an] != !b[bn])
			return STRING_NONE;
		memcpy(out + n, same ? a : "*", same ? an : 1);
		n += same ? an : 1;
		out[n] = '\0';
		a += an;
		b += bn;
		if (!*a)
			return model_intern(w->m, out);
		out[n++] = '.';
	}
}

/* Adds x to the row of one module.  path: as recorded; NULL: not known. */
static int add_to(struct modules_report *w, const char *text, const char *path, const struct module_times *x, bool self)
{
	uint32_t id = model_intern(w->m, text), path_id = path ? model_intern(w->m, path) : STRING_NONE, key = id;
	char both[2 * TEXT_MOST];
	struct module_sum *at;

	if (path_id && !w->classes) {
		snprintf(both, sizeof both, "%s\n%s", text, path);
		key = model_intern(w->m, both);
	}
	at = id == MAP_NONE || path_id == MAP_NONE || key == MAP_NONE ? NULL : module_of(w, key, id, path_id);
	if (!at)
		return -1;
	if (at->path != path_id)
		at->path = path_of_both(w, at->path, path_id);
	add_times(at, x, self);
	return at->path == MAP_NONE ? -1 : 0;
}

/* Adds x to the innermost module of `in` as self time, and to all modules around it. */
static int add_module(struct modules_report *w, const struct torch_nesting *in, const struct module_times *x)
{
	char text[TEXT_MOST], paths[TEXT_MOST];
	bool known = in->paths != STRING_NONE, self = true;
	struct module_sum *outside;

	if (in->modules == STRING_NONE) {
		outside = module_of(w, STRING_NONE, STRING_NONE, STRING_NONE);
		if (outside)
			add_times(outside, x, true);
		return outside ? 0 : -1;
	}
	copy(text, model_string(w->m, in->modules), w->classes);
	snprintf(paths, sizeof paths, "%s", model_string(w->m, in->paths));
	for (;; self = false) {
		const char *path = torch_modules_last(paths);

		if (add_to(w, text, known && strcmp(path, PATH_UNKNOWN) != 0 ? path : NULL, x, self) < 0)
			return -1;
		known = known && cut_last(paths);
		if (!cut_last(text))
			return 0;
	}
}

/* The modules of the outermost operator around operator i. */
static const struct torch_nesting *modules_around(const struct modules_report *w, uint32_t i)
{
	while (w->of[i].modules == NO_TORCH && w->torch->list[i].parent != NO_TORCH)
		i = w->torch->list[i].parent;
	return &w->of[i];
}

static int sum(struct modules_report *w, const uint32_t *forwards)
{
	for (size_t i = 0; i < w->torch->n; i++) {
		const struct torch_cost *c = &w->costs[i];
		const struct torch_nesting *made;

		if (w->of[i].modules != NO_TORCH) {
			w->whole = time_add(w->whole, c->host);
			if (add_module(w, &w->of[i], &(struct module_times){ .host = c->host, .gpu = c->gpu, .operators = 1 }) < 0)
				return -1;
		}
		made = forwards[i] == NO_TORCH ? NULL : modules_around(w, forwards[i]);
		if (made && made->modules != NO_TORCH &&
		    add_module(w, made, &(struct module_times){ .backward = c->host, .backward_gpu = c->gpu }) < 0)
			return -1;
	}
	return 0;
}

static int dearest_first(const void *a, const void *b, void *model)
{
	const struct module_sum *x = a, *y = b;
	int64_t xs = time_add(x->gpu, x->backward_gpu), ys = time_add(y->gpu, y->backward_gpu);

	if (xs != ys)
		return xs > ys ? -1 : 1;
	if (x->host != y->host)
		return x->host > y->host ? -1 : 1;
	if (x->text != y->text)
		return strcmp(model_string(model, x->text), model_string(model, y->text));
	return strcmp(model_string(model, x->path), model_string(model, y->path));
}

static struct cell path_cell(struct modules_report *w, const struct module_sum *x)
{
	const char *path = model_string(w->m, x->path);

	if (x->path == STRING_NONE)
		return UNKNOWN;
	return TEXT(strcmp(path, PATH_OUTERMOST) == 0 ? "" : path);
}

static void put_modules(struct modules_report *w)
{
	if (w->n)
		qsort_r(w->list, w->n, sizeof *w->list, dearest_first, w->m);
	for (size_t i = 0; i < w->n; i++) {
		const struct module_sum *x = &w->list[i];

		table_row(w->t, (const struct cell[]){
			FIXED(share((uint64_t)x->host, (uint64_t)w->whole), 1), NUMBER(x->host), NUMBER(x->self_host),
			w->gpu ? NUMBER(x->gpu) : UNKNOWN, w->gpu ? NUMBER(x->self_gpu) : UNKNOWN, NUMBER(x->backward),
			w->gpu ? NUMBER(x->backward_gpu) : UNKNOWN, NUMBER(x->operators), path_cell(w, x),
			TEXT(x->text == STRING_NONE ? OUTSIDE : model_string(w->m, x->text)) });
	}
}

static int run(struct model *m, struct table *t, const char *variant)
{
	struct modules_report w = { .m = m, .t = t, .torch = model_torch(m), .classes = variant != NULL };
	struct torch_nesting *of = NULL;
	uint32_t *forwards = NULL;
	struct torch_cost *costs = NULL;
	int rc = -1;

	if (!model_has_modules(m)) {
		table_note(t, "no nn.Modules were recorded: %s",
			   why_lacks(m, "gprof-run --torch-modules records them, where libtorch_cpu is loaded (see report -r health)", NULL));
		return 0;
	}
	if (w.torch && (forwards = torch_forwards(m, w.torch)) && (w.costs = costs = torch_costs_make(m, w.torch, forwards, &w.gpu)) &&
	    (w.of = of = torch_modules_make(m, w.torch)))
		rc = sum(&w, forwards);
	if (rc == 0)
		put_modules(&w);
	free(forwards);
	free(costs);
	free(of);
	free(w.list);
	map_release(&w.index);
	return rc;
}

const struct report report_modules = {
	.name = "modules",
	.share = "host_pct: share of the host time of all outermost operators",
	.title = "PyTorch Modules",
	.help = "Which nn.Modules take the time? (modules:class sums up modules of one class)",
	.needs = NEED_MODULES,
	.variants = "class",
	.adds = { ROW_op },
	COLUMNS(columns),
	.run = run,
};
