/* cuda_memory: allocations and peak of each process, by device and kind of memory. */
#include "cli/model/map.h"
#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/report/parts/report.h"
#include "cli/report/parts/why.h"
#include "trace/grow.h"

#include <stdlib.h>

#define ALLOCATION 1u           /* memory.operation */
#define RELEASE    2u

static const struct heading columns[] = {
	{ "pid", COLUMN_ID }, { "device", COLUMN_ID | COLUMN_KEY }, { "memory_kind", COLUMN_TEXT | COLUMN_KEY }, { "allocations", COLUMN_RARE },
	{ "releases", COLUMN_RARE }, { "allocated_mb", COLUMN_RARE }, { "largest_mb", 0 }, { "peak_mb", COLUMN_KEY },
	{ "peak_at_ns", 0 }, { "left_mb", COLUMN_KEY },
};

/* Memory of one kind on one device, allocated by one process.  Bytes. */
struct usage {
	uint32_t process, device, kind;
	bool pooled;
	uint64_t allocations, releases, total, largest;
	uint64_t now, peak;
	int64_t peak_at;
};

struct memory {
	struct model *m;
	const int64_t *start;
	const uint64_t *address, *bytes, *pool;
	const uint32_t *device, *operation, *kind, *process;
	struct map index;               /* process, device, kind, pooled -> position in list */
	struct usage *list;
	size_t cap;
	struct map *live;               /* by process: address -> row of its allocation */
	uint64_t unknown;               /* releases whose allocation is not in the trace */
};

static bool columns_read(struct memory *y)
{
	struct model *m = y->m;

	return (y->start = MODEL_I64(m, memory, start)) && (y->address = MODEL_U64(m, memory, address)) &&
	       (y->bytes = MODEL_U64(m, memory, bytes)) && (y->pool = MODEL_U64(m, memory, pool)) &&
	       (y->device = MODEL_U32(m, memory, device)) && (y->operation = MODEL_U32(m, memory, operation)) &&
	       (y->kind = MODEL_U32(m, memory, mem_kind)) && (y->process = model_row_process(m, ROW_memory));
}

static struct usage *usage_of(struct memory *y, size_t row)
{
	const struct usage none = {
		.process = y->process[row], .device = y->device[row], .kind = y->kind[row], .pooled = y->pool[row] != 0,
	};
	uint64_t key = (uint64_t)none.process << 32 | (uint64_t)(none.device & 0xffff) << 16 |
		       (none.kind & 0x7fff) << 1 | none.pooled;
	uint32_t *at;
	bool new;

	if (!GROW(y->list, y->index.n + 1, y->cap))
		return NULL;
	at = map_put(&y->index, key, (uint32_t)y->index.n, &new);
	if (at && new)
		y->list[*at - 1] = none;
	return at ? &y->list[*at - 1] : NULL;
}

static int allocated(struct memory *y, size_t row)
{
	struct usage *u = usage_of(y, row);

	if (!u || !map_set(&y->live[y->process[row]], y->address[row], (uint32_t)row))
		return -1;
	u->allocations++;
	u->total += y->bytes[row];
	u->now += y->bytes[row];
	if (y->bytes[row] > u->largest)
		u->largest = y->bytes[row];
	if (u->now > u->peak) {
		u->peak = u->now;
		u->peak_at = y->start[row];
	}
	return 0;
}

/* A release has only the address; size and kind are those of its allocation. */
static int released(struct memory *y, size_t row)
{
	struct map *live = &y->live[y->process[row]];
	uint32_t from = map_get(live, y->address[row]);
	struct usage *u;

	if (from == MAP_NONE || y->operation[from] != ALLOCATION) {
		y->unknown++;
		return 0;
	}
	u = usage_of(y, from);
	/* Marks the address as released: the row of the release is not an allocation. */
	if (!u || !map_set(live, y->address[row], (uint32_t)row))
		return -1;
	u->releases++;
	u->now -= y->bytes[from];
	return 0;
}

static int follow(struct memory *y)
{
	size_t n = model_rows(y->m, ROW_memory);
	struct timed *order = malloc(n * sizeof *order + 1);
	int rc = order ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < n; i++)
		order[i] = (struct timed){ .time = y->start[i], .row = (uint32_t)i };
	if (rc == 0)
		rc = timed_sort(order, n);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = y->operation[order[i].row] == ALLOCATION ? allocated(y, order[i].row) :
		     y->operation[order[i].row] == RELEASE    ? released(y, order[i].row) : 0;
	free(order);
	return rc;
}

static int by_place(const void *a, const void *b)
{
	const struct usage *u = a, *v = b;

	if (u->process != v->process)
		return u->process < v->process ? -1 : 1;
	if (u->peak != v->peak)
		return u->peak > v->peak ? -1 : 1;
	if (u->device != v->device)
		return u->device < v->device ? -1 : 1;
	return u->kind != v->kind ? (u->kind < v->kind ? -1 : 1) : u->pooled - v->pooled;
}

static struct cell megabytes(uint64_t bytes)
{
	return FIXED((int64_t)(bytes / 1000 + (bytes % 1000 >= 500)), 3);
}

static void print(struct memory *y, struct table *t)
{
	struct usage *u = y->list;
	size_t n = y->index.n;
	uint32_t n_processes;
	const struct process *p = model_processes(y->m, &n_processes);
	int64_t begin = model_start(y->m);

	if (n)
		qsort(u, n, sizeof *u, by_place);
	for (size_t i = 0; i < n; i++) {
		const char *kind = memory_words(u[i].kind);

		table_row(t, (const struct cell[]){
				     NUMBER(p[u[i].process].pid), NUMBER(u[i].device),
				     TEXT(table_keep(t, "%s%s", kind ? kind : "Unknown", u[i].pooled ? " (pool)" : "")),
				     NUMBER(u[i].allocations), NUMBER(u[i].releases), megabytes(u[i].total),
				     megabytes(u[i].largest), megabytes(u[i].peak),
				     u[i].peak_at ? NUMBER(time_sub(u[i].peak_at, begin)) : UNKNOWN,
				     megabytes(u[i].now) });
	}
	if (y->unknown)
		table_note(t, "releases whose allocation was not recorded: %llu; they are in no column",
			   (unsigned long long)y->unknown);
}

static void why_none(struct model *m, struct table *t)
{
	const char *recorded = model_attribute(m, "setting.memory_usage");

	if (!recorded || strcmp(recorded, "1") != 0)
		table_note(t, "allocations were not recorded: %s", why_lacks(m, "record with --cuda-memory-usage=true", NULL));
	else
		why_no_gpu(m, t, "allocations");
}

static int run(struct model *m, struct table *t, const char *variant)
{
	struct memory y = { .m = m };
	uint32_t n_processes;
	int rc = -1;

	(void)variant;
	model_processes(m, &n_processes);
	y.live = calloc(n_processes + 1, sizeof *y.live);
	if (y.live && columns_read(&y))
		rc = follow(&y);
	if (rc == 0)
		print(&y, t);
	if (rc == 0 && !y.index.n)
		why_none(m, t);
	for (uint32_t i = 0; y.live && i < n_processes; i++)
		map_release(&y.live[i]);
	free(y.live);
	map_release(&y.index);
	free(y.list);
	return rc;
}

const struct report report_cuda_mem_usage = {
	.name = "cuda_memory",
	.title = "CUDA Memory Usage",
	.help = "How much memory does the program allocate and release, and what is its peak?",
	.needs = NEED_MEMORY,
	COLUMNS(columns),
	.run = run,
};
