/* cuda_gpu_trace: every kernel, copy, memory set, whole graph and transfer of unified memory, one row each, by start. */
#include "cli/model/gpu/gpu.h"
#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/report/parts/report.h"
#include "cli/report/parts/whole_graphs.h"
#include "cli/report/parts/why.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "Start (ns)", COLUMN_KEY }, { "Duration (ns)", COLUMN_KEY }, { "CorrId", COLUMN_ID },
	{ "GrdX", COLUMN_RARE }, { "GrdY", COLUMN_RARE }, { "GrdZ", COLUMN_RARE },
	{ "BlkX", COLUMN_RARE }, { "BlkY", COLUMN_RARE }, { "BlkZ", COLUMN_RARE }, { "Reg/Trd", COLUMN_RARE },
	{ "StcSMem (MB)", COLUMN_RARE }, { "DymSMem (MB)", COLUMN_RARE }, { "Bytes (MB)", 0 }, { "Throughput (MB/s)", 0 },
	{ "SrcMemKd", COLUMN_TEXT | COLUMN_RARE }, { "DstMemKd", COLUMN_TEXT | COLUMN_RARE }, { "Device", COLUMN_TEXT },
	{ "Ctx", COLUMN_ID | COLUMN_RARE }, { "GreenCtx", COLUMN_ID | COLUMN_RARE }, { "Strm", COLUMN_ID }, { "Name", COLUMN_TEXT },
};

enum {
	C_START, C_DURATION, C_CORR, C_GRID, C_BLOCK = C_GRID + 3, C_REGISTERS = C_BLOCK + 3, C_STATIC, C_DYNAMIC,
	C_BYTES, C_THROUGHPUT, C_SOURCE, C_TARGET, C_DEVICE, C_CONTEXT, C_GREEN, C_STREAM, C_NAME, N_CELLS
};

/* Columns that every kind of GPU row has. */
struct common_columns {
	const uint32_t *process, *corr, *device, *context, *stream;
	const int64_t *duration;
};

struct gpu_listing {
	struct model *m;
	struct table *t;
	int64_t begin;
	struct common_columns kernels, copies, sets, graphs;
	const uint32_t *graph, *name, *config, *kind, *source, *target, *set_target;
	const uint64_t *bytes, *set_bytes;
	const int64_t *unified_start, *unified_duration;
	const uint64_t *unified_bytes;
	const uint32_t *unified_kind, *unified_from, *unified_to, *unified_process;
	uint64_t untimed;               /* number of rows without a time */
	uint32_t device_process, device_id;     /* the process and the device that `device` is the name of */
	const char *device;             /* NULL: none yet */
	const char *copies_named[16];   /* "[CUDA memcpy Host-to-Device]", by kind */
};

#define COMMON(c, m, rec)                                                                                              \
	((c).process = model_row_process((m), ROW_##rec), (c).corr = MODEL_U32((m), rec, corr),                        \
	 (c).device = MODEL_U32((m), rec, device), (c).context = MODEL_U32((m), rec, context),                         \
	 (c).stream = MODEL_U32((m), rec, stream), (c).duration = MODEL_I64((m), rec, duration),                       \
	 (c).process && (c).corr && (c).device && (c).context && (c).stream && (c).duration)

static bool columns_read(struct gpu_listing *l)
{
	struct model *m = l->m;

	return COMMON(l->kernels, m, kernel) && COMMON(l->copies, m, memcpy) && COMMON(l->sets, m, memset) &&
	       COMMON(l->graphs, m, graph) && (l->graph = MODEL_U32(m, graph, graph)) &&
	       (l->name = MODEL_U32(m, kernel, name)) && (l->config = MODEL_U32(m, kernel, config)) &&
	       (l->kind = MODEL_U32(m, memcpy, kind)) && (l->source = MODEL_U32(m, memcpy, src_kind)) &&
	       (l->target = MODEL_U32(m, memcpy, dst_kind)) && (l->bytes = MODEL_U64(m, memcpy, bytes)) &&
	       (l->set_bytes = MODEL_U64(m, memset, bytes)) && (l->set_target = MODEL_U32(m, memset, mem_kind));
}

static bool unified_read(struct gpu_listing *l)
{
	struct model *m = l->m;

	return (l->unified_start = MODEL_I64(m, unified, start)) &&
	       (l->unified_duration = MODEL_I64(m, unified, duration)) &&
	       (l->unified_bytes = MODEL_U64(m, unified, bytes)) && (l->unified_kind = MODEL_U32(m, unified, kind)) &&
	       (l->unified_from = MODEL_U32(m, unified, source)) && (l->unified_to = MODEL_U32(m, unified, target)) &&
	       (l->unified_process = model_row_process(m, ROW_unified));
}

/* All rows by start; the caller frees the array.  NULL: out of memory. */
static struct timed *order_all(struct gpu_listing *l, size_t *n)
{
	struct timed *order = model_gpu_order(l->m, n), *all;

	if (!order || !columns_read(l) || !unified_read(l) ||
	    !(all = realloc(order, (*n + model_rows(l->m, ROW_unified) + 1) * sizeof *all)))
		goto failed;
	order = all;
	for (size_t i = 0; i < model_rows(l->m, ROW_unified); i++)
		if (unified_words(l->unified_kind[i]))
			order[(*n)++] = (struct timed){ .time = l->unified_start[i], .kind = ROW_unified, .row = (uint32_t)i };
	if (timed_sort(order, *n) == 0)
		return order;
failed:
	free(order);
	return NULL;
}

/* As in nsys: "NVIDIA H100 (0)". */
static const char *device_name(struct gpu_listing *l, uint32_t process, uint32_t id)
{
	const struct device_row *d;

	if (l->device && l->device_process == process && l->device_id == id)
		return l->device;
	d = model_device(l->m, process, id);
	l->device_process = process;
	l->device_id = id;
	l->device = table_keep(l->t, "%s (%u)", d ? model_string(l->m, d->name) : "?", id);
	return l->device;
}

static struct cell megabytes(uint64_t bytes)
{
	return FIXED((int64_t)(bytes / 1000 + (bytes % 1000 >= 500)), 3);
}

static struct cell words(struct table *t, const char *text, unsigned number)
{
	return !number ? UNKNOWN : TEXT(text ? text : table_keep(t, "%u", number));
}

static void put_common(struct gpu_listing *l, struct cell *cell, const struct common_columns *c, const struct timed *at)
{
	bool timed = at->time && c->duration[at->row] >= 0;

	l->untimed += !timed;
	cell[C_START] = timed ? NUMBER(time_sub(at->time, l->begin)) : UNKNOWN;
	cell[C_DURATION] = timed ? NUMBER(c->duration[at->row]) : UNKNOWN;
	cell[C_CORR] = NUMBER(c->corr[at->row]);
	cell[C_DEVICE] = TEXT(device_name(l, c->process[at->row], c->device[at->row]));
	cell[C_CONTEXT] = NUMBER(c->context[at->row]);
	cell[C_STREAM] = NUMBER(c->stream[at->row]);
}

static void put_bytes(struct cell *cell, uint64_t bytes, int64_t duration)
{
	if (bytes > INT64_MAX)
		return;
	cell[C_BYTES] = megabytes(bytes);
	/* 1 byte/ns = 1000 MB/s */
	if (duration > 0)
		cell[C_THROUGHPUT] = FIXED(
			(int64_t)(((unsigned __int128)bytes * 1000000 + (uint64_t)duration / 2) / (uint64_t)duration),
			3);
}

static void put_kernel(struct gpu_listing *l, struct cell *cell, const struct timed *at)
{
	const struct config_row *c = model_config(l->m, l->kernels.process[at->row], l->config[at->row]);

	put_common(l, cell, &l->kernels, at);
	if (c) {
		cell[C_GRID] = NUMBER(c->grid_x);
		cell[C_GRID + 1] = NUMBER(c->grid_y);
		cell[C_GRID + 2] = NUMBER(c->grid_z);
		cell[C_BLOCK] = NUMBER(c->block_x);
		cell[C_BLOCK + 1] = NUMBER(c->block_y);
		cell[C_BLOCK + 2] = NUMBER(c->block_z);
		cell[C_REGISTERS] = c->registers ? NUMBER(c->registers) : UNKNOWN;
		cell[C_STATIC] = megabytes(c->static_shared);
		cell[C_DYNAMIC] = megabytes(c->dynamic_shared);
	}
	cell[C_NAME] = TEXT(model_string(l->m, model_name(l->m, l->name[at->row], NAME_DEMANGLED)));
}

static const char *copy_name(struct gpu_listing *l, unsigned kind)
{
	const char *words = memcpy_words(kind);

	if (!words)
		return "[CUDA memcpy]";
	if (!l->copies_named[kind])
		l->copies_named[kind] = table_keep(l->t, "[CUDA memcpy %s]", words);
	return l->copies_named[kind];
}

static void put_copy(struct gpu_listing *l, struct cell *cell, const struct timed *at)
{
	put_common(l, cell, &l->copies, at);
	put_bytes(cell, l->bytes[at->row], at->time ? l->copies.duration[at->row] : 0);
	cell[C_SOURCE] = words(l->t, memory_words(l->source[at->row]), l->source[at->row]);
	cell[C_TARGET] = words(l->t, memory_words(l->target[at->row]), l->target[at->row]);
	cell[C_NAME] = TEXT(copy_name(l, l->kind[at->row]));
}

static void put_set(struct gpu_listing *l, struct cell *cell, const struct timed *at)
{
	put_common(l, cell, &l->sets, at);
	put_bytes(cell, l->set_bytes[at->row], at->time ? l->sets.duration[at->row] : 0);
	cell[C_SOURCE] = words(l->t, memory_words(l->set_target[at->row]), l->set_target[at->row]);
	cell[C_NAME] = TEXT("[CUDA memset]");
}

static void put_whole_graph(struct gpu_listing *l, struct cell *cell, const struct timed *at)
{
	put_common(l, cell, &l->graphs, at);
	cell[C_NAME] = TEXT(table_keep(l->t, "[CUDA graph %u]", l->graph[at->row]));
}

/* Transfers of unified memory have no correlation id and no stream. */
static void put_unified(struct gpu_listing *l, struct cell *cell, const struct timed *at)
{
	uint32_t from = l->unified_from[at->row], to = l->unified_to[at->row];
	int64_t duration = l->unified_duration[at->row];
	bool timed = at->time && duration >= 0;

	l->untimed += !timed;
	cell[C_START] = timed ? NUMBER(time_sub(at->time, l->begin)) : UNKNOWN;
	cell[C_DURATION] = timed ? NUMBER(duration) : UNKNOWN;
	put_bytes(cell, l->unified_bytes[at->row], timed ? duration : 0);
	cell[C_SOURCE] = cell[C_TARGET] = TEXT("Managed");
	if (to != UINT32_MAX || from != UINT32_MAX)
		cell[C_DEVICE] = TEXT(device_name(l, l->unified_process[at->row], to != UINT32_MAX ? to : from));
	cell[C_NAME] = TEXT(table_keep(l->t, "[CUDA memcpy %s]", unified_words(l->unified_kind[at->row])));
}

static int run(struct model *m, struct table *t, const char *variant)
{
	struct gpu_listing l = { .m = m, .t = t, .begin = model_start(m) };
	struct timed *order;
	size_t n;

	(void)variant;
	order = order_all(&l, &n);
	if (!order)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct cell cell[N_CELLS] = { 0 };

		if (order[i].kind == ROW_kernel)
			put_kernel(&l, cell, &order[i]);
		else if (order[i].kind == ROW_memcpy)
			put_copy(&l, cell, &order[i]);
		else if (order[i].kind == ROW_memset)
			put_set(&l, cell, &order[i]);
		else if (order[i].kind == ROW_unified)
			put_unified(&l, cell, &order[i]);
		else
			put_whole_graph(&l, cell, &order[i]);
		table_row(t, cell);
	}
	free(order);
	if (!n)
		why_no_gpu(m, t, "kernels, copies or memory sets");
	else
		why_gaps(m, t);
	if (whole_graphs_note(m, t) < 0)
		return -1;
	if (l.untimed)
		table_note(t, "rows without a time, because CUPTI gave none: %llu; they are listed first",
			   (unsigned long long)l.untimed);
	return 0;
}

const struct report report_cuda_gpu_trace = {
	.name = "cuda_gpu_trace",
	.title = "CUDA GPU Trace",
	.help = "When did each kernel, copy, memory set and whole graph run?",
	.needs = NEED_GPU,
	COLUMNS(columns),
	.run = run,
};
