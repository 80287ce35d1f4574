/*
 * Prints the work of the simulated GPU, one line per operation or call, for sort(1) and diff(1):
 *
 *	sim_rows rows TRACE     from the trace
 *	sim_rows truth FILE     from the truth file: delivered operations, and the outermost of the calls that had callbacks
 *	sim_rows late TRACE FILE        prints the number of API rows whose times differ by more than 20 ms from the truth file
 *
 * Times of GPU rows are those of CUPTI, exact in ns: the trace is read without clock conversion.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/reader.h"

#define MAX_PROCESS 4096

static const char *const copies[] = { "?", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP" };

struct call {
	uint32_t pid, domain, cbid, corr;
	int32_t result;
	int64_t start, duration;
	int outer_told;         /* a later line is the enclosing call */
};

static struct call *calls;
static size_t n_calls;

static void add_call(struct call c)
{
	if (!(n_calls & (n_calls + 1)))
		calls = realloc(calls, (2 * n_calls + 2) * sizeof *calls);
	calls[n_calls++] = c;
}

/* ---- the trace ---- */

static struct {
	uint32_t pid;
	char **strings;
	uint32_t n_strings;
	struct config_row *configs;
	uint32_t n_configs;
} processes[MAX_PROCESS];

static void define(uint32_t p, unsigned kind, const void *row, const char *tail, size_t n)
{
	const struct process_row *process = row;
	const struct string_row *string = row;
	const struct config_row *config = row;

	if (kind == ROW_process && process->number < MAX_PROCESS)
		processes[process->number].pid = process->pid;
	if (kind == ROW_string) {
		if (string->id >= processes[p].n_strings) {
			processes[p].strings = realloc(processes[p].strings, (string->id + 1) * sizeof(char *));
			memset(processes[p].strings + processes[p].n_strings, 0, (string->id + 1 - processes[p].n_strings) * sizeof(char *));
			processes[p].n_strings = string->id + 1;
		}
		processes[p].strings[string->id] = strndup(tail, n);
	}
	if (kind == ROW_config) {
		if (config->id >= processes[p].n_configs) {
			processes[p].configs = realloc(processes[p].configs, (config->id + 1) * sizeof *config);
			processes[p].n_configs = config->id + 1;
		}
		processes[p].configs[config->id] = *config;
	}
}

static const char *string(uint32_t p, uint32_t id)
{
	return id < processes[p].n_strings && processes[p].strings[id] ? processes[p].strings[id] : "";
}

static void tell(uint32_t p, unsigned kind, const void *row, const char *tail, size_t n)
{
	uint32_t pid = processes[p].pid;
	const struct kernel_row *k = row;
	const struct memcpy_row *c = row;
	const struct memset_row *m = row;
	const struct sync_row *s = row;
	const struct overhead_row *o = row;
	const struct api_row *a = row;
	const struct graph_node_row *gn = row;
	const struct graph_row *w = row;
	const struct memory_row *y = row;
	const struct mempool_row *l = row;
	const struct jit_row *j = row;
	const struct unified_row *u = row;
	struct config_row none = { 0 };
	const struct config_row *g;

	(void)tail;
	(void)n;
	switch (kind) {
	case ROW_kernel:
		g = k->config < processes[p].n_configs ? &processes[p].configs[k->config] : &none;
		printf("%u kernel %u %" PRId64 " %" PRId64 " %u %u %u [%u,%u,%u] [%u,%u,%u] %u %" PRIu64 " %s\n", pid, k->corr, k->start,
		       k->start + k->duration, k->device, k->context, k->stream, g->grid_x, g->grid_y, g->grid_z, g->block_x,
		       g->block_y, g->block_z, k->graph, k->graph_node, string(p, k->name));
		break;
	case ROW_memcpy:
		printf("%u memcpy %u %" PRId64 " %" PRId64 " %u %u %u %" PRIu64 " %u %u %" PRIu64 " %s\n", pid, c->corr, c->start,
		       c->start + c->duration, c->device, c->context, c->stream, c->bytes, c->flags & MEMCPY_ASYNC, c->graph,
		       c->graph_node, c->kind < 11 ? copies[c->kind] : "?");
		break;
	case ROW_memset:
		printf("%u memset %u %" PRId64 " %" PRId64 " %u %u %u %" PRIu64 " %u %u %" PRIu64 "\n", pid, m->corr, m->start,
		       m->start + m->duration, m->device, m->context, m->stream, m->bytes, m->flags, m->graph, m->graph_node);
		break;
	case ROW_sync:
		printf("%u sync %u %" PRId64 " %" PRId64 " %u %u %u\n", pid, s->corr, s->start, s->start + s->duration, s->context,
		       s->stream, s->type);
		break;
	case ROW_overhead:
		printf("%u overhead %" PRId64 " %" PRId64 " %u\n", pid, o->start, o->start + o->duration, o->kind);
		break;
	case ROW_memory:
		printf("%u memory %u %" PRId64 " %u %u %u %" PRIu64 " %u %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", pid,
		       y->corr, y->start, y->device, y->context, y->stream, y->bytes, y->flags & MEMORY_ASYNC, y->operation,
		       y->mem_kind, y->address, y->pool, y->pool_size, y->pool_used);
		break;
	case ROW_mempool:
		printf("%u pool %u %" PRId64 " %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", pid, l->corr, l->start, l->device,
		       l->operation, l->address, l->size, l->used);
		break;
	case ROW_jit:
		printf("%u jit %u %" PRId64 " %" PRId64 " %u %u %" PRIu64 " %" PRIu64 " %s\n", pid, j->corr, j->start,
		       j->start + j->duration, j->device, j->operation, j->job, j->bytes, string(p, j->path));
		break;
	case ROW_unified:
		printf("%u unified %u %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64 " %u %u %u\n", pid, u->kind, u->start,
		       u->start + u->duration, u->address, u->bytes + u->pc + u->faults,
		       u->kind == 5 ? (uint32_t)u->devices : u->source, u->target, u->cause + u->access + u->flags);
		break;
	case ROW_graph:
		printf("%u graph %u %" PRId64 " %" PRId64 " %u %u %u %u\n", pid, w->corr, w->start, w->start + w->duration, w->device,
		       w->context, w->stream, w->graph);
		break;
	case ROW_graph_node:
		printf("%u node %" PRIu64 " %" PRIu64 " %u %u\n", pid, gn->node, gn->original, gn->type, gn->corr);
		break;
	case ROW_api:
		add_call((struct call){ pid, a->cbid >> 16, a->cbid & 0xffff, a->corr, a->result, a->start, a->duration, 0 });
		break;
	}
}

static void each_row(struct trace *t, void (*visit)(uint32_t p, unsigned kind, const void *row, const char *tail, size_t n))
{
	for (size_t i = 0; i < t->n_chunks; i++) {
		struct chunk *c = &t->chunks[i];
		const struct record *r = c->record;
		struct buf tails = { 0 };
		size_t at = 0;
		char *rows;

		if (!r || c->bad || c->head.process >= MAX_PROCESS)
			continue;
		rows = malloc((size_t)c->head.rows * r->size + 1);
		if (trace_rows(t, c, rows) == 0 && (r->len_field < 0 || trace_tails(t, c, &tails) == 0)) {
			for (uint32_t k = 0; k < c->head.rows; k++) {
				const char *row = rows + (size_t)k * r->size;
				size_t n = r->len_field >= 0 ? field_load(&r->fields[r->len_field], row) : 0;

				visit(c->head.process, r->id, row, (const char *)tails.data + at, n);
				at += n;
			}
		}
		buf_free(&tails);
		free(rows);
	}
}

static int read_trace(const char *path, int convert)
{
	struct trace t = TRACE_INIT;
	struct trace_error err = { 0 };

	if (trace_open(&t, path, 0, &err) < 0) {
		fprintf(stderr, "sim_rows: %s\n", err.text);
		return -1;
	}
	if (!convert) {
		clock_map_release(&t.clock);
		clock_map_init(&t.clock, NULL, 0);
	}
	each_row(&t, define);
	each_row(&t, tell);
	trace_close(&t);
	return 0;
}

/* ---- the truth ---- */

/* Returns the text after "key": in a line, or "". */
static const char *at(const char *line, const char *key)
{
	char name[64];
	const char *p;

	snprintf(name, sizeof name, "\"%s\":", key);
	p = strstr(line, name);
	return p ? p + strlen(name) : "";
}

static uint64_t num(const char *line, const char *key)
{
	return strtoull(at(line, key), NULL, 10);
}

static int is(const char *line, const char *key, const char *value)
{
	return strncmp(at(line, key), value, strlen(value)) == 0;
}

static void tell_truth(const char *line)
{
	const char *name = at(line, "name");
	int length;
	uint32_t pid = (uint32_t)num(line, "pid"), corr = (uint32_t)num(line, "correlation");
	uint64_t start = num(line, "start"), end = num(line, "end");

	name += *name == '"';
	length = (int)strcspn(name, "\"");
	if (is(line, "type", "\"api\"") && is(line, "told", "true"))
		add_call((struct call){ pid, is(line, "domain", "\"runtime\"") ? 2 : 1, (uint32_t)num(line, "cbid"), corr,
					(int32_t)num(line, "result"), (int64_t)start, (int64_t)(end - start), 0 });
	if (is(line, "type", "\"node\"") && is(line, "told", "true"))
		printf("%u node %" PRIu64 " %" PRIu64 " %u %u\n", pid, num(line, "node"), num(line, "original"), (unsigned)num(line, "kind"), corr);
	if (!is(line, "fate", "\"recorded\""))
		return;
	if (is(line, "zeroed", "true"))
		start = end = 0;
	if (is(line, "type", "\"kernel\""))
		printf("%u kernel %u %" PRIu64 " %" PRIu64 " %u %u %u %.*s %.*s %u %" PRIu64 " %.*s\n", pid, corr, start, end,
		       (unsigned)num(line, "device"), (unsigned)num(line, "context"), (unsigned)num(line, "stream"),
		       (int)strcspn(at(line, "grid"), "]") + 1, at(line, "grid"), (int)strcspn(at(line, "block"), "]") + 1,
		       at(line, "block"), (unsigned)num(line, "graph"), num(line, "node"), length, name);
	if (is(line, "type", "\"memcpy\"") || is(line, "type", "\"memset\""))
		printf("%u %s %u %" PRIu64 " %" PRIu64 " %u %u %u %" PRIu64 " %u %u %" PRIu64 "%s%.*s\n", pid, is(line, "type", "\"memcpy\"") ? "memcpy" : "memset",
		       corr, start, end, (unsigned)num(line, "device"), (unsigned)num(line, "context"), (unsigned)num(line, "stream"),
		       num(line, "bytes"), (unsigned)num(line, "async"), (unsigned)num(line, "graph"), num(line, "node"),
		       is(line, "type", "\"memcpy\"") ? " " : "", is(line, "type", "\"memcpy\"") ? length : 0, name);
	if (is(line, "type", "\"memory\""))
		printf("%u memory %u %" PRIu64 " %u %u %u %" PRIu64 " %u %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", pid,
		       corr, start, (unsigned)num(line, "device"), (unsigned)num(line, "context"), (unsigned)num(line, "stream"),
		       num(line, "bytes"), (unsigned)num(line, "async"), (unsigned)num(line, "operation"),
		       (unsigned)num(line, "kind"), num(line, "address"), num(line, "pool"), num(line, "size"),
		       num(line, "used"));
	if (is(line, "type", "\"pool\""))
		printf("%u pool %u %" PRIu64 " %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", pid, corr, start,
		       (unsigned)num(line, "device"), (unsigned)num(line, "operation"), num(line, "pool"), num(line, "size"),
		       num(line, "used"));
	if (is(line, "type", "\"jit\""))
		printf("%u jit %u %" PRIu64 " %" PRIu64 " %u %u %" PRIu64 " %" PRIu64 " %.*s\n", pid, corr, start, end,
		       (unsigned)num(line, "device"), (unsigned)num(line, "operation"), num(line, "job"), num(line, "bytes"), length,
		       name);
	if (is(line, "type", "\"unified\"")) {
		/* cupti_activity.h: these counters have no end, source or target. */
		unsigned kind = (unsigned)num(line, "kind");
		bool transfer = kind <= 2 || kind == 8, moves = transfer || kind == 7;

		printf("%u unified %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %u\n", pid, kind, start,
		       transfer || kind == 4 || kind == 6 ? end : start, num(line, "address"), num(line, "value"),
		       kind == 3 ? UINT32_MAX : (unsigned)num(line, "device"), moves ? (unsigned)num(line, "target") : UINT32_MAX,
		       (unsigned)num(line, "flags"));
	}
	if (is(line, "type", "\"graph\""))
		printf("%u graph %u %" PRIu64 " %" PRIu64 " %u %u %u %u\n", pid, corr, start, end, (unsigned)num(line, "device"),
		       (unsigned)num(line, "context"), (unsigned)num(line, "stream"), (unsigned)num(line, "graph"));
	if (is(line, "type", "\"sync\""))
		printf("%u sync %u %" PRIu64 " %" PRIu64 " %u %u %u\n", pid, corr, start, end, (unsigned)num(line, "context"),
		       (unsigned)num(line, "stream"), (unsigned)num(line, "kind"));
	if (is(line, "type", "\"overhead\""))
		printf("%u overhead %" PRIu64 " %" PRIu64 " %u\n", pid, start, end, (unsigned)num(line, "kind"));
}

/* Lines are written when calls return: driver calls before the enclosing runtime call, which has the same correlation id. */
static void keep_outermost(void)
{
	for (size_t i = 0; i < n_calls; i++)
		for (size_t k = i + 1; k < n_calls && !calls[i].outer_told; k++)
			calls[i].outer_told = calls[k].pid == calls[i].pid && calls[k].corr == calls[i].corr;
}

static int read_truth(const char *path)
{
	static char line[32768];
	FILE *f = fopen(path, "r");

	if (!f) {
		perror(path);
		return -1;
	}
	while (fgets(line, sizeof line, f))
		tell_truth(line);
	fclose(f);
	keep_outermost();
	return 0;
}

static void print_calls(void)
{
	for (size_t i = 0; i < n_calls; i++)
		if (!calls[i].outer_told)
			printf("%u api %u %u %u %d\n", calls[i].pid, calls[i].domain, calls[i].cbid, calls[i].corr, calls[i].result);
}

/* Returns the larger difference, of start or of duration. */
static int64_t distance(const struct call *a, const struct call *b)
{
	int64_t start = llabs(a->start - b->start), duration = llabs(a->duration - b->duration);

	return start > duration ? start : duration;
}

/* On a busy machine a few calls, less than a tenth, are preempted for some 10 ms between the two readings of a clock. */
static int print_late(const char *trace, const char *truth)
{
	size_t n, late = 0, apart = 0;

	if (!freopen("/dev/null", "w", stdout) || read_trace(trace, 1) < 0)
		return 1;
	n = n_calls;
	if (read_truth(truth) < 0)
		return 1;
	for (size_t i = 0; i < n; i++)
		for (size_t k = n; k < n_calls; k++)
			if (calls[k].pid == calls[i].pid && calls[k].corr == calls[i].corr && calls[k].cbid == calls[i].cbid) {
				late += distance(&calls[k], &calls[i]) > 1000000000;
				apart += distance(&calls[k], &calls[i]) > 20000000;
			}
	fprintf(stderr, "%zu\n", apart > 3 + n / 10 ? apart : late);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "late"))
		return print_late(argv[2], argv[3]);
	if (argc != 3 || (!strcmp(argv[1], "rows") ? read_trace(argv[2], 0) : read_truth(argv[2])) < 0)
		return 1;
	print_calls();
	return 0;
}
