/*
 * Profiles for pprof (google/pprof, proto/profile.proto).  Each metric is a value type, so one file holds all metrics; that of --metric is
 * the default.  Locations have no addresses, because functions and lines are known.
 */
#include "cli/export/stack_weights.h"
#include "cli/model/process.h"
#include "trace/grow.h"

#include <stdio.h>
#include <stdlib.h>

struct bytes {
	uint8_t *data;
	size_t n, cap;
	bool oom;
};

struct pprof {
	struct export *x;
	struct bytes all, part, inner;
	struct map strings;             /* model's string id -> index in the table, from 1 */
	uint32_t *order;                /* the table: string ids */
	size_t n_strings, cap_strings;
	struct map pseudo;              /* string id of a call or kernel -> position in pseudos */
	uint32_t *pseudos;
	size_t cap_pseudos;
	bool oom;
};

/* ---- protobuf ---- */

static void put_bytes(struct bytes *b, const void *p, size_t n)
{
	if (!GROW(b->data, b->n + n, b->cap)) {
		b->oom = true;
		return;
	}
	memcpy(b->data + b->n, p, n);
	b->n += n;
}

static void varint(struct bytes *b, uint64_t v)
{
	uint8_t bytes[10];
	size_t n = 0;

	do {
		bytes[n] = (uint8_t)(v | 0x80);
		v >>= 7;
	} while (v && ++n);
	bytes[n++] &= 0x7f;
	put_bytes(b, bytes, n);
}

/* Writes a number; 0 is the default and is left out. */
static void number(struct bytes *b, unsigned field, uint64_t v)
{
	if (!v)
		return;
	varint(b, field << 3);
	varint(b, v);
}

static void message(struct bytes *b, unsigned field, const void *p, size_t n)
{
	varint(b, field << 3 | 2);
	varint(b, n);
	if (n)
		put_bytes(b, p, n);
}

/* ---- strings ---- */

/* Index of a string; 0 is "". */
static uint64_t string(struct pprof *p, uint32_t id)
{
	bool new;
	uint32_t *at;

	if (id == STRING_NONE)
		return 0;
	at = map_put(&p->strings, id, (uint32_t)p->n_strings + 1, &new);
	if (!at) {
		p->oom = true;
		return 0;
	}
	if (new && !GROW(p->order, p->n_strings + 1, p->cap_strings)) {
		p->oom = true;
		return 0;
	}
	if (new)
		p->order[p->n_strings++] = id;
	return *at - 1;
}

static uint64_t word(struct pprof *p, const char *text)
{
	uint32_t id = model_intern(p->x->m, text);

	if (id == MAP_NONE)
		p->oom = true;
	return id == MAP_NONE ? 0 : string(p, id);
}

static void put_strings(struct pprof *p)
{
	message(&p->all, 6, "", 0);
	for (size_t i = 0; i < p->n_strings; i++) {
		const char *text = model_string(p->x->m, p->order[i]);

		message(&p->all, 6, text, strlen(text));
	}
}

/* ---- the profile ---- */

static const struct { const char *type, *unit; } types[METRICS] = {
	[METRIC_GPU_TIME] = { "gpu_time", "nanoseconds" }, [METRIC_API_TIME] = { "api_time", "nanoseconds" },
	[METRIC_CPU_SAMPLES] = { "cpu_samples", "count" }, [METRIC_BYTES] = { "bytes", "bytes" },
	[METRIC_COUNT] = { "count", "count" }, [METRIC_RANGE_TIME] = { "range_time", "nanoseconds" },
};

static void put_types(struct pprof *p)
{
	for (unsigned i = 0; i < METRICS; i++) {
		p->part.n = 0;
		number(&p->part, 1, word(p, types[i].type));
		number(&p->part, 2, word(p, types[i].unit));
		message(&p->all, 1, p->part.data, p->part.n);
	}
	number(&p->all, 14, word(p, types[p->x->metric].type));
	number(&p->all, 9, (uint64_t)model_start(p->x->m));
	number(&p->all, 10, (uint64_t)(model_end(p->x->m) - model_start(p->x->m)));
}

/* Calls and kernels are written as functions too, numbered after the program's functions. */
static uint64_t pseudo(struct pprof *p, uint32_t name)
{
	size_t n = p->pseudo.n;
	bool new;
	uint32_t *at = map_put(&p->pseudo, name, (uint32_t)n, &new);

	if (!at || (new && !GROW(p->pseudos, n + 1, p->cap_pseudos))) {
		p->oom = true;
		return 0;
	}
	p->pseudos[*at - 1] = name;
	return *at - 1;
}

static void put_function(struct pprof *p, uint64_t id, uint32_t name, uint32_t file, uint32_t line)
{
	p->part.n = 0;
	number(&p->part, 1, id);
	number(&p->part, 2, string(p, name));
	number(&p->part, 3, string(p, name));
	number(&p->part, 4, string(p, file));
	number(&p->part, 5, line);
	message(&p->all, 5, p->part.data, p->part.n);
}

static void put_location(struct pprof *p, uint64_t id, uint64_t function, uint32_t line)
{
	p->inner.n = 0;
	number(&p->inner, 1, function);
	number(&p->inner, 2, line);
	p->part.n = 0;
	number(&p->part, 1, id);
	message(&p->part, 4, p->inner.data, p->inner.n);
	message(&p->all, 4, p->part.data, p->part.n);
}

static void put_sample(struct pprof *p, const struct stack_weight *w, uint32_t *frames)
{
	const struct stacks *s = model_stacks(p->x->m);
	size_t n = stack_frames(p->x->m, w->stack, VIEW_MIXED, SIZE_MAX, frames);
	uint32_t processes;
	const struct process *of = model_processes(p->x->m, &processes);
	char name[64], text[300];

	p->inner.n = 0;
	if (w->leaf != STRING_NONE)
		varint(&p->inner, s->n_places + 1 + pseudo(p, w->leaf));
	if (w->call != STRING_NONE)
		varint(&p->inner, s->n_places + 1 + pseudo(p, w->call));
	for (size_t i = 0; i < n; i++)
		varint(&p->inner, frames[i] + 1ull);
	if (!n)
		varint(&p->inner, s->n_places + 1 + pseudo(p, model_intern(p->x->m, "(stack not recorded)")));
	p->part.n = 0;
	message(&p->part, 1, p->inner.data, p->inner.n);
	p->inner.n = 0;
	for (unsigned i = 0; i < METRICS; i++)
		varint(&p->inner, (uint64_t)w->values[i]);
	message(&p->part, 2, p->inner.data, p->inner.n);
	snprintf(text, sizeof text, "%.200s %u", process_name(&of[w->process], name, sizeof name), of[w->process].pid);
	p->inner.n = 0;
	number(&p->inner, 1, word(p, "process"));
	number(&p->inner, 2, word(p, text));
	message(&p->part, 3, p->inner.data, p->inner.n);
	message(&p->all, 2, p->part.data, p->part.n);
	p->x->events++;
}

static void put_functions(struct pprof *p)
{
	const struct stacks *s = model_stacks(p->x->m);

	for (size_t i = 0; i < s->n_functions; i++)
		put_function(p, i + 1, s->functions[i].name,
			     s->functions[i].file != STRING_NONE ? s->functions[i].file : s->functions[i].image,
			     s->functions[i].line);
	for (size_t i = 0; i < s->n_places; i++)
		put_location(p, i + 1, s->places[i].function + 1ull, s->places[i].line);
	for (size_t i = 0; i < p->pseudo.n && !p->oom; i++) {
		put_function(p, s->n_functions + i + 1, p->pseudos[i], STRING_NONE, 0);
		put_location(p, s->n_places + i + 1, s->n_functions + i + 1, 0);
	}
}

static bool is_empty(const struct stack_weight *w)
{
	for (unsigned i = 0; i < METRICS; i++)
		if (w->values[i])
			return false;
	return true;
}

static int sum(struct export *x)
{
	struct pprof p = { .x = x };
	struct stack_weights w;
	uint32_t *frames = NULL;
	int rc = stack_weights_make(&w, x);

	if (rc == 0 && !(frames = malloc((stacks_deepest(model_stacks(x->m)) + 1) * sizeof *frames)))
		rc = -1;
	if (rc == 0) {
		put_types(&p);
		for (size_t i = 0; i < w.n; i++)
			if (!is_empty(&w.list[i]))
				put_sample(&p, &w.list[i], frames);
		put_functions(&p);
		put_strings(&p);
		if (p.oom || p.all.oom || p.part.oom || p.inner.oom)
			rc = -1;
	}
	if (rc == 0)
		out_bytes(x->out, p.all.data, p.all.n);
	free(p.all.data);
	free(p.part.data);
	free(p.inner.data);
	free(p.order);
	map_release(&p.strings);
	map_release(&p.pseudo);
	free(p.pseudos);
	free(frames);
	stack_weights_release(&w);
	return rc;
}

const struct exporter export_pprof = {
	.name = "pprof",
	.suffix = ".pb.gz",
	.help = "a profile for pprof",
	.sum = sum,
	.gzip = true,
};
