/* Modules, their kernels, and the duration of a kernel. */
#include "test/sim/engine.h"

#include <cuda.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <cupti_activity.h>
#include <cupti_callbacks.h>

static struct module *modules;
static uint32_t last_module;

struct module *module_new(const void *image, size_t size)
{
	struct module *m = calloc(1, sizeof(*m));

	m->image = image;
	m->size = size;
	pthread_mutex_lock(&engine_lock);
	m->id = ++last_module;
	m->next = modules;
	modules = m;
	pthread_mutex_unlock(&engine_lock);
	return m;
}

struct function *module_find(struct module *m, const char *name)
{
	struct function *f;

	for (f = m->functions; f && strcmp(f->name, name); f = f->next)
		;
	return f;
}

/* Skips the prefix of a mangled name: "_Z" LENGTH NAME ... */
static const char *base_name(const char *name)
{
	if (strncmp(name, "_Z", 2))
		return name;
	name += 2;
	while (*name == 'N' || *name == 'L' || *name == 'K')
		name++;
	while (isdigit((unsigned char)*name))
		name++;
	return name;
}

/* Memory of the names of unloaded modules.  The next name of the same length reuses it, as in the real driver. */
static struct gone {
	char *text;
	size_t size;
	struct gone *next;
} *gone;

static char *name_new(const char *name)
{
	size_t n = strlen(name) + 1;
	char *text = NULL;

	pthread_mutex_lock(&engine_lock);
	for (struct gone **at = &gone, *g; (g = *at); at = &g->next)
		if (g->size == n) {
			text = g->text;
			*at = g->next;
			free(g);
			break;
		}
	pthread_mutex_unlock(&engine_lock);
	if (!text)
		return strdup(name);
	memcpy(text, name, n);
	return text;
}

static void name_gone(char *text)
{
	struct gone *g = malloc(sizeof(*g));

	*g = (struct gone){ text, strlen(text) + 1, gone };
	memset(text, '?', g->size - 1);
	gone = g;
}

/* Waits for the context's work, which may include the module's kernels.  Their records are delivered before their names are overwritten. */
void module_unload(struct module *m, struct context *ctx)
{
	const struct sim_tools *t = tools();
	CUpti_ModuleResourceData data = { .moduleId = m->id, .cubinSize = m->size, .pCubin = m->image };

	if (ctx)
		wait_until(context_tail(ctx));
	if (t) {
		t->resource(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, ctx, NULL, &data);
		t->names_go();
	}
	pthread_mutex_lock(&engine_lock);
	for (struct function *f = m->functions; f; f = f->next) {
		name_gone(f->name);
		f->name = strdup("");
	}
	m->functions = NULL;
	pthread_mutex_unlock(&engine_lock);
}

/* Returns the kernel with this name; creates it if needed. */
struct function *module_function(struct module *m, const char *name)
{
	struct function *f = module_find(m, name);

	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	f->name = name_new(name);
	f->module = m;
	f->takes_ns = !strncmp(base_name(name), "spin", 4);
	f->registers = 16 + (uint32_t)(strlen(name) % 6) * 8;
	pthread_mutex_lock(&engine_lock);
	f->next = m->functions;
	m->functions = f;
	pthread_mutex_unlock(&engine_lock);
	return f;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Finds the next `.entry NAME ( parameters )`; false at the end of the text. */
static bool next_entry(const char **p, char *name, size_t size, bool *takes_ns)
{
	const char *at = strstr(*p, ".entry"), *end;
	size_t n = 0;

	if (!at)
		return false;
	for (at += strlen(".entry"); isspace((unsigned char)*at); at++)
		;
	while (is_name(*at) && n + 1 < size)
		name[n++] = *at++;
	name[n] = '\0';
	end = strchr(at, '{');
	/* A kernel with a parameter named ...spin_ns takes its duration from its first argument. */
	*takes_ns = end && memmem(at, (size_t)(end - at), "spin_ns", strlen("spin_ns"));
	*p = at;
	return n > 0;
}

/* Reports the JIT compilation of PTX: a compilation and a store in the cache. */
static void jit(const struct module *m)
{
	static const uint32_t steps[] = { 3, 2 };
	struct context *ctx = context_current();

	for (size_t i = 0; ctx && i < sizeof(steps) / sizeof(*steps); i++) {
		struct op op = { .type = OP_JIT, .name = "/sim/ComputeCache", .value = steps[i], .node = m->id,
				 .device = (uint32_t)ctx->dev->ordinal, .context = ctx->id, .bytes = steps[i] == 2 ? m->size : 0 };

		op.start = sim_now();
		wait_until(op.start + 100000);
		op.end = sim_now();
		op_tell(&op);
	}
}

struct module *module_from_image(const void *image)
{
	const char *text = image;
	struct module *m;
	char name[8192];
	bool takes_ns;

	/* ELF or fat binary: kernels are created when requested by name. */
	if (!memcmp(text, "\177ELF", 4) || !memcmp(text, "\x50\xed\x55\xba", 4) || !memcmp(text, "\xb1\x43\x62\x46", 4))
		return module_new(image, 0);
	if (!strstr(text, ".version"))
		return NULL;
	m = module_new(image, strlen(text));
	while (next_entry(&text, name, sizeof(name), &takes_ns))
		module_function(m, name)->takes_ns |= takes_ns;
	jit(m);
	return m;
}

/* Lazy loading: the first launch of a kernel of a module loads the module.  The first launch of each kernel takes longer. */
void module_touch(struct function *f, struct context *ctx)
{
	const struct sim_tools *t = tools();
	CUpti_ModuleResourceData data = { .moduleId = f->module->id, .cubinSize = f->module->size,
					  .pCubin = f->module->image };
	struct op op = { .type = OP_OVERHEAD, .name = f->name, .context = ctx->id,
			 .device = (uint32_t)ctx->dev->ordinal,
			 .value = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING };
	bool first, load;

	pthread_mutex_lock(&engine_lock);
	first = !f->launched;
	f->launched = true;
	load = f->module->loaded_in != ctx;
	f->module->loaded_in = ctx;
	pthread_mutex_unlock(&engine_lock);
	if (load && t && t->resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, ctx, NULL, &data))
		truth_line("\"type\":\"module\",\"module\":%u,\"bytes\":%zu,\"context\":%u,\"correlation\":%u", f->module->id,
			   f->module->size, ctx->id, call_correlation());
	if (!first)
		return;
	op.start = sim_now();
	wait_until(op.start + 20000);
	op.end = sim_now();
	op_tell(&op);
}

/* SIM_KERNEL_NS: "5000" or "name=5000,other=700,2000"; the first entry whose text is part of the kernel's name, or that has no text. */
static bool ns_from_env(const char *name, uint64_t *ns)
{
	const char *p = getenv("SIM_KERNEL_NS");

	while (p && *p) {
		size_t n = strcspn(p, ",=");

		if (p[n] != '=' || memmem(name, strlen(name), p, n)) {
			*ns = strtoull(p[n] == '=' ? p + n + 1 : p, NULL, 0);
			return true;
		}
		p = strchr(p, ',');
		p += p ? 1 : 0;
	}
	return false;
}

static bool first_argument(void **args, void **extra, uint64_t *value)
{
	const void *from = args ? args[0] : NULL;

	for (; !from && extra && extra[0]; extra += 2)
		if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			from = extra[1];
	if (from)
		memcpy(value, from, sizeof(*value));
	return from;
}

uint64_t kernel_ns(const struct function *f, const uint32_t grid[3], const uint32_t block[3], void **args,
		   void **extra)
{
	uint64_t threads = (uint64_t)grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2];
	uint64_t ns;

	if (f->takes_ns && first_argument(args, extra, &ns))
		return ns;
	if (ns_from_env(f->name, &ns))
		return ns;
	return 2000 + threads / 100;
}
